import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { ROOT } from "./bootstrap.mjs";
import { OUTSIDE_ERRORS } from "./outside-errors.ts";

const CACHE = join(ROOT, "node_modules/.cache");
const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true });
});

/** Runs one test file in a project of its own; returns the reporter's output. */
function collectOutsideErrors(test: string): string[] {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, "outside-"));
  made.push(folder);
  writeFileSync(join(folder, "one.test.ts"), `import { it } from "vitest";\n${test}`);
  writeFileSync(join(folder, "vitest.config.ts"), "export default {};");
  const report = join(folder, "errors.json");
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const reporter = join(ROOT, "scripts/outside-errors.ts");
  spawnSync(process.execPath, [vitest, "run", `--root=${folder}`, `--reporter=${reporter}`], {
    env: { ...process.env, [OUTSIDE_ERRORS]: report },
  });
  return JSON.parse(readFileSync(report, "utf8")) as string[];
}

it("names a rejection that no test handled and where it was thrown", { timeout: 60_000 }, () => {
  const errors = collectOutsideErrors('it("passes", () => { void Promise.reject(new Error("no one waits")); });');
  expect(errors).toEqual([expect.stringMatching(/^Error: no one waits \| .*one\.test\.ts/)]);
});

it("names a file that does not load, and nothing when all is well", { timeout: 60_000 }, () => {
  expect(collectOutsideErrors('throw new TypeError("too early");')).toEqual([
    expect.stringMatching(/too early.*one\.test\.ts/),
  ]);
  expect(collectOutsideErrors('it("passes", () => {});')).toEqual([]);
});
