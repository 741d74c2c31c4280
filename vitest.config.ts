import { existsSync, globSync, readFileSync, statfsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

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
const LONG: ReadonlySet<string> = new Set([
  "charts/fairway/tests/alert-causes.test.ts",
  "charts/fairway/tests/alert-causes-calls.test.ts",
  "charts/fairway/tests/alert-causes-rows.test.ts",
  "charts/fairway/tests/chart.test.ts",
  "charts/fairway/tests/dashboard.test.ts",
  "charts/fairway/tests/install.cluster.test.ts",
  "charts/fairway/tests/pods.test.ts",
  "charts/fairway/tests/refused.test.ts",
  "packages/cli/test/changes.test.ts",
  "packages/cli/test/commands.test.ts",
  "packages/cli/test/documents.test.ts",
  "packages/cli/test/flags.test.ts",
  "packages/cli/test/kube.cluster.test.ts",
  "packages/cli/test/parts.test.ts",
  "packages/cli/test/ui.test.ts",
  "packages/console/e2e/accounts.test.ts",
  "packages/console/e2e/first-visit.test.ts",
  "packages/console/e2e/foundations.test.ts",
  "packages/console/e2e/grid.test.ts",
  "packages/console/e2e/inventory.test.ts",
  "packages/console/e2e/playground.test.ts",
  "packages/gateway/src/commands/dump/dump.test.ts",
  "packages/gateway/src/commands/ledger.test.ts",
  "packages/gateway/src/composition/storage.test.ts",
  "packages/gateway/test/management/concurrency.test.ts",
  "packages/gateway/test/management/roles.test.ts",
  "packages/gateway/test/relay/batches/settlement.test.ts",
  "packages/gateway/test/relay/cache/response-cache.test.ts",
  "packages/gateway/test/relay/limits/limits.test.ts",
  "packages/testkit/integration/bench.test.ts",
  "packages/testkit/integration/commands.test.ts",
  "packages/testkit/integration/database-silence.test.ts",
  "packages/testkit/integration/log-export.test.ts",
  "scripts/bench/logs.test.ts",
  "scripts/new.test.ts",
  "scripts/seed.test.ts",
]);

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

/** Whole processes, builds and long runs that `npm run test:full` runs with its integration tests. */
const SLOW = [
  "charts/fairway/tests/alert-causes.test.ts",
  "charts/fairway/tests/alert-causes-calls.test.ts",
  "charts/fairway/tests/alert-causes-rows.test.ts",
  "charts/fairway/tests/dashboard.test.ts",
  "charts/fairway/tests/refused.test.ts",
  "deploy/oci-image.test.ts",
  "packages/cli/test/account.test.ts",
  "packages/cli/test/api.test.ts",
  "packages/cli/test/batches.test.ts",
  "packages/cli/test/budgets.test.ts",
  "packages/cli/test/changes.test.ts",
  "packages/cli/test/contexts.test.ts",
  "packages/cli/test/doctor.test.ts",
  "packages/cli/test/documents.test.ts",
  "packages/cli/test/events.test.ts",
  "packages/cli/test/failures.test.ts",
  "packages/cli/test/families.test.ts",
  "packages/cli/test/follow.test.ts",
  "packages/cli/test/import-compatible.test.ts",
  "packages/cli/test/kube-forward.test.ts",
  "packages/cli/test/kube-leader.test.ts",
  "packages/cli/test/log-explain.test.ts",
  "packages/cli/test/log-memory.test.ts",
  "packages/cli/test/names.test.ts",
  "packages/cli/test/parts.test.ts",
  "packages/cli/test/people.test.ts",
  "packages/cli/test/report.test.ts",
  "packages/cli/test/saved-reports.test.ts",
  "packages/cli/test/schema.test.ts",
  "packages/cli/test/screens.test.ts",
  "packages/cli/test/teams.test.ts",
  "packages/cli/test/token-of-user.test.ts",
  "packages/cli/test/token-secret.test.ts",
  "packages/cli/test/ui-channel-detail.test.ts",
  "packages/cli/test/ui-daily.test.ts",
  "packages/cli/test/ui.test.ts",
  "packages/gateway/src/billing/budgets/faults.test.ts",
  "packages/gateway/src/billing/ledger/lost-commits/lost-commits.test.ts",
  "packages/gateway/src/billing/ledger/redis/balance-sync.test.ts",
  "packages/gateway/src/billing/ledger/redis/cluster-faults.test.ts",
  "packages/gateway/src/billing/ledger/redis/loss.test.ts",
  "packages/gateway/src/billing/ledger/redis/reconnect.test.ts",
  "packages/gateway/src/billing/ledger/redis/recovery/epoch.test.ts",
  "packages/gateway/src/billing/ledger/redis/recovery/retained-charges.test.ts",
  "packages/gateway/src/billing/ledger/redis/settler/handover.test.ts",
  "packages/gateway/src/billing/ledger/redis/shares/shares.test.ts",
  "packages/gateway/src/billing/ledger/redis/went-back.test.ts",
  "packages/gateway/src/commands/dump/dump.test.ts",
  "packages/gateway/src/resources/import/databases/litellm/database.test.ts",
  "packages/gateway/src/resources/import/databases/litellm/teams.test.ts",
  "packages/gateway/src/resources/import/databases/new-api/import.test.ts",
  "packages/gateway/src/resources/import/databases/new-api/losses.test.ts",
  "packages/gateway/src/resources/import/databases/new-api/recent.test.ts",
  "packages/gateway/src/resources/import/databases/new-api/resume.test.ts",
  "packages/gateway/src/commands/index.test.ts",
  "packages/gateway/src/commands/ledger.test.ts",
  "packages/gateway/src/composition/storage.test.ts",
  "packages/gateway/src/identity/accounts/first-start.test.ts",
  "packages/gateway/src/jobs/leader-paused.test.ts",
  "packages/gateway/src/jobs/leader.test.ts",
  "packages/gateway/src/jobs/log-partitions.test.ts",
  "packages/gateway/src/redis/cluster/cluster-faults.test.ts",
  "packages/gateway/src/redis/sentinels.test.ts",
  "packages/gateway/src/resources/audit/interrupted.test.ts",
  "packages/gateway/src/resources/logs/counts/plot-sums.test.ts",
  "packages/gateway/src/resources/logs/counts/read-facets.test.ts",
  "packages/gateway/src/resources/logs/many-rows.test.ts",
  "packages/gateway/src/storage/partitions/conversion.test.ts",
  "packages/gateway/src/storage/schema/galera.test.ts",
  "packages/gateway/src/webhooks/webhooks.test.ts",
  "packages/gateway/test/conversions/read-fields.test.ts",
  "packages/gateway/test/edge/drain-management.test.ts",
  "packages/gateway/test/edge/drain.test.ts",
  "packages/gateway/test/edge/slow-bodies.test.ts",
  "packages/gateway/test/management/fuzz.test.ts",
  "packages/gateway/test/relay/batches/parallel-calls.test.ts",
  "packages/gateway/test/relay/billing/sent-limits.test.ts",
  "packages/gateway/test/relay/cache/response-cache.test.ts",
  "packages/gateway/test/relay/fallback/budget-fallbacks.test.ts",
  "packages/gateway/test/relay/files/minted-files.test.ts",
  "packages/gateway/test/relay/realtime/session-money.test.ts",
  "packages/gateway/test/relay/responses/response-store-replicas.test.ts",
  "packages/gateway/test/relay/streams/heartbeats.test.ts",
  "packages/gateway/test/relay/streams/long-streams.test.ts",
  "packages/gateway/test/relay/streams/quiet-upstreams.test.ts",
  "packages/gateway/test/relay/streams/streams-without-content.test.ts",
  "packages/gateway/test/relay/streams/usage-after-disconnect.test.ts",
  "packages/gateway/test/relay/tenancy/moved-keys.test.ts",
  "packages/gateway/test/relay/tenancy/team-caps.test.ts",
  "packages/gateway/test/storage/log-away.test.ts",
  "packages/gateway/test/storage/statement-plans.test.ts",
  "scripts/new.test.ts",
  "scripts/release/release.test.ts",
  "scripts/seed.test.ts",
  "scripts/site.test.ts",
  ...globSync("scripts/bench/*.test.ts", { cwd: import.meta.dirname }),
];
/** Long runs, whole benches, checks of what is made from a checkout, and what compiles a program first. */
const NIGHTLY = [
  "deploy/oci-image.test.ts",
  "packages/gateway/test/management/fuzz.test.ts",
  "packages/testkit/chaos/cluster.test.ts",
  "packages/testkit/chaos/random/random.test.ts",
  "packages/testkit/identity-server/second-identity-server.test.ts",
  "packages/testkit/integration/bench.test.ts",
  "packages/testkit/integration/log-clickhouse.test.ts",
  "scripts/bench/allocations.test.ts",
  "scripts/bench/batches.test.ts",
  "scripts/bench/cli.test.ts",
  "scripts/bench/collector.test.ts",
  "scripts/bench/ledger.test.ts",
  "scripts/bench/logs.test.ts",
  "scripts/bench/outage.test.ts",
  "scripts/bench/plain.test.ts",
  "scripts/bench/soak.test.ts",
  "scripts/new.test.ts",
  "scripts/release/release.test.ts",
  "scripts/site.test.ts",
];
/** Sweeps through every page that a test of the page repeats in part. */
const NIGHTLY_BROWSER = [
  "packages/console/e2e/answers.test.ts",
  "packages/console/e2e/inventory.test.ts",
  "packages/console/e2e/names.test.ts",
  "packages/console/e2e/sweep.test.ts",
];
/** Against a Kubernetes API server, and on real nodes: `npm run test:cluster`. */
const CLUSTER = "{packages,charts}/**/*.cluster.test.ts";
const NODES = "{packages,charts}/**/*.nodes.test.ts";
/** Tests of the log in ClickHouse, and the quick ones of the log that hold there as on the other databases. */
const ON_CLICKHOUSE_ALONE = [
  "packages/gateway/src/billing/ledger/log-batches.test.ts",
  "packages/gateway/src/storage/clickhouse/clickhouse.test.ts",
];
const ON_CLICKHOUSE = [
  ...ON_CLICKHOUSE_ALONE,
  "packages/gateway/src/resources/logs/conditions.property.test.ts",
  "packages/gateway/src/resources/logs/store.test.ts",
  "packages/gateway/src/resources/statistics/recent.test.ts",
  "packages/gateway/src/resources/statistics/rollup.test.ts",
  "packages/gateway/src/resources/usage-data/rollup.test.ts",
];
/** Those that ask thousands of questions, which its engine answers one after the other. */
const NIGHTLY_CLICKHOUSE = [
  "packages/gateway/src/resources/logs/counts/histogram.test.ts",
  "packages/gateway/src/resources/logs/counts/plot-sums.test.ts",
  "packages/gateway/src/resources/logs/counts/read-facets.test.ts",
  "packages/gateway/src/resources/logs/spent.test.ts",
];
/** Random histories: `npm run test:full` runs them with many more steps. */
const PROPERTY = "packages/gateway/**/*.property.test.ts";
/** Files that a list of this configuration names; one that moved would silently leave its list. */
export const NAMED: readonly string[] = [
  ...LONG,
  ...SLOW,
  ...NIGHTLY,
  ...NIGHTLY_BROWSER,
  ...NIGHTLY_CLICKHOUSE,
  ...ON_CLICKHOUSE,
];
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
