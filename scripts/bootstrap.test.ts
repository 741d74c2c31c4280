import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const BOOTSTRAP = join(import.meta.dirname, "bootstrap.mjs");
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairway-bootstrap-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a piece of script in a process of its own; answers its exit code or signal. */
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
