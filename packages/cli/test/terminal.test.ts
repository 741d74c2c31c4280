// A program that a test leaves running in a pseudo-terminal ends with the test, even if the test fails.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startRig, type Rig } from "./rig.ts";
import { openTerminal } from "./terminal.ts";

let rig: Rig;
let pid = 0;

beforeAll(async () => void (rig = await startRig()));
afterAll(() => rig?.stop());

test.fails("a screen is open while a test fails", async () => {
  const file = join(rig.home, "pid");
  const terminal = openTerminal(["ui"], rig.env, 100, file);
  await terminal.sees("channels");
  pid = Number(await readFile(file, "utf8"));
  expect(terminal.shown).toContain("no such text");
});

test("its program ended with that test", async () => {
  expect(pid).toBeGreaterThan(1);
  await expect.poll(() => isAlive(pid)).toBe(false);
});

function isAlive(process_: number): boolean {
  try {
    return process.kill(process_, 0);
  } catch {
    return false;
  }
}
