import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../bootstrap.mjs";
import { digestInRegistry } from "./registry.ts";

const DOCKERFILE = "deploy/Dockerfile";

const DIGEST = /@sha256:[0-9a-f]{64}$/;

/** Returns images that a Dockerfile references only by a tag, which may be another image tomorrow. */
export function unpinnedImages(dockerfile: string): string[] {
  return baseImages(dockerfile).filter((image) => !DIGEST.test(image));
}

/** Returns the Dockerfile with today's digest of each tag, replacing older digests. */
export async function withDigests(dockerfile: string): Promise<string> {
  let pinned = dockerfile;
  for (const image of baseImages(dockerfile)) {
    const tag = image.replace(DIGEST, "");
    const digest = await digestInRegistry(tag);
    pinned = pinned.replaceAll(
      new RegExp(`^(FROM(?: --\\S+)* )${RegExp.escape(image)}(?=\\s|$)`, "gim"),
      `$1${tag}@${digest}`,
    );
  }
  return pinned;
}

/** Pins `deploy/Dockerfile`; returns its base images. */
export async function pinBaseImages(): Promise<string[]> {
  const file = join(ROOT, DOCKERFILE);
  const pinned = await withDigests(readFileSync(file, "utf8"));
  writeFileSync(file, pinned);
  return baseImages(pinned);
}

/** Returns each base image once, without the stages of the file itself. */
function baseImages(dockerfile: string): string[] {
  const stages = new Set<string>();
  const images = new Set<string>();
  for (const [, image = "", stage] of dockerfile.matchAll(/^FROM(?: --\S+)* (\S+)(?: AS (\S+))?/gim)) {
    if (!stages.has(image) && image !== "scratch") images.add(image);
    if (stage !== undefined) stages.add(stage);
  }
  return [...images];
}

/** Throws if the image of a release would not be reproducible. */
export function checkBaseImages(): void {
  const [image] = unpinnedImages(readFileSync(join(ROOT, DOCKERFILE), "utf8"));
  if (image === undefined) return;
  throw new Error(
    `${DOCKERFILE}: FROM ${image} has no digest, so the image of this release could not be built again. ` +
      `Run npm run release -- --pin where the registry can be reached, and commit the file.\n` +
      `By hand: docker buildx imagetools inspect ${image} --format '{{.Manifest.Digest}}' prints it; ` +
      `write FROM ${image}@sha256:... in each stage that starts from it.`,
  );
}
