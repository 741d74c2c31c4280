import { existsSync, readFileSync, statfsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import {
  CLUSTER,
  LONG,
  NIGHTLY,
  NIGHTLY_BROWSER,
  NIGHTLY_CLICKHOUSE,
  NODES,
  ON_CLICKHOUSE,
  ON_CLICKHOUSE_ALONE,
  PROPERTY,
  SLOW,
} from "./scripts/test-files.ts";

const services = {
  globalSetup: ["packages/testkit/src/vitest-setup.ts"],
  setupFiles: ["packages/testkit/src/vitest-cleanup.ts"],
};

/** A worker keeps its process: to start one for each file, and to load the packages again, takes half of all time. */
const oneProcess = { isolate: false, setupFiles: ["packages/testkit/src/vitest-own-modules.ts"] };
const oneProcessWithServices = {
  ...services,
  ...oneProcess,
  setupFiles: [...oneProcess.setupFiles, ...services.setupFiles],
};

// On a machine that others use too, waiting takes longer.
const expects = { poll: { timeout: 15_000 } };
const UNIT_MS = 30_000;

// A disk that others use blocks for seconds at a time, and with it every server that stores data there.
const MEMORY = "/dev/shm";
if (freeBytes(MEMORY) > 4 * 2 ** 30) process.env["TMPDIR"] = MEMORY;

function freeBytes(folder: string): number {
  if (!existsSync(folder)) return 0;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** A zone whose clock is past noon now: pages show "today", and the rows of a test are minutes old. */
function zoneAtNoon(): string {
  const offset = 12 - new Date().getUTCHours();
  return `Etc/GMT${offset > 0 ? "-" : "+"}${Math.abs(offset)}`;
}

const TIMES = join(import.meta.dirname, "node_modules/.cache/fairway/test-times.json");
/** Assumed for files that never ran here: a fresh clone starts these first. */
const UNKNOWN_MS = 5_000;
const LONG_MS = 60_000;

/** The slowest file of the last run starts first: a slow file at the end leaves one core idle. */
class LongestFirst extends BaseSequencer {
  readonly #times = existsSync(TIMES) ? (JSON.parse(readFileSync(TIMES, "utf8")) as Record<string, number>) : {};

  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => this.#estimateMs(b) - this.#estimateMs(a)));
  }

  #estimateMs({ moduleId }: TestSpecification): number {
    const path = relative(import.meta.dirname, moduleId);
    return this.#times[path] ?? (LONG.has(path) ? LONG_MS : UNKNOWN_MS);
  }
}

const WITHOUT_SLOW = [...configDefaults.exclude, ...SLOW, PROPERTY, CLUSTER, NODES, ...ON_CLICKHOUSE_ALONE];

/** One file for each browser engine, through WebDriver: `npm run test:engines`. */
const ENGINES = "packages/console/e2e/engines/*.test.ts";

/** The one browser test of `npm test`. */
const JOURNEY = "packages/console/e2e/journey.test.ts";

/** Projects whose number of workers is their own run alone. */
function group(groupOrder: number, maxWorkers: number) {
  return { sequence: { groupOrder }, maxWorkers };
}

// One project per kind of test, so that each can be run by name: `npx vitest run --project gateway`.
export default defineConfig({
  test: {
    // Most tests wait for servers: a worker for each of two cores leaves half of their time unused.
    maxWorkers: Math.max(4, availableParallelism()),
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { name: "wire", include: ["packages/wire/src/**/*.test.ts"], ...oneProcess, testTimeout: UNIT_MS } },
      {
        test: {
          name: "scripts",
          include: ["scripts/**/*.test.ts"],
          exclude: WITHOUT_SLOW,
          ...oneProcess,
          testTimeout: 120_000,
        },
      },
      {
        test: {
          name: "gateway",
          expect: expects,
          include: ["packages/gateway/**/*.test.ts"],
          exclude: WITHOUT_SLOW,
          ...oneProcessWithServices,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "testkit",
          expect: expects,
          include: ["packages/testkit/src/**/*.test.ts", "packages/testkit/cluster/*.test.ts"],
          exclude: WITHOUT_SLOW,
          ...services,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "integration",
          expect: expects,
          include: ["packages/testkit/integration/**/*.test.ts"],
          exclude: NIGHTLY,
          ...services,
          testTimeout: 120_000,
          hookTimeout: 240_000,
          ...group(1, 4),
        },
      },
      {
        test: {
          name: "slow",
          expect: expects,
          include: SLOW,
          exclude: NIGHTLY,
          ...oneProcessWithServices,
          testTimeout: 120_000,
          hookTimeout: 240_000,
          ...group(1, 4),
        },
      },
      {
        test: {
          name: "clickhouse",
          expect: expects,
          include: ON_CLICKHOUSE,
          env: { FAIRWAY_TEST_LOGS: "clickhouse" },
          ...services,
          testTimeout: 300_000,
          hookTimeout: 300_000,
          ...group(1, 4),
        },
      },
      {
        test: {
          name: "chaos",
          expect: expects,
          include: ["packages/testkit/chaos/**/*.test.ts"],
          exclude: NIGHTLY,
          ...services,
          testTimeout: 120_000,
          hookTimeout: 240_000,
          // Nothing else runs: the timing of the replicas is what is tested.
          ...group(2, 1),
        },
      },
      {
        test: {
          name: "console",
          include: ["packages/console/src/**/*.test.{ts,tsx}"],
          ...oneProcess,
          testTimeout: UNIT_MS,
        },
      },
      {
        test: {
          name: "browser",
          expect: expects,
          include: ["packages/console/e2e/**/*.test.ts"],
          exclude: [JOURNEY, ENGINES, ...NIGHTLY_BROWSER],
          env: { TZ: zoneAtNoon() },
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // Half of the time of a page is waiting.
          ...group(3, 3),
        },
      },
      {
        test: {
          name: "journey",
          expect: expects,
          include: [JOURNEY],
          env: { TZ: zoneAtNoon() },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "nightly",
          expect: expects,
          include: NIGHTLY,
          ...services,
          testTimeout: 120_000,
          hookTimeout: 240_000,
          ...group(2, 1),
        },
      },
      {
        test: {
          name: "nightly-clickhouse",
          expect: expects,
          include: NIGHTLY_CLICKHOUSE,
          env: { FAIRWAY_TEST_LOGS: "clickhouse" },
          ...services,
          testTimeout: 900_000,
          hookTimeout: 300_000,
          ...group(2, 1),
        },
      },
      {
        test: {
          name: "nightly-browser",
          expect: expects,
          include: NIGHTLY_BROWSER,
          env: { TZ: zoneAtNoon() },
          testTimeout: 120_000,
          hookTimeout: 120_000,
          ...group(3, 3),
        },
      },
      {
        test: {
          name: "engines",
          include: [ENGINES],
          env: { TZ: zoneAtNoon() },
          testTimeout: 180_000,
          // The driver of Firefox is compiled where it is missing.
          hookTimeout: 900_000,
          ...group(6, 2),
        },
      },
      {
        test: {
          name: "property",
          expect: expects,
          include: [PROPERTY],
          env: { FAIRWAY_TEST_RUNS: "full" },
          ...services,
          testTimeout: 600_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "cli",
          expect: expects,
          include: ["packages/cli/{src,test}/**/*.test.{ts,tsx}"],
          exclude: WITHOUT_SLOW,
          ...oneProcess,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "chart",
          expect: expects,
          include: ["charts/**/*.test.ts", "deploy/**/*.test.ts"],
          exclude: WITHOUT_SLOW,
          ...oneProcess,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "cluster",
          expect: expects,
          include: [CLUSTER],
          ...services,
          testTimeout: 120_000,
          hookTimeout: 240_000,
          ...group(4, 2),
        },
      },
      {
        test: {
          name: "nodes",
          expect: expects,
          include: [NODES],
          ...services,
          testTimeout: 600_000,
          hookTimeout: 600_000,
          ...group(5, 1),
        },
      },
    ],
  },
});
