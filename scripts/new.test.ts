// Creates each skeleton in a copy of this checkout: it must pass every check and its own tests.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT } from "./bootstrap.mjs";
import { run } from "./process.ts";

/** Time for a whole check, or a build and its tests, in parallel with another test file on two cores. */
const LONG_MS = 480_000;

const copy = mkdtempSync(join(tmpdir(), "fairway-new-"));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

beforeAll(async () => {
  copyCheckout();
  for (const [kind, name] of [
    ["provider", "acme"],
    ["resource", "build-notes"],
    ["dialect", "grade"],
    ["tool-price", "deep-search"],
  ] as const)
    await succeeds("scripts/new.ts", kind, name);
  await succeeds("scripts/docs.ts");
});

it(
  "passes format, lint, layers, types, unused code, banned words and generated docs",
  () => succeeds("scripts/check.ts", "--no-tests"),
  LONG_MS,
);

it(
  "passes its own tests, and those of the tables that it adds to",
  async () => {
    await succeeds("scripts/build.ts", "cli", "console");
    const files = [
      "packages/gateway/src/resources/build-notes",
      "packages/gateway/src/dialects/endpoints/grade.test.ts",
      "packages/gateway/src/providers/registry.test.ts",
      "packages/gateway/src/billing/pricing",
      "packages/gateway/src/storage/schema",
      "packages/console/src/routes",
      "packages/cli/test/build-notes.test.ts",
      "packages/wire",
    ];
    await succeeds("node_modules/vitest/vitest.mjs", "run", ...files);
  },
  LONG_MS,
);

it("refuses a name that is taken and changes nothing", async () => {
  const { code, output } = await inCopy("scripts/new.ts", "resource", "build-notes");
  expect(code).toBe(1);
  expect(output).toContain("packages/wire/src/operations/build-notes.ts exists already");
});

async function succeeds(...args: readonly string[]): Promise<void> {
  const { code, output } = await inCopy(...args);
  expect(code, output.slice(-4_000)).toBe(0);
}

function inCopy(...args: readonly string[]) {
  // A built gateway of this checkout does not know what the copy adds.
  const env = { CI: "1", FAIRWAY_TEST_GATEWAY: join(copy, "packages/gateway/src/main.ts") };
  return run(process.execPath, args, { cwd: copy, env });
}

/** Copies tracked and new files, with the installed packages of this checkout. */
function copyCheckout(): void {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: ROOT, encoding: "utf8" });
  for (const path of listed.trim().split("\n")) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(ROOT, path), join(copy, path));
  }
  const [from, to] = [join(ROOT, "node_modules"), join(copy, "node_modules")];
  mkdirSync(join(to, "@fairway"), { recursive: true });
  for (const name of readdirSync(from))
    if (name !== "@fairway" && name !== ".cache") symlinkSync(join(from, name), join(to, name));
  for (const name of readdirSync(join(from, "@fairway")))
    symlinkSync(join(copy, "packages", name), join(to, "@fairway", name));
}
