// Writes everything that a release publishes to one folder; the workflow and a person get the same files.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { findHelm } from "@fairway/testkit/helm";
import { ROOT } from "../bootstrap.mjs";
import { build } from "../build.ts";
import { writeImage } from "../image/image.ts";
import { run } from "../process.ts";
import { writeExecutable } from "./executable.ts";
import { homebrewFormula } from "./formula.ts";
import { writeGatewayPackage } from "./gateway-package.ts";
import { writeNpmPackage } from "./npm-package.ts";
import { readNotes, releaseVersion } from "./version.ts";

interface ReleaseSettings {
  readonly folder: string;
  /** URL under which the files can be downloaded later, without the last slash. */
  readonly downloads: string;
  readonly homepage: string;
}

/** Returns the names of the files; the checksum file is the last. */
export async function writeRelease({ folder, downloads, homepage }: ReleaseSettings): Promise<string[]> {
  const version = releaseVersion();
  const notes = readNotes(version);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await build([], true);
  writeImage(folder);
  await writeNpmPackage(folder);
  await writeGatewayPackage(folder);
  const executable = await writeExecutable(folder);
  await writeChart(folder);
  const checksums = { [basename(executable)]: sha256(executable) };
  writeFileSync(join(folder, "fairway.rb"), homebrewFormula({ version, downloads, homepage, checksums }));
  writeFileSync(join(folder, "notes.md"), notes);
  const files = readdirSync(folder).toSorted();
  const lines = files.map((file) => `${sha256(join(folder, file))}  ${file}\n`);
  writeFileSync(join(folder, "SHA256SUMS"), lines.join(""));
  return [...files, "SHA256SUMS"];
}

async function writeChart(folder: string): Promise<void> {
  const { code, output } = await run(findHelm(), ["package", join(ROOT, "charts/fairway"), "--destination", folder]);
  if (code !== 0) throw new Error(output);
}

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

export const RELEASE_FOLDER = join(ROOT, "dist/release");
