import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const BOOTSTRAP = join(import.meta.dirname, "bootstrap.mjs");
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairway-bootstrap-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a piece of script in a process of its own; returns its exit code or signal. */
function runScript(text: string): { pid: number; ended: Promise<number | string> } {
  const source = `import { withLock } from ${JSON.stringify(BOOTSTRAP)};\nimport { appendFileSync } from "node:fs";\n${text}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = new Promise<number | string>((resolve) =>
    child.once("exit", (code, signal) => resolve(code ?? signal ?? -1)),
  );
  return { pid: child.pid ?? 0, ended };
}

test("what is locked runs one after the other, in processes side by side", async () => {
  const log = join(folder, "order");
  await writeFile(log, "");
  const name = `test-${process.pid}-order`;
  const script = `await withLock("${name}", async () => {
    appendFileSync("${log}", "in ");
    await new Promise((resolve) => setTimeout(resolve, 100));
    appendFileSync("${log}", "out ");
  });`;
  await Promise.all([1, 2, 3].map(() => runScript(script).ended));
  expect(await readFile(log, "utf8")).toBe("in out in out in out ");
});

test("the lock of a process that was killed is taken over", async () => {
  const name = `test-${process.pid}-killed`;
  const dead = runScript(`await withLock("${name}", () => process.kill(process.pid, "SIGKILL"));`);
  expect(await dead.ended).toBe("SIGKILL");
  expect(await runScript(`await withLock("${name}", async () => {});`).ended).toBe(0);
});

describe("an installation that fails says the cure", () => {
  let checkout: string;
  beforeAll(async () => {
    checkout = join(folder, "a folder, ünusual");
    for (const path of ["package.json", "package-lock.json", "scripts/bootstrap.mjs", "scripts/start.mjs"])
      await cp(join(ROOT, path), join(checkout, path));
    for (const name of ["wire", "gateway", "console", "cli", "testkit"])
      await cp(join(ROOT, "packages", name, "package.json"), join(checkout, "packages", name, "package.json"));
  });

  /** Runs `npm start` of that checkout, with an empty npm cache. */
  function start(env: Readonly<Record<string, string>>, args: readonly string[] = []) {
    const { npm_execpath: _, ...inherited } = process.env;
    const cache = { npm_config_cache: join(folder, "npm-cache") };
    const child = spawn(process.execPath, [...args, join(checkout, "scripts/start.mjs")], {
      env: { ...inherited, ...cache, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += String(chunk)));
    const ended = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
    return { child, ended, output: () => output };
  }

  test("without a registry, in a folder with spaces", async () => {
    const { ended, output } = start({ npm_config_registry: "http://127.0.0.1:1" });
    expect(await ended, output()).toEqual([1, null]);
    expect(output()).toContain("cannot be reached, and npm's cache does not hold every package");
    expect(output()).toContain("npm config set registry URL");
  }, 180_000);

  test("under a Node that is too old", async () => {
    const old = `data:text/javascript,Object.defineProperty(process, "versions", { value: { node: "18.20.8" } })`;
    const { ended, output } = start({}, ["--import", old]);
    expect(await ended).toEqual([1, null]);
    expect(output()).toBe("this is Node.js 18.20.8: install 20 or newer (https://nodejs.org) and try again\n");
  }, 60_000);

  test("without npm", async () => {
    const { ended, output } = start({ PATH: folder });
    expect(await ended).toEqual([1, null]);
    expect(output()).toContain("Install npm, which comes with Node.js, then try again.");
  }, 60_000);

  test("and one that is stopped leaves no npm behind", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const asked = once(silent, "connection");
    const { child, ended, output } = start({
      npm_config_registry: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    });
    await asked;
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8")
      .trim()
      .split(" ")
      .map(Number);
    expect(children.length).toBe(1);
    child.kill("SIGTERM");
    expect(await ended).toEqual([null, "SIGTERM"]);
    expect(output()).toContain("Stopping: npm puts its work in order");
    for (const pid of children) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    silent.close();
  }, 60_000);

  test("where the pinned Node lacks a library of the machine, without installing again", async () => {
    const node = join(checkout, "node_modules/.bin/node");
    const said = "node: error while loading shared libraries: libatomic.so.1: cannot open shared object file";
    const { packages } = JSON.parse(await readFile(join(checkout, "package-lock.json"), "utf8")) as {
      packages: object;
    };
    await mkdir(join(checkout, "node_modules/.bin"), { recursive: true });
    await writeFile(node, `#!/bin/sh\necho "${said}" >&2\nexit 127\n`, { mode: 0o755 });
    await writeFile(join(checkout, "node_modules/.package-lock.json"), JSON.stringify({ packages }));
    const { ended, output } = start({ npm_config_registry: "http://127.0.0.1:1" });
    expect(await ended, output()).toEqual([1, null]);
    expect(output()).toContain(said);
    expect(output()).toContain("apt-get install libatomic1");
    expect(output()).not.toContain("Installing packages");
    await rm(join(checkout, "node_modules"), { recursive: true });
  }, 60_000);

  test("and one of npm ends with the shell between npm and it, which alone gets the signal", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const asked = once(silent, "connection");
    const { npm_execpath: _, ...inherited } = process.env;
    const shell = spawn("sh", ["-c", `"$NODE" scripts/start.mjs; :`], {
      cwd: checkout,
      env: {
        ...inherited,
        NODE: process.execPath,
        npm_lifecycle_event: "start",
        npm_config_cache: join(folder, "npm-cache"),
        npm_config_registry: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const closed = once(shell.stdout, "close");
    shell.stdout.resume();
    await asked;
    shell.kill("SIGTERM");
    // Every process with the pipe has ended.
    await closed;
    silent.close();
  }, 60_000);
});
