// The files of `npm run release`, used like a stranger would: installed by npm, started without Node, rendered by Helm.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { unpackHelm } from "@fairway/testkit/helm";
import { OLDEST_NODE } from "../../packages/cli/src/core/version.ts";
import { releaseVersion } from "./version.ts";
import { writeRelease } from "./write.ts";

const folder = mkdtempSync(join(tmpdir(), "fairway-release-"));
const version = releaseVersion();
const architecture = process.arch === "x64" ? "amd64" : process.arch;
const executable = `fairway-${process.platform}-${process.arch}`;
let files: string[] = [];

beforeAll(async () => {
  files = await writeRelease({
    folder: join(folder, "release"),
    downloads: "https://downloads.test/v1",
    homepage: "https://fairway.test",
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const path = (name: string) => join(folder, "release", name);

describe("the release", () => {
  it("has an image with its parts, a package, an executable, a chart, a formula, notes and checksums", () => {
    expect(files.toSorted()).toEqual(
      [
        "SHA256SUMS",
        `fairway-${version}.tgz`,
        `fairway-cli-${version}.tgz`,
        `fairway-gateway-${version}-${architecture}.cdx.json`,
        `fairway-gateway-${version}-${architecture}.tar`,
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
    expect(statSync(path(`fairway-cli-${version}.tgz`)).size).toBeLessThan(1e6);
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

  it("has an executable that needs no Node", () => {
    const run = (...args: string[]) => spawnSync(path(executable), args, { env: { HOME: folder }, encoding: "utf8" });
    expect(run("--version").stdout).toBe(`${version}\n`);
    expect(run("channel", "list").stderr).toContain("you are not signed in");
    expect(run("completion", "bash").status).toBe(0);
  });

  it("has a chart that Helm reads and that leaves its tests out", () => {
    const helm = unpackHelm();
    try {
      const chart = path(`fairway-${version}.tgz`);
      const shown = execFileSync(helm.path, ["show", "chart", chart], { encoding: "utf8" });
      expect(shown).toContain(`version: ${version}`);
      expect(execFileSync("tar", ["-tzf", chart], { encoding: "utf8" })).not.toContain("/tests/helm.ts");
    } finally {
      helm.remove();
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
