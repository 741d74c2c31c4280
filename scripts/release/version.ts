// One version for everything: packages, chart, programs, and a heading of the changelog.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../bootstrap.mjs";

/** Address of the project until it is published somewhere; a release names its own. */
export const HOMEPAGE = "https://example.com/fairway";

const VERSION = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;

interface VersionedFile {
  readonly path: string;
  /** Matches every occurrence of the version, with the text before it as the first group. */
  readonly places: RegExp;
}

const FILES: readonly VersionedFile[] = [
  ...["package.json", ...globSync("packages/*/package.json", { cwd: ROOT })].map((path) => ({
    path,
    places: /("version": "|"@fairway\/\w+": ")([^"]+)/g,
  })),
  {
    path: "package-lock.json",
    places:
      /("name": "(?:fairway-workspace|@fairway\/\w+)",\s+"version": "|"@fairway\/\w+": "|^ {2}"version": ")(\d[^"]*)/gm,
  },
  ...globSync("charts/*/Chart.yaml", { cwd: ROOT }).map((path) => ({
    path,
    places: /(^version: |^appVersion: ")([^"\n]+)/gm,
  })),
  // Commands on pages name files and images of the current version.
  ...globSync("docs/**/*.md", { cwd: ROOT }).map((path) => ({
    path,
    places: /(fairway\/gateway:|fairway-gateway-|Fairway |name: fairway, version: )(\d+\.\d+\.\d+)/g,
  })),
  { path: "packages/gateway/src/version.ts", places: /(VERSION = ")([^"]+)/g },
  { path: "packages/cli/src/core/version.ts", places: /(VERSION = ")([^"]+)/g },
];

/** Returns the version of the checkout. */
export function releaseVersion(): string {
  return (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly version: string }).version;
}

/** Returns places whose version differs from that of the checkout, as `path: version`. */
export function otherVersions(): string[] {
  const version = releaseVersion();
  return FILES.flatMap(({ path, places }) =>
    [...readFileSync(join(ROOT, path), "utf8").matchAll(places)]
      .filter(([, , found]) => found !== version)
      .map(([, , found]) => `${path}: ${found}`),
  );
}

export function setVersion(version: string): void {
  if (!VERSION.test(version)) throw new Error(`"${version}" is no version: write it like 1.2.3 or 1.2.3-rc.1`);
  readNotes(version);
  for (const { path, places } of FILES) {
    const file = join(ROOT, path);
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(places, `$1${version}`));
  }
}

/** Returns the section of the changelog for a version, without its heading. */
export function readNotes(version: string): string {
  const changelog = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  const notes = changelog.split(/^## /m).find((part) => part.startsWith(`${version}\n`));
  if (!notes) throw new Error(`CHANGELOG.md has no heading "## ${version}": write what the release brings first`);
  return notes.slice(version.length).trimStart();
}
