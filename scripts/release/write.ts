// Writes everything that a release publishes to one folder; the workflow and a person get the same files.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ROOT } from "../bootstrap.mjs";
import { build } from "../build.ts";
import { writeImages } from "../image/image.ts";
import { ARCHITECTURES } from "../image/packages.ts";
import { CHARTS, writeChart, type ChartSettings } from "./chart.ts";
import { writeExecutable } from "./executable.ts";
import { homebrewFormula } from "./formula.ts";
import { writeGatewayPackage } from "./gateway-package.ts";
import { writeNpmPackage } from "./npm-package.ts";
import { readNotes, releaseVersion } from "./version.ts";

interface ReleaseSettings extends ChartSettings {
  readonly folder: string;
  /** URL under which the files can be downloaded later, without the last slash. */
  readonly downloads: string;
  /** Address of the project, also that of its repository and in the charts. */
  readonly homepage: string;
  /** Refuses packages of Debian that `deploy/packages.lock.json` does not list. */
  readonly isLocked: boolean;
}

/** Returns the names of the files; the checksum file is the last. */
export async function writeRelease(settings: ReleaseSettings): Promise<string[]> {
  const { folder, downloads, homepage, isLocked } = settings;
  const version = releaseVersion();
  const notes = readNotes(version);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await build([], true);
  await writeImages(folder, { architectures: ARCHITECTURES, isLocked });
  await writeNpmPackage(folder, homepage);
  await writeGatewayPackage(folder, homepage);
  const executable = await writeExecutable(folder);
  for (const name of CHARTS) await writeChart(folder, name, settings);
  const checksums = { [basename(executable)]: sha256(executable) };
  writeFileSync(join(folder, "fairway.rb"), homebrewFormula({ version, downloads, homepage, checksums }));
  writeFileSync(join(folder, "notes.md"), notes);
  const files = readdirSync(folder).toSorted();
  const lines = files.map((file) => `${sha256(join(folder, file))}  ${file}\n`);
  writeFileSync(join(folder, "SHA256SUMS"), lines.join(""));
  return [...files, "SHA256SUMS"];
}

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

export const RELEASE_FOLDER = join(ROOT, "dist/release");
