// Joins the archives of several architectures to one OCI layout whose only image is an index of them, which registries
// answer with the right one: `image-index.ts FOLDER ARCHIVE...`.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main } from "../process.ts";

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly platform?: { readonly os: string; readonly architecture: string };
}

const INDEX = "application/vnd.oci.image.index.v1+json";

/** Fills `folder` and returns the digest of the index, under which a registry has the image. */
export function joinImages(folder: string, archives: readonly string[]): string {
  mkdirSync(folder, { recursive: true });
  const manifests = archives.map((archive) => unpackImage(folder, archive));
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests }));
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  writeFileSync(blobPath(folder, digest), bytes);
  const index = { schemaVersion: 2, mediaType: INDEX, manifests: [{ mediaType: INDEX, digest, size: bytes.length }] };
  writeFileSync(join(folder, "index.json"), JSON.stringify(index));
  return digest;
}

/** Copies the blobs of an archive into the layout. */
function unpackImage(folder: string, archive: string): Descriptor {
  const work = mkdtempSync(join(tmpdir(), "fairway-index-"));
  try {
    execFileSync("tar", ["-xf", archive, "-C", work, "index.json"]);
    execFileSync("tar", ["-xf", archive, "-C", folder, "blobs", "oci-layout"]);
    const { manifests } = readJson<{ readonly manifests: readonly [Descriptor] }>(join(work, "index.json"));
    const [{ mediaType, digest, size }] = manifests;
    const { config } = readJson<{ readonly config: Descriptor }>(blobPath(folder, digest));
    const { os, architecture } = readJson<{ readonly os: string; readonly architecture: string }>(
      blobPath(folder, config.digest),
    );
    return { mediaType, digest, size, platform: { os, architecture } };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const blobPath = (folder: string, digest: string) => join(folder, "blobs", digest.replace(":", "/"));
const readJson = <T>(file: string) => JSON.parse(readFileSync(file, "utf8")) as T;

if (import.meta.main) {
  const [folder = "", ...archives] = process.argv.slice(2);
  await main(() => {
    if (archives.length === 0) throw new Error("usage: image-index.ts FOLDER ARCHIVE...");
    console.log(joinImages(folder, archives));
    return Promise.resolve();
  });
}
