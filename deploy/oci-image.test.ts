// The image that `npm run build -- --image` writes, unpacked and started as its user.
import { freePort } from "@fairway/testkit";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SETTINGS } from "../scripts/image/contents.ts";
import { writeImage } from "../scripts/image/image.ts";

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

let written: ReturnType<typeof writeImage>;
let config: Config;
const blobPath = ({ digest }: Blob) => join(archive, "blobs", digest.replace(":", "/"));
const read = <T>(path: string) => JSON.parse(readFileSync(path, "utf8")) as T;

beforeAll(() => {
  written = writeImage(join(work, "first"));
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
  it("has the same digest when it is built again", () => {
    const again = writeImage(join(work, "second"));
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

  it("has a list of its parts with the packages of npm and Debian", () => {
    const { components } = read<{ components: { purl: string }[] }>(written.parts);
    const parts = components.map(({ purl }) => purl.replace(/@[^@]*$/, ""));
    for (const part of [
      "pkg:npm/node",
      "pkg:npm/express",
      "pkg:npm/ink",
      "pkg:npm/%40ark-ui/react",
      "pkg:deb/debian/libc6",
    ])
      expect(parts).toContain(part);
    for (const part of ["pkg:npm/vite", "pkg:npm/playwright", "pkg:npm/vitest"]) expect(parts).not.toContain(part);
  });
});

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
