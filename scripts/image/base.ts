// The lowest layer: the few Debian packages that Node needs, without their documentation, with their licences and what
// scanners read: `os-release` and a description of each package.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { USER_ID } from "./contents.ts";
import type { FetchedPackage } from "./packages.ts";
import type { Exceptions } from "./tar.ts";

export const BASE_EXCEPTIONS: Exceptions = {
  tmp: { mode: 0o1777, owner: 0 },
  // A new volume inherits the owner of the folder that it covers.
  data: { mode: 0o750, owner: USER_ID },
};

/** The package that says which system this is; the rest of it is for a machine that people sign in to. */
const SYSTEM_PACKAGE = "base-files";
const SYSTEM_FILES = [
  "./etc/os-release",
  "./etc/debian_version",
  "./usr/lib/os-release",
  "./usr/share/common-licenses",
  "./usr/share/doc/base-files/copyright",
];
/** Scanners read images without a package manager here: one file for each package. */
const DESCRIPTIONS = "var/lib/dpkg/status.d";

/** Unpacks the packages into `folder`. */
export function fillBase(folder: string, packages: readonly FetchedPackage[]): void {
  for (const name of ["bin", "sbin", "lib", "lib64"]) {
    mkdirSync(join(folder, "usr", name), { recursive: true });
    symlinkSync(`usr/${name}`, join(folder, name));
  }
  mkdirSync(join(folder, DESCRIPTIONS), { recursive: true });
  for (const { name, file } of packages) {
    const files = execFileSync("dpkg-deb", ["--fsys-tarfile", file], { maxBuffer: 2 ** 28 });
    const only = name === SYSTEM_PACKAGE ? SYSTEM_FILES : [];
    execFileSync("tar", ["-x", "--keep-directory-symlink", "--no-same-owner", "-C", folder, ...only], { input: files });
    writeFileSync(join(folder, DESCRIPTIONS, name), execFileSync("dpkg-deb", ["-f", file]));
  }
  finish(folder);
}

function finish(folder: string): void {
  const certificates = globSync("usr/share/ca-certificates/**/*.crt", { cwd: folder }).toSorted();
  mkdirSync(join(folder, "etc/ssl/certs"), { recursive: true });
  writeFileSync(
    join(folder, "etc/ssl/certs/ca-certificates.crt"),
    certificates.map((file) => readFileSync(join(folder, file), "utf8")).join(""),
  );
  const unused = [
    "usr/share/{man,locale,lintian,bug,menu,debianutils}",
    "usr/share/ca-certificates",
    "usr/lib/*/gconv",
  ];
  for (const path of globSync(unused, { cwd: folder })) rmSync(join(folder, path), { recursive: true });
  leaveOnlyLicences(join(folder, "usr/share/doc"));
  writeFileSync(
    join(folder, "etc/passwd"),
    `root:x:0:0:root:/root:/bin/false\nfairway:x:${USER_ID}:${USER_ID}::/data:/bin/false\n`,
  );
  writeFileSync(join(folder, "etc/group"), `root:x:0:\nfairway:x:${USER_ID}:\n`);
  for (const name of ["tmp", "data", "etc"]) mkdirSync(join(folder, name), { recursive: true });
  chmodSync(join(folder, "data"), 0o750);
}

function leaveOnlyLicences(folder: string): void {
  if (!existsSync(folder)) return;
  for (const one of readdirSync(folder, { withFileTypes: true })) {
    // A link leads to the package whose licence it shares.
    if (!one.isDirectory()) continue;
    for (const name of readdirSync(join(folder, one.name)))
      if (name !== "copyright") rmSync(join(folder, one.name, name), { recursive: true });
  }
}
