import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../bootstrap.mjs";

const DOCKERFILE = "deploy/Dockerfile";

/** Images that a Dockerfile starts from by a tag alone, which may be another image tomorrow. */
export function unpinnedImages(dockerfile: string): string[] {
  const stages = new Set<string>();
  const unpinned = new Set<string>();
  for (const [, image = "", stage] of dockerfile.matchAll(/^FROM(?: --\S+)* (\S+)(?: AS (\S+))?/gim)) {
    if (!stages.has(image) && image !== "scratch" && !/@sha256:[0-9a-f]{64}$/.test(image)) unpinned.add(image);
    if (stage !== undefined) stages.add(stage);
  }
  return [...unpinned];
}

/** Throws where the image of a release could not be built again. */
export function checkBaseImages(): void {
  const [image] = unpinnedImages(readFileSync(join(ROOT, DOCKERFILE), "utf8"));
  if (image === undefined) return;
  throw new Error(
    `${DOCKERFILE}: FROM ${image} has no digest, so the image of this release could not be built again. ` +
      `Print it with: docker buildx imagetools inspect ${image} --format '{{.Manifest.Digest}}'\n` +
      `and write FROM ${image}@sha256:... in each stage that starts from it.`,
  );
}
