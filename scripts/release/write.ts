// Writes everything that a release publishes to one folder; the workflow and a person get the same files.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { findHelm } from "@fairway/testkit/helm";
import { ROOT } from "../bootstrap.mjs";
import { build } from "../build.ts";
import { writeImages } from "../image/image.ts";
import { ARCHITECTURES } from "../image/packages.ts";
import { run } from "../process.ts";
import { writeExecutable } from "./executable.ts";
import { homebrewFormula } from "./formula.ts";
import { writeGatewayPackage } from "./gateway-package.ts";
import { writeNpmPackage } from "./npm-package.ts";
import { readNotes, releaseVersion } from "./version.ts";

const CHARTS = ["fairway", "fairway-crds"] as const;

interface ReleaseSettings {
  readonly folder: string;
  /** URL under which the files can be downloaded later, without the last slash. */
  readonly downloads: string;
  /** Address of the project, also that of its repository. */
  readonly homepage: string;
  /** Host and folder that the image is published to; undefined = the chart names no registry. */
  readonly registry: string | undefined;
  /** Refuses packages of Debian that `deploy/packages.lock.json` does not list. */
  readonly isLocked: boolean;
}

/** Returns the names of the files; the checksum file is the last. */
export async function writeRelease(settings: ReleaseSettings): Promise<string[]> {
  const { folder, downloads, homepage, registry, isLocked } = settings;
  const version = releaseVersion();
  const notes = readNotes(version);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await build([], true);
  await writeImages(folder, { architectures: ARCHITECTURES, isLocked });
  await writeNpmPackage(folder, homepage);
  await writeGatewayPackage(folder, homepage);
  const executable = await writeExecutable(folder);
  for (const name of CHARTS) await writeChart(folder, name, registry);
  const checksums = { [basename(executable)]: sha256(executable) };
  writeFileSync(join(folder, "fairway.rb"), homebrewFormula({ version, downloads, homepage, checksums }));
  writeFileSync(join(folder, "notes.md"), notes);
  const files = readdirSync(folder).toSorted();
  const lines = files.map((file) => `${sha256(join(folder, file))}  ${file}\n`);
  writeFileSync(join(folder, "SHA256SUMS"), lines.join(""));
  return [...files, "SHA256SUMS"];
}

/** Packs a chart; one that is published names the image that is published with it. */
async function writeChart(folder: string, name: (typeof CHARTS)[number], registry: string | undefined): Promise<void> {
  const stage = mkdtempSync(join(tmpdir(), "fairway-chart-"));
  try {
    const chart = join(stage, name);
    cpSync(join(ROOT, "charts", name), chart, { recursive: true });
    if (registry !== undefined && name === "fairway") {
      const values = join(chart, "values.yaml");
      writeFileSync(values, nameImage(readFileSync(values, "utf8"), registry));
    }
    const { code, output } = await run(findHelm(), ["package", chart, "--destination", folder]);
    if (code !== 0) throw new Error(output);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function nameImage(values: string, registry: string): string {
  const [host = "", ...path] = registry.split("/");
  const named = values
    .replace(/^ {2}registry: ""$/m, `  registry: ${host}`)
    .replace(/^ {2}repository: fairway\/gateway$/m, `  repository: ${[...path, "gateway"].join("/")}`);
  if (!named.includes(`registry: ${host}\n`) || named === values)
    throw new Error("values.yaml has no image.registry to set");
  return named;
}

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

export const RELEASE_FOLDER = join(ROOT, "dist/release");
