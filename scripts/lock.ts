// `npm run lock` after a change of packages: adds to package-lock.json what a registry mirror did not have, so that npm
// does not request it again. These are packages for other platforms; they are recognized by their names, and get a
// checksum only when they are installed on such a platform.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./bootstrap.mjs";

interface Entry {
  readonly version?: string;
  readonly cpu?: readonly string[];
  readonly os?: readonly string[];
  readonly libc?: readonly string[];
  readonly optional?: boolean;
  readonly dev?: boolean;
  readonly license?: string;
  readonly engines?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Packages = Readonly<Record<string, Entry>>;

interface Missing {
  readonly name: string;
  readonly version: string;
  /** The package that depends on it. */
  readonly parent: Entry;
}

const FILE = join(ROOT, "package-lock.json");
const PLATFORM =
  /(android|darwin|freebsd|linux|openharmony|win32)-(arm64|arm|x64|ia32|ppc64|riscv64|s390x)(?:-(gnu|musl))?/;

/** Returns optional packages that are required but missing in the lock file. */
export function missingPackages(packages: Packages): Missing[] {
  return Object.entries(packages).flatMap(([path, parent]) =>
    Object.entries(parent.optionalDependencies ?? {}).flatMap(([name, version]) =>
      isNamed(packages, path, name) ? [] : [{ name, version, parent }],
    ),
  );
}

/** Searches like Node: next to the package, then in every folder above it. */
function isNamed(packages: Packages, path: string, name: string): boolean {
  const parts = path.split("/node_modules/");
  const around = parts.map((_, at) => `${parts.slice(0, parts.length - at).join("/node_modules/")}/`);
  return [...around, ""].some((folder) => packages[`${folder}node_modules/${name}`] !== undefined);
}

export function buildEntry({ name, version, parent }: Missing): Entry {
  const [, os, cpu, abi] = PLATFORM.exec(name) ?? [];
  if (os === undefined || cpu === undefined || !/^\d+\.\d+\.\d+$/.test(version))
    throw new Error(`${name}@${version} is no package of a platform: install it where the registry has it`);
  return {
    version,
    cpu: [cpu],
    ...(parent.dev === true && { dev: true }),
    ...(os === "linux" && abi !== undefined && { libc: [abi === "gnu" ? "glibc" : "musl"] }),
    ...(parent.license !== undefined && { license: parent.license }),
    optional: true,
    os: [os],
    ...(parent.engines !== undefined && { engines: parent.engines }),
  };
}

if (import.meta.main) {
  const lock = JSON.parse(readFileSync(FILE, "utf8")) as { packages: Packages };
  const missing = missingPackages(lock.packages);
  const added = Object.fromEntries(missing.map((one) => [`node_modules/${one.name}`, buildEntry(one)]));
  const all = Object.entries({ ...lock.packages, ...added });
  lock.packages = Object.fromEntries(all.sort(([one], [other]) => one.localeCompare(other, "en")));
  writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`${missing.length} packages of other platforms named`);
}
