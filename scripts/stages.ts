// The second half of `npm test`, `npm run test:full` and `npm run test:nightly`, under the Node of the lock file: one
// stage after the other, a table, the slowest files, and the sum.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { CHECKS } from "./check.ts";
import { COMPILE_CACHE, runTool, run } from "./process.ts";
import { ROOT, withLock } from "./bootstrap.mjs";
import { OUTSIDE_ERRORS } from "./outside-errors.ts";
import { TARGETS } from "./build.ts";
import { whyNoCluster, whyNoNodes } from "../packages/testkit/cluster/obstacles.ts";
import { buildPrograms, type Part } from "../packages/testkit/cluster/programs.ts";

interface Count {
  readonly passed: number;
  readonly failed: number;
}

type Tier = "default" | "full" | "nightly";

interface Stage {
  readonly name: string;
  /** `npm test` runs the default stages, `npm run test:full` the next, `npm run test:nightly` the rest. */
  readonly tier: Tier | "every";
  /** The description for the heading. */
  readonly about: string;
  /** Returns why the stage cannot run on this machine, or is left out of `npm run test:full`; undefined = it runs. */
  obstacle?(isChosen: boolean): string | undefined;
  run(): Promise<Count>;
}

/** Stops a hanging stage; a shared machine takes three times as long as a quiet one. */
const STAGE_LIMIT_MS = 40 * 60_000;
const SLOWEST = 20;
/** More failed files than these are no accident of a busy machine. */
const MAX_FILES_AGAIN = 8;
/** Read by `vitest.config.ts`. */
const TIMES = join(ROOT, "node_modules/.cache/fairway/test-times.json");
/** Milliseconds of each test file of this run, by path. */
const times: Record<string, number> = {};
/** One line for each failure, printed again before the sum; `.ci/run` repeats them at its end. */
const failures: string[] = [];
/** One line for each test that failed among the others and passed alone. */
const passedAgain: string[] = [];
const reports = mkdtempSync(join(tmpdir(), "fairway-test-"));

const GIVEN_CLUSTER = process.env["KUBECONFIG"];

const STAGES: readonly Stage[] = [
  {
    name: "check",
    tier: "default",
    about: "format, lint, types, unused code, banned words, generated docs",
    run: runChecks,
  },
  { name: "build", tier: "every", about: "console, command line, gateway, where they are stale", run: runBuild },
  vitest("unit", "default", "rules of the repository, contract, test kit, console", [
    "wire",
    "scripts",
    "testkit",
    "console",
  ]),
  vitest("gateway", "default", "gateway on SQLite, MariaDB, PostgreSQL and Redis", ["gateway"]),
  // Together: each alone leaves one core idle at its end.
  vitest("interfaces", "default", "command line in a pseudo-terminal, Helm chart, a journey through the console", [
    "cli",
    "chart",
    "journey",
  ]),
  vitest("property", "full", "histories of the ledger and of budgets, many of them", ["property"]),
  vitest("integration", "full", "whole processes, official clients, kills, the log in ClickHouse", [
    "integration",
    "slow",
    "clickhouse",
  ]),
  vitest("chaos", "full", "three replicas under load, and everything that can die", ["chaos"]),
  vitest("browser", "full", "console in Chromium", ["browser"]),
  vitest("nightly", "nightly", "long runs, and further settings of what the other stages test", [
    "nightly",
    "nightly-clickhouse",
    "nightly-browser",
  ]),
  {
    ...vitest("engines", "full", "the daily tasks in Chromium, Firefox and WebKit", ["engines"]),
    obstacle: (isChosen) => (isChosen ? undefined : "it needs three browsers: run `npm run test:engines`"),
  },
  {
    ...withPrograms(
      ["control-plane", "collector"],
      vitest("cluster", "full", "chart and controller against a Kubernetes API server, traces through a collector", [
        "cluster",
      ]),
    ),
    obstacle: (isChosen) =>
      (GIVEN_CLUSTER
        ? undefined
        : whyNoCluster("control-plane", isChosen || process.env["FAIRWAY_TEST_CLUSTER"] === "1")) ??
      whyNoCluster("collector", true),
  },
  {
    ...withPrograms(
      ["nodes"],
      vitest("nodes", "full", "the chart on real Kubernetes nodes: upgrades, drains, kills", ["nodes"]),
    ),
    obstacle: (isChosen) =>
      GIVEN_CLUSTER
        ? "KUBECONFIG names a cluster, and its nodes are not ours to drain"
        : (whyNoNodes() ?? whyNoScenario(isChosen || process.env["FAIRWAY_TEST_CLUSTER"] === "1")),
  },
];

const only = process.argv.flatMap((argument, index, all) =>
  argument === "--only" ? (all[index + 1]?.split(",") ?? []) : [],
);
const tier: Tier = process.argv.includes("--full")
  ? "full"
  : process.argv.includes("--nightly")
    ? "nightly"
    : "default";
const chosen = STAGES.filter((stage) =>
  only.length === 0 ? stage.tier === tier || stage.tier === "every" : only.includes(stage.name),
);
const table: { stage: string; passed: number; failed: number; seconds: number }[] = [];
for (const [index, stage] of chosen.entries()) {
  console.log(`\n[${index + 1}/${chosen.length}] ${stage.name}: ${stage.about}`);
  const obstacle = stage.obstacle?.(only.includes(stage.name));
  if (obstacle) {
    console.log(`${stage.name}: not run: ${obstacle}`);
    continue;
  }
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
printSlowest();
for (const line of passedAgain) console.log(`PASSED ONLY ALONE ${line}`);
for (const failure of failures) console.log(`FAILED ${failure}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function columns(row: Count & { readonly seconds: number }): string {
  const cell = (value: number) => String(value).padStart(6);
  return `${cell(row.passed)} passed ${cell(row.failed)} failed ${cell(row.seconds)} s`;
}

function whyNoScenario(isWanted: boolean): string | undefined {
  return isWanted
    ? whyNoCluster("nodes", true)
    : "it takes six minutes: run `npm run test:cluster`, or set FAIRWAY_TEST_CLUSTER=1";
}

async function runChecks(): Promise<Count> {
  return withLock("check", () =>
    countEach(CHECKS, 2, async (check) => {
      const { code, output } = await check.run(false);
      console.log(`  ${check.name}: ${code === 0 ? "passed" : `failed\n${output.trim()}`}`);
      if (code !== 0) failures.push(`check: ${check.name}`);
      return code === 0;
    }),
  );
}

async function runBuild(): Promise<Count> {
  return countEach(TARGETS, 1, async (target) => {
    const script = join(ROOT, "scripts/build.ts");
    const { code } = await run(process.execPath, [script, target.name, "--stale"], {
      isLoud: true,
      timeoutMs: STAGE_LIMIT_MS,
    });
    if (code !== 0) failures.push(`build: ${target.name}`);
    return code === 0;
  });
}

/** Works on this many items at a time, in their order. */
async function countEach<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<boolean>): Promise<Count> {
  const rest = [...items];
  let passed = 0;
  const lane = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) if (await work(item)) passed++;
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return { passed, failed: items.length - passed };
}

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly TestFile[];
}

interface TestFile {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly startTime: number;
  readonly endTime: number;
  readonly assertionResults: readonly TestResult[];
}

interface TestResult {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages: readonly string[];
}

/** A stage of vitest projects. A skipped test counts as failed, because nothing may pass without running. */
function vitest(name: string, tier: Stage["tier"], about: string, projects: readonly string[]): Stage {
  return { name, tier, about, run: () => runVitest(name, projects) };
}

/** Compiles programs first if necessary, because that takes longer than a test may wait for its cluster. */
function withPrograms(parts: readonly Part[], stage: Stage): Stage {
  return {
    ...stage,
    async run() {
      try {
        for (const part of parts) if (!GIVEN_CLUSTER || part === "collector") await buildPrograms(part);
      } catch (error) {
        const { message } = error as Error;
        console.error(message);
        failures.push(`${stage.name}: its programs do not compile: ${firstLine(message)}`);
        return { passed: 0, failed: 1 };
      }
      return stage.run();
    },
  };
}

/**
 * Runs the projects, then each file that failed once more, alone: on a machine that others use too, a wait can end
 * early. A fault of the code fails again. What passed only then is printed before the sum.
 */
async function runVitest(name: string, projects: readonly string[]): Promise<Count> {
  const first = await runProjects(name, projects, []);
  const files = [...new Set(first.failed.map(({ file }) => file))];
  if (first.isBroken || files.length === 0 || files.length > MAX_FILES_AGAIN) return settle(name, first);
  console.log(`\n${name}: ${files.length} files failed; each runs once more, alone`);
  const second = await runProjects(`${name}-again`, projects, files);
  if (second.isBroken) return settle(name, first);
  const lost = new Set(second.failed.map(({ title }) => title));
  for (const { title, message } of first.failed) if (!lost.has(title)) passedAgain.push(`${title}: ${message}`);
  return settle(name, { ...second, passed: first.passed - first.passedIn(files) + second.passed });
}

interface Run {
  readonly passed: number;
  readonly failed: readonly { readonly file: string; readonly title: string; readonly message: string }[];
  /** Lines about what is not the failure of one test: no report, or an error outside the tests. */
  readonly isBroken: boolean;
  readonly errors: readonly string[];
  passedIn(files: readonly string[]): number;
}

function settle(name: string, { passed, failed, errors }: Run): Count {
  failures.push(...failed.map(({ title, message }) => `${title}: ${message}`));
  failures.push(...errors.map((error) => `${name}: ${error}`));
  return { passed, failed: failed.length > 0 ? failed.length : Math.min(errors.length, 1) };
}

async function runProjects(name: string, projects: readonly string[], files: readonly string[]): Promise<Run> {
  const file = join(reports, `${name}.json`);
  const outside = join(reports, `${name}.outside.json`);
  const { code } = await runTool(
    "vitest/vitest.mjs",
    [
      "run",
      ...files,
      ...(files.length > 0 ? ["--no-file-parallelism"] : []),
      ...projects.map((project) => `--project=${project}`),
      "--reporter=default",
      "--reporter=json",
      `--reporter=${join(ROOT, "scripts/outside-errors.ts")}`,
      `--outputFile.json=${file}`,
    ],
    {
      isLoud: true,
      timeoutMs: STAGE_LIMIT_MS,
      env: { CI: "1", [OUTSIDE_ERRORS]: outside, ...COMPILE_CACHE, ...builtGateway() },
    },
  );
  if (!existsSync(file))
    return { passed: 0, failed: [], isBroken: true, errors: [`no report, exit code ${code}`], passedIn: () => 0 };
  const report = JSON.parse(readFileSync(file, "utf8")) as Report;
  for (const { name: path, startTime, endTime } of report.testResults)
    times[relative(ROOT, path)] = Math.round(endTime - startTime);
  const failed = report.testResults.flatMap(listFailures);
  // A file that does not load, or an error outside any test, has no failed test of its own.
  const isBroken = failed.length === 0 && code !== 0;
  const found = existsSync(outside) ? (JSON.parse(readFileSync(outside, "utf8")) as string[]) : [];
  return {
    passed: report.numPassedTests,
    failed,
    isBroken,
    errors: isBroken ? [`an error outside the tests, exit code ${code}`, ...found] : [],
    passedIn: (paths) =>
      report.testResults
        .filter(({ name: path }) => paths.includes(relative(ROOT, path)))
        .flatMap(({ assertionResults }) => assertionResults)
        .filter(({ status }) => status === "passed").length,
  };
}

/** Tests that start a gateway process start the one that this run built, which takes a third of the time of the sources. */
function builtGateway(): Readonly<Record<string, string>> {
  const isBuilt = table.some((row) => row.stage === "build" && row.failed === 0);
  return isBuilt ? { FAIRWAY_TEST_GATEWAY: join(ROOT, "packages/gateway/dist/main.mjs") } : {};
}

function listFailures({ name, status, message, assertionResults }: TestFile): Run["failed"] {
  const file = relative(ROOT, name);
  const tests = assertionResults.filter((test) => test.status !== "passed");
  if (tests.length === 0) return status === "failed" ? [{ file, title: file, message: firstLine(message) }] : [];
  return tests.map((test) => ({
    file,
    title: `${file}: ${test.fullName}`,
    message: firstLine(test.failureMessages[0] ?? test.status),
  }));
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}

/** The next run begins with the files that took longest in this run or an earlier one. */
function printSlowest(): void {
  const slowest = Object.entries(times).toSorted(([, a], [, b]) => b - a);
  if (slowest.length === 0) return;
  const known = Object.entries({ ...readTimes(), ...times }).filter(([path]) => existsSync(join(ROOT, path)));
  mkdirSync(dirname(TIMES), { recursive: true });
  writeFileSync(TIMES, JSON.stringify(Object.fromEntries(known)));
  console.log("\nThe slowest files:");
  for (const [path, ms] of slowest.slice(0, SLOWEST)) console.log(`${(ms / 1_000).toFixed(1).padStart(7)} s  ${path}`);
  console.log("");
}

function readTimes(): Record<string, number> {
  return existsSync(TIMES) ? (JSON.parse(readFileSync(TIMES, "utf8")) as Record<string, number>) : {};
}
