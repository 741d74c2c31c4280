// The lowest layer: the few Debian packages that Node needs, unpacked without their documentation.
import { execFileSync } from "node:child_process";
import { chmodSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEBIAN_PACKAGES, USER_ID } from "./contents.ts";
import type { Exceptions } from "./tar.ts";

export const BASE_EXCEPTIONS: Exceptions = {
  tmp: { mode: 0o1777, owner: 0 },
  // A new volume inherits the owner of the folder that it covers.
  data: { mode: 0o750, owner: USER_ID },
};

/** Fills `folder` and returns the version of each package. */
export function fillBase(folder: string, downloads: string): Record<string, string> {
  mkdirSync(downloads, { recursive: true });
  download(downloads);
  for (const name of ["bin", "sbin", "lib", "lib64"]) {
    mkdirSync(join(folder, "usr", name), { recursive: true });
    symlinkSync(`usr/${name}`, join(folder, name));
  }
  const versions: Record<string, string> = {};
  for (const file of globSync("*.deb", { cwd: downloads }).toSorted()) {
    const path = join(downloads, file);
    const [name = "", version = ""] = execFileSync("dpkg-deb", ["-W", "--showformat=${Package} ${Version}", path], {
      encoding: "utf8",
    }).split(" ");
    versions[name] = version;
    const files = execFileSync("dpkg-deb", ["--fsys-tarfile", path], { maxBuffer: 2 ** 28 });
    execFileSync("tar", ["-x", "--keep-directory-symlink", "--no-same-owner", "-C", folder], { input: files });
  }
  finish(folder);
  return versions;
}

function download(folder: string): void {
  try {
    execFileSync("apt-get", ["download", "-qq", ...DEBIAN_PACKAGES], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
  } catch (error) {
    throw new Error("the image needs Debian or Ubuntu with apt-get and its package lists (apt-get update)", {
      cause: error,
    });
  }
}

function finish(folder: string): void {
  const certificates = globSync("usr/share/ca-certificates/**/*.crt", { cwd: folder }).toSorted();
  mkdirSync(join(folder, "etc/ssl/certs"), { recursive: true });
  writeFileSync(
    join(folder, "etc/ssl/certs/ca-certificates.crt"),
    certificates.map((file) => readFileSync(join(folder, file), "utf8")).join(""),
  );
  const unused = [
    "usr/share/{doc,man,locale,lintian,bug,menu,debianutils}",
    "usr/share/ca-certificates",
    "usr/lib/*/gconv",
  ];
  for (const path of globSync(unused, { cwd: folder })) rmSync(join(folder, path), { recursive: true });
  writeFileSync(
    join(folder, "etc/passwd"),
    `root:x:0:0:root:/root:/bin/false\nfairway:x:${USER_ID}:${USER_ID}::/data:/bin/false\n`,
  );
  writeFileSync(join(folder, "etc/group"), `root:x:0:\nfairway:x:${USER_ID}:\n`);
  for (const name of ["tmp", "data", "etc"]) mkdirSync(join(folder, name), { recursive: true });
  chmodSync(join(folder, "data"), 0o750);
}
