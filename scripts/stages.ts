// The second half of `npm test`, under the Node of the lock file: one stage after the other, a table, and the sum.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { CHECKS } from "./check.ts";
import { COMPILE_CACHE, runTool, run } from "./process.ts";
import { ROOT, withLock } from "./bootstrap.mjs";
import { TARGETS } from "./build.ts";

interface Count {
  readonly passed: number;
  readonly failed: number;
}

interface Stage {
  readonly name: string;
  /** What it does, for the heading. */
  readonly about: string;
  run(): Promise<Count>;
}

/** For what hangs; a machine that others use takes three times as long as a quiet one. */
const STAGE_LIMIT_MS = 40 * 60_000;
/** More failed files than this are no moment in which the machine stood still. */
const MOST_AGAIN = 5;
/** Tests that failed at their first attempt. */
const again: string[] = [];
const reports = mkdtempSync(join(tmpdir(), "fairway-test-"));

const STAGES: readonly Stage[] = [
  { name: "check", about: "format, lint, types, unused code, generated docs", run: runChecks },
  { name: "build", about: "console, command line, gateway", run: runBuild },
  vitest("unit", "rules of the repository, contract, test kit, console", ["wire", "scripts", "testkit", "console"]),
  vitest("gateway", "gateway on SQLite, MariaDB, PostgreSQL and Redis", ["gateway"]),
  vitest("integration", "whole processes, official clients, kills", ["integration"]),
  vitest("chaos", "three replicas under load, and everything that can die", ["chaos"]),
  vitest("cli", "command line in a pseudo-terminal", ["cli"]),
  vitest("chart", "Helm chart, manifests, alert rules", ["chart"]),
  vitest("browser", "console in Chromium", ["browser"]),
];

const only = process.argv.flatMap((argument, index, all) =>
  argument === "--only" ? (all[index + 1]?.split(",") ?? []) : [],
);
const chosen = STAGES.filter((stage) => only.length === 0 || only.includes(stage.name));
const table: { stage: string; passed: number; failed: number; seconds: number }[] = [];
for (const [index, stage] of chosen.entries()) {
  console.log(`\n[${index + 1}/${chosen.length}] ${stage.name}: ${stage.about}`);
  const started = performance.now();
  const count = await stage.run();
  const seconds = Math.round((performance.now() - started) / 1000);
  table.push({ stage: stage.name, ...count, seconds });
  console.log(`${stage.name}: ${count.passed} passed, ${count.failed} failed in ${seconds} s`);
}
rmSync(reports, { recursive: true, force: true });
if (chosen.length === 0)
  console.error(`There is no stage ${only.join(", ")}: ${STAGES.map((stage) => stage.name).join(", ")}`);

const passed = table.reduce((sum, row) => sum + row.passed, 0);
const failed = table.reduce((sum, row) => sum + row.failed, chosen.length === 0 ? 1 : 0);
console.log("");
for (const row of table) console.log(`${row.stage.padEnd(12)} ${columns(row)}`);
if (again.length > 0) console.log(`\nRan twice, because they failed beside others:\n${again.join("\n")}\n`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function columns(row: Count & { readonly seconds: number }): string {
  const cell = (value: number) => String(value).padStart(6);
  return `${cell(row.passed)} passed ${cell(row.failed)} failed ${cell(row.seconds)} s`;
}

async function runChecks(): Promise<Count> {
  return withLock("check", () =>
    countEach(CHECKS, async (check) => {
      const { code, output } = await check.run(false);
      console.log(`  ${check.name}: ${code === 0 ? "passed" : `failed\n${output.trim()}`}`);
      return code === 0;
    }),
  );
}

async function runBuild(): Promise<Count> {
  return countEach(TARGETS, async (target) => {
    const script = join(ROOT, "scripts/build.ts");
    return (
      (await run(process.execPath, [script, target.name, "--stale"], { isLoud: true, timeoutMs: STAGE_LIMIT_MS }))
        .code === 0
    );
  });
}

async function countEach<T>(items: readonly T[], work: (item: T) => Promise<boolean>): Promise<Count> {
  let passed = 0;
  for (const item of items) if (await work(item)) passed++;
  return { passed, failed: items.length - passed };
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly FileReport[];
}

interface FileReport {
  readonly name: string;
  readonly status: "passed" | "failed";
  readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
}

interface Run extends Count {
  /** Part of `failed`. */
  readonly skipped: number;
  readonly files: readonly FileReport[];
}

/** A stage of vitest projects. A skipped test counts as failed: nothing here may pass by not running. */
function vitest(name: string, about: string, projects: readonly string[]): Stage {
  const execute = async (): Promise<Count> => {
    const first = await runVitest(name, projects, []);
    const failed = first.files.filter((file) => file.status === "failed");
    if (failed.length === 0 || failed.length > MOST_AGAIN) return first;
    for (const file of failed) console.log(`again, with nothing beside it: ${relative(ROOT, file.name)}`);
    const second = await runVitest(`${name}-again`, projects, failed);
    again.push(...failed.flatMap(failuresOf));
    return { passed: first.passed - passedIn(failed) + second.passed, failed: second.failed + first.skipped };
  };
  return { name, about, run: execute };
}

function failuresOf(file: FileReport): readonly string[] {
  const tests = file.assertionResults.filter((test) => test.status === "failed");
  const path = relative(ROOT, file.name);
  return tests.length === 0 ? [path] : tests.map((test) => `${path}: ${test.fullName}`);
}

function passedIn(files: readonly FileReport[]): number {
  return files.flatMap((file) => file.assertionResults).filter((test) => test.status === "passed").length;
}

/** Runs the projects, or of them the given files alone, one after the other. */
async function runVitest(name: string, projects: readonly string[], files: readonly FileReport[]): Promise<Run> {
  const file = join(reports, `${name}.json`);
  const { code } = await runTool(
    "vitest/vitest.mjs",
    [
      "run",
      ...files.map((one) => one.name),
      ...(files.length > 0 ? ["--no-file-parallelism"] : []),
      ...projects.map((project) => `--project=${project}`),
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${file}`,
    ],
    { isLoud: true, timeoutMs: STAGE_LIMIT_MS, env: { CI: "1", ...COMPILE_CACHE } },
  );
  if (!existsSync(file)) return { passed: 0, failed: 1, skipped: 0, files: [] };
  const report = JSON.parse(readFileSync(file, "utf8")) as Report;
  const skipped = report.numPendingTests + report.numTodoTests;
  const failed = report.numFailedTests + skipped;
  // A file that does not load, or an error outside any test, has no failed test of its own.
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && code !== 0 ? 1 : failed,
    skipped,
    files: report.testResults,
  };
}
