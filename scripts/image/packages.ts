// Fetches what the image takes from others: the packages of Debian and the program of Node, for either architecture.
// deploy/packages.lock.json lists the versions and checksums of a release.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../bootstrap.mjs";
import { DEBIAN_PACKAGES } from "./contents.ts";

export const ARCHITECTURES = ["amd64", "arm64"] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  /** SHA-256 of the package file, in hex. */
  readonly sha256: string;
}

export interface FetchedPackage extends DebianPackage {
  readonly file: string;
}

/** The contents of the lock file. */
interface Lock {
  readonly node: { readonly version: string; readonly integrity: Readonly<Record<Architecture, string>> };
  readonly debian: Readonly<Record<Architecture, readonly DebianPackage[]>>;
}

const LOCK_PATH = "deploy/packages.lock.json";
const CACHE = join(ROOT, "node_modules/.cache/fairway");
/** Names of architectures in the npm packages of Node. */
const NODE_ARCHITECTURES: Readonly<Record<Architecture, string>> = { amd64: "x64", arm64: "arm64" };
const REFRESH = "run `npm run release -- --pin`, test, and commit the file";

export const HOST_ARCHITECTURE: Architecture = process.arch === "arm64" ? "arm64" : "amd64";

/** Downloads the packages of an architecture with the sources and keys of this machine's apt, which checks signatures. */
export function fetchDebian(architecture: Architecture, folder: string): FetchedPackage[] {
  const [state, files] = [join(folder, "apt"), join(folder, "files")];
  for (const path of [join(state, "lists/partial"), join(state, "archives/partial"), files])
    mkdirSync(path, { recursive: true });
  const options = [
    `APT::Architecture=${architecture}`,
    `APT::Architectures::=${architecture}`,
    `Dir::State=${state}`,
    `Dir::Cache=${state}`,
    "Dir::State::status=/dev/null",
    "APT::Sandbox::User=root",
  ].flatMap((option) => ["-o", option]);
  const apt = (...words: string[]) =>
    execFileSync("apt-get", ["-qq", ...options, ...words], { cwd: files, stdio: ["ignore", "ignore", "pipe"] });
  try {
    apt("update");
    apt("download", ...DEBIAN_PACKAGES);
    // The licence texts of the compiler's libraries are in a package whose name has its version.
    apt("download", ...listBasePackages(files));
  } catch (error) {
    throw new Error(`the image needs Debian or Ubuntu with apt-get, and sources that have ${architecture}`, {
      cause: error,
    });
  }
  return globSync("*.deb", { cwd: files })
    .toSorted()
    .map((name) => describePackage(join(files, name)));
}

function listBasePackages(folder: string): string[] {
  const [library = ""] = globSync("libgcc-s1_*.deb", { cwd: folder });
  return readField(join(folder, library), "Depends").match(/gcc-\d+-base/g) ?? [];
}

function describePackage(file: string): FetchedPackage {
  const sha256 = createHash("sha256").update(readFileSync(file)).digest("hex");
  return { name: readField(file, "Package"), version: readField(file, "Version"), sha256, file };
}

function readField(file: string, field: string): string {
  return execFileSync("dpkg-deb", ["-f", file, field], { encoding: "utf8" }).trim();
}

/** Returns the folder of Node's npm package for an architecture, with `bin/node` and `LICENSE`. */
export function fetchNode(architecture: Architecture): string {
  const { version, integrity } = readNodeIntegrity(architecture);
  const folder = join(CACHE, `node-${version}-${architecture}`);
  if (existsSync(folder)) return folder;
  const work = `${folder}.${process.pid}`;
  mkdirSync(work, { recursive: true });
  execFileSync("npm", ["pack", "--silent", "--pack-destination", work, nodePackage(version, architecture)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [archive = ""] = globSync("*.tgz", { cwd: work });
  const found = `sha512-${createHash("sha512")
    .update(readFileSync(join(work, archive)))
    .digest("base64")}`;
  if (found !== integrity)
    throw new Error(`Node ${version} for ${architecture} is ${found}, not ${integrity} of ${LOCK_PATH}`);
  execFileSync("tar", ["-xzf", archive, "package/bin/node", "package/LICENSE"], { cwd: work });
  if (!existsSync(folder)) renameSync(join(work, "package"), folder);
  return folder;
}

function readNodeIntegrity(architecture: Architecture): { readonly version: string; readonly integrity: string } {
  const version = readNodeVersion();
  const { node } = readLock();
  if (node.version !== version)
    throw new Error(`package.json has Node ${version} and ${LOCK_PATH} ${node.version}: ${REFRESH}`);
  return { version, integrity: node.integrity[architecture] };
}

const nodePackage = (version: string, architecture: Architecture) =>
  `node-linux-${NODE_ARCHITECTURES[architecture]}@${version}`;

export function readNodeVersion(): string {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly dependencies: { readonly node: string };
  };
  return manifest.dependencies.node;
}

export function readLock(): Lock {
  return JSON.parse(readFileSync(join(ROOT, LOCK_PATH), "utf8")) as Lock;
}

/** Returns how packages differ from the lock file, one line each. */
export function compareWithLock(
  architecture: Architecture,
  found: readonly DebianPackage[],
  lock: Pick<Lock, "debian"> = readLock(),
): string[] {
  const listed = new Map(lock.debian[architecture].map((one) => [one.name, one]));
  const missing = [...listed.keys()].filter((name) => !found.some((one) => one.name === name));
  return [
    ...found.flatMap(({ name, version, sha256 }) => {
      const one = listed.get(name);
      if (!one) return [`${name} ${version} is not listed`];
      if (one.version !== version) return [`${name} is ${version}, listed is ${one.version}`];
      return one.sha256 === sha256 ? [] : [`${name} ${version} has another checksum than listed`];
    }),
    ...missing.map((name) => `${name} is listed and not offered`),
  ];
}

/** Throws if a release would contain other packages than the lock file lists. */
export function requireLocked(architecture: Architecture, found: readonly DebianPackage[]): void {
  const differences = compareWithLock(architecture, found);
  if (differences.length > 0) throw new Error(`${LOCK_PATH}, ${architecture}: ${differences.join("; ")}: ${REFRESH}`);
}

/** Writes the lock file from what Debian and npm offer now. Returns its path. */
export function writeLock(work: string): string {
  const version = readNodeVersion();
  const integrity = (architecture: Architecture) =>
    execFileSync("npm", ["view", nodePackage(version, architecture), "dist.integrity"], { encoding: "utf8" }).trim();
  const debian = (architecture: Architecture) =>
    fetchDebian(architecture, join(work, architecture)).map(({ file: _file, ...one }) => one);
  const perArchitecture = <T>(read: (architecture: Architecture) => T) =>
    Object.fromEntries(ARCHITECTURES.map((one) => [one, read(one)])) as Record<Architecture, T>;
  const lock: Lock = { node: { version, integrity: perArchitecture(integrity) }, debian: perArchitecture(debian) };
  writeFileSync(join(ROOT, LOCK_PATH), `${JSON.stringify(lock, undefined, 2)}\n`);
  return LOCK_PATH;
}
