// `npm run check`: everything that needs no running service, in under a minute. `--fix` repairs what can be
// repaired; `--no-tests` leaves out the tests of changed files.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./bootstrap.mjs";
import { runTool, run, type Finished } from "./process.ts";

export interface Check {
  readonly name: string;
  run(isFixing: boolean): Promise<Finished>;
}

export const CHECKS: readonly Check[] = [
  { name: "format", run: (isFixing) => runTool("oxfmt/bin/oxfmt", [isFixing ? "--write" : "--check"]) },
  { name: "lint", run: (isFixing) => runTool("oxlint/bin/oxlint", isFixing ? ["--fix"] : []) },
  { name: "types", run: () => runTool("typescript/bin/tsc", ["-b"]) },
  { name: "unused code", run: () => runTool("knip/bin/knip.js", ["--no-config-hints"]) },
  { name: "rooms", run: () => run(process.execPath, [join(ROOT, "scripts/rooms/rooms.ts")]) },
  { name: "banned words", run: () => run(process.execPath, [join(ROOT, "scripts/banned-words.ts")]) },
  { name: "ids of the console", run: () => run(process.execPath, [join(ROOT, "scripts/console-ids/check.ts")]) },
  {
    name: "generated docs",
    run: (isFixing) => run(process.execPath, [join(ROOT, "scripts/docs.ts"), ...(isFixing ? [] : ["--check"])]),
  },
];

const CHANGED: Check = {
  name: "tests of changed files",
  run: () =>
    runTool("vitest/vitest.mjs", [
      "run",
      "--changed",
      "--passWithNoTests",
      "--project=!browser",
      "--project=!integration",
      "--project=!chaos",
    ]),
};

if (import.meta.main) {
  const isFixing = process.argv.includes("--fix");
  const hasTests = !process.argv.includes("--no-tests") && existsSync(join(ROOT, ".git"));
  for (const check of hasTests ? [...CHECKS, CHANGED] : CHECKS) {
    const started = performance.now();
    const { code, output } = await check.run(isFixing);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`${code === 0 ? "ok    " : "FAILED"} ${check.name} (${seconds} s)`);
    if (code === 0) continue;
    process.exitCode = 1;
    console.log(output.trim());
  }
}
