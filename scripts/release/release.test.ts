// The files of `npm run release`, used like a stranger would: installed by npm, started without Node, rendered by Helm.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { findHelm } from "@fairway/testkit/helm";
import { OLDEST_NODE } from "../../packages/cli/src/core/version.ts";
import { ARCHITECTURES } from "../image/packages.ts";
import { OLDEST_GATEWAY_NODE, readLauncherNode } from "./gateway-package.ts";
import { joinImages } from "./image-index.ts";
import { releaseVersion } from "./version.ts";
import { writeRelease } from "./write.ts";

const folder = mkdtempSync(join(tmpdir(), "fairway-release-"));
const version = releaseVersion();
const executable = `fairway-${process.platform}-${process.arch}`;
let files: string[] = [];

beforeAll(async () => {
  files = await writeRelease({
    folder: join(folder, "release"),
    downloads: "https://downloads.test/v1",
    homepage: "https://fairway.test/models",
    registry: "registry.test/models",
    // Debian publishes repairs between two releases.
    isLocked: false,
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts the installed gateway on a free port; `ask` sends the call that it prints. */
async function startPackage(home: string): Promise<{ url: string; ask(): Promise<string>; stop(): void }> {
  const program = join(home, "node_modules/@fairway/gateway/fairway-gateway.mjs");
  const env = { ...process.env, FAIRWAY_PORT: "0", FAIRWAY_ADMIN_PORT: "off", FAIRWAY_DATA_DIR: join(home, "data") };
  const child = spawn(process.execPath, [program], { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += String(chunk)));
  const command = await vi.waitUntil(
    () => /curl -N (?<url>\S+)\/v1\/\S+ -H "Authorization: Bearer (?<key>sk-\w+)"/.exec(output)?.groups,
    { timeout: 60_000 },
  );
  const { url = "", key = "" } = command;
  const body = JSON.stringify({ model: "fairway-demo", stream: true, messages: [{ role: "user", content: "Hello" }] });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const ask = async () => (await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body })).text();
  return { url, ask, stop: () => void child.kill() };
}

const path = (name: string) => join(folder, "release", name);

describe("the release", () => {
  it("has an image of each architecture with its parts, packages, an executable, charts, a formula, notes and checksums", () => {
    expect(files.toSorted()).toEqual(
      [
        "SHA256SUMS",
        `fairway-${version}.tgz`,
        `fairway-crds-${version}.tgz`,
        `fairway-cli-${version}.tgz`,
        ...ARCHITECTURES.flatMap((one) => [
          `fairway-gateway-${version}-${one}.cdx.json`,
          `fairway-gateway-${version}-${one}.tar`,
        ]),
        `fairway-gateway-${version}.tgz`,
        executable,
        "fairway.rb",
        "notes.md",
      ].toSorted(),
    );
  });

  it("has a right checksum of every file", () => {
    const check = spawnSync("sha256sum", ["--check", "SHA256SUMS"], { cwd: path("."), encoding: "utf8" });
    expect(check.status, check.stdout + check.stderr).toBe(0);
    expect(check.stdout.trim().split("\n")).toHaveLength(files.length - 1);
  });

  it("installs the command line from the package, with no other package", () => {
    const prefix = join(folder, "prefix");
    execFileSync("npm", ["install", "--silent", "--offline", "--prefix", prefix, path(`fairway-cli-${version}.tgz`)]);
    const run = spawnSync("npx", ["--prefix", prefix, "fairway", "--version"], { encoding: "utf8", cwd: prefix });
    expect(run.stdout, run.stderr).toBe(`${version}\n`);
    const packages = execFileSync("npm", ["ls", "--prefix", prefix, "--all", "--parseable"], { encoding: "utf8" });
    expect(packages.trim().split("\n")).toEqual([prefix, join(prefix, "node_modules/@fairway/cli")]);
    expect(readFileSync(join(prefix, "node_modules/@fairway/cli/man/fairway.1"), "utf8")).toContain(".SH COMMANDS");
    expect(statSync(path(`fairway-cli-${version}.tgz`)).size).toBeLessThan(1.1e6);
  });

  it("loads every part of the command line on the oldest Node that it names, without an error", () => {
    const oldest = join(folder, "oldest");
    execFileSync("npm", ["install", "--silent", "--no-audit", "--prefix", oldest, `node@${OLDEST_NODE}`]);
    const node = join(oldest, "node_modules/node/bin/node");
    expect(execFileSync(node, ["--version"], { encoding: "utf8" })).toBe(`v${OLDEST_NODE}\n`);
    const dist = join(folder, "prefix/node_modules/@fairway/cli/dist");
    const parts = readdirSync(dist).filter(
      (name) => name.endsWith(".mjs") && !["fairway.mjs", "main.mjs"].includes(name),
    );
    expect(parts.length).toBeGreaterThan(20);
    const loadAll = `await Promise.all(${JSON.stringify(parts)}.map((name) => import("${dist}/" + name)))`;
    const loaded = spawnSync(node, ["--input-type=module", "--eval", loadAll], { encoding: "utf8" });
    expect(loaded.status, loaded.stderr).toBe(0);
  });

  it("installs the gateway from the package, which answers a call and shows its console", async () => {
    const home = join(folder, "gateway");
    execFileSync("npm", ["install", "--silent", "--offline", "--prefix", home, path(`fairway-gateway-${version}.tgz`)]);
    const started = await startPackage(home);
    try {
      expect(await started.ask()).toContain("data: [DONE]");
      const page = await fetch(`${started.url}/`, { headers: { accept: "text/html" } });
      expect(await page.text()).toContain("<!doctype html>");
    } finally {
      started.stop();
    }
    expect(statSync(path(`fairway-gateway-${version}.tgz`)).size).toBeLessThan(15e6);
  });

  it("says which Node the gateway needs, to an older one", () => {
    expect(readLauncherNode()).toBe(OLDEST_GATEWAY_NODE);
    const node = join(folder, "oldest/node_modules/node/bin/node");
    const program = join(folder, "gateway/node_modules/@fairway/gateway/fairway-gateway.mjs");
    const { status, stderr } = spawnSync(node, [program], { encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr).toContain(`the gateway needs ${OLDEST_GATEWAY_NODE} or newer`);
  });

  it("has an executable that needs no Node", () => {
    const run = (...args: string[]) => spawnSync(path(executable), args, { env: { HOME: folder }, encoding: "utf8" });
    expect(run("--version").stdout).toBe(`${version}\n`);
    expect(run("channel", "list").stderr).toContain("you are not signed in");
    expect(run("completion", "bash").status).toBe(0);
  });

  it("has a chart that Helm reads and that leaves its tests out", () => {
    const chart = path(`fairway-${version}.tgz`);
    const shown = execFileSync(findHelm(), ["show", "chart", chart], { encoding: "utf8" });
    expect(shown).toContain(`version: ${version}`);
    expect(execFileSync("tar", ["-tzf", chart], { encoding: "utf8" })).not.toContain("/tests/helm.ts");
    const crds = execFileSync(findHelm(), ["template", path(`fairway-crds-${version}.tgz`)], { encoding: "utf8" });
    expect(crds).toContain("kind: CustomResourceDefinition");
  });

  it("has a chart whose image is the one that is published with it", () => {
    const args = ["template", "fairway", path(`fairway-${version}.tgz`), "--show-only", "templates/deployment.yaml"];
    const secrets = [
      "--set",
      "secrets.generateWithoutCluster=true,database.type=sqlite,replicaCount=1,redis.enabled=false",
    ];
    const shown = execFileSync(findHelm(), [...args, ...secrets], { encoding: "utf8" });
    expect(shown).toContain(`image: registry.test/models/gateway:${version}`);
  });

  it("has an image that a registry can answer with for either architecture", () => {
    const layout = join(folder, "layout");
    const archives = ARCHITECTURES.map((one) => path(`fairway-gateway-${version}-${one}.tar`));
    const blob = <T>(digest: string) =>
      JSON.parse(readFileSync(join(layout, "blobs", digest.replace(":", "/")), "utf8")) as T;
    const { manifests } = blob<{ manifests: { digest: string; platform: object }[] }>(joinImages(layout, archives));
    expect(manifests.map(({ platform }) => platform)).toEqual(
      ARCHITECTURES.map((one) => ({ os: "linux", architecture: one })),
    );
    for (const [index, { digest }] of manifests.entries()) {
      const { metadata } = JSON.parse(readFileSync(archives[index]?.replace(/tar$/, "cdx.json") ?? "", "utf8")) as {
        metadata: { component: { version: string } };
      };
      expect(metadata.component.version).toBe(digest);
      const { layers } = blob<{ layers: { digest: string }[] }>(digest);
      for (const layer of layers)
        expect(statSync(join(layout, "blobs", layer.digest.replace(":", "/"))).size).toBeGreaterThan(0);
    }
  });

  it("has the licences of what its packages contain, and says where the project is", () => {
    for (const name of ["cli", "gateway"]) {
      const home = join(folder, name === "cli" ? "prefix" : "gateway", "node_modules/@fairway", name);
      expect(JSON.parse(readFileSync(join(home, "package.json"), "utf8"))).toMatchObject({
        homepage: "https://fairway.test/models",
        repository: { type: "git", url: "git+https://fairway.test/models.git" },
      });
      const licences = readFileSync(join(home, "LICENSES.npm"), "utf8");
      expect(licences).toMatch(/^zod \d.* \(MIT\)$/m);
      expect(licences).not.toMatch(/^vitest /m);
    }
  });

  it("has a formula with the checksum of the executable", () => {
    const sha256 = createHash("sha256")
      .update(readFileSync(path(executable)))
      .digest("hex");
    const formula = readFileSync(path("fairway.rb"), "utf8");
    expect(formula).toContain(`url "https://downloads.test/v1/${executable}"`);
    expect(formula).toContain(`sha256 "${sha256}"`);
  });
});

describe("npm run release", () => {
  const release = (...args: string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, "../release.ts"), ...args], {
      encoding: "utf8",
    });

  it("refuses a tag that is not the version of the checkout", () => {
    const { status, stderr } = release("--tag", "v987.0.0");
    expect(status).toBe(1);
    expect(stderr).toContain(`The tag v987.0.0 is not v${version}`);
  });

  it("refuses a version that the changelog does not describe, and changes nothing", () => {
    expect(release("987.0.0").stderr).toContain('CHANGELOG.md has no heading "## 987.0.0"');
    expect(releaseVersion()).toBe(version);
  });
});
