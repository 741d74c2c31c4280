import type { Batches } from "./batches.ts";
import type { Core } from "./core.ts";
import type { LogExport } from "./log-export.ts";
import type { Management } from "./management.ts";
import type { Objects } from "./objects.ts";
import type { Webhooks } from "./webhooks.ts";
import type { Tasks } from "./tasks.ts";
import { channelJobs } from "../jobs/channel-jobs.ts";
import type { Elector } from "../jobs/leader.ts";
import { leaderWatchJob } from "../jobs/leader-watch.ts";
import { logPartitionsJob } from "../jobs/log-partitions.ts";
import { logRetentionJob } from "../jobs/log-retention.ts";
import { createSchedule, paced, reaperJob, type ScheduledJob } from "../jobs/schedule.ts";
import { versionCheckJob } from "../jobs/version-check.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import type { PipelineDeps } from "../relay/pipeline/enter-model.ts";
import { endDisables } from "../resources/channels/status-info.ts";
import { applyDuePrices } from "../resources/price-plans/apply-due.ts";
import { runPauses } from "../resources/pauses/run-pauses.ts";
import { reportForecasts } from "../resources/budgets/forecast-job.ts";
import { pruneBudgetValues } from "../resources/budgets/values.ts";
import { makeDueReports } from "../resources/reports/saved/make-due.ts";
import { createStatisticsStore } from "../resources/statistics/store.ts";
import { rollUpStatistics } from "../resources/statistics/rollup.ts";
import { reportExpiries } from "../resources/tokens/expiry-notices.ts";
import { reportIdleTokens } from "../resources/tokens/idle-notices.ts";
import { rotateDueKeys } from "../resources/tokens/rotate-due.ts";
import { priceOptionDefaults } from "../snapshot/option-defaults.ts";
import { createLogWriter } from "../storage/log-rows.ts";
import { rollUpUsage } from "../resources/usage-data/rollup.ts";
import { VERSION } from "../version.ts";

const MINUTE_MS = 60_000;
/** All tokens are read, so not each minute. */
const EXPIRIES_MS = 5 * MINUTE_MS;
const IDLE_MS = 60 * MINUTE_MS;

interface ScheduleParts {
  readonly elector: Elector;
  readonly owners: PipelineDeps["upstream"]["owners"];
  readonly tasks: Tasks;
  readonly objects: Objects;
  readonly batches: Batches;
  readonly webhooks: Webhooks;
  readonly logExport: LogExport;
}

/** Creates everything that runs at intervals, on each replica or only on the leader. */
export function createAppSchedule(
  core: Core,
  { operations, jobs }: Management,
  { elector, owners, tasks, objects, batches, webhooks, logExport }: ScheduleParts,
): Runnable {
  const { env, storage, snapshots, identity, ledger } = core;
  const { database, logDatabase } = storage;
  const options = () => snapshots.current().options;
  return createSchedule({
    ...core,
    elector,
    raw: database.raw,
    jobs: [
      reaperJob(ledger),
      ...(env.updateTasks ? tasks.jobs : []),
      ...batches.jobs,
      ...webhooks.jobs,
      ...core.jobs,
      ...objects.jobs,
      ...jobs,
      { name: "budget-reaper", isLeaderOnly: true, everyMs: 30_000, run: () => core.budgets.reap() },
      ...noticeJobs(core, operations),
      ...channelJobs({
        ...core,
        database,
        testAll: () => operations.channels.testAll(),
        refreshBalances: () => operations.channels.refreshBalances(0),
        testMinutes: env.channelTestMinutes,
        balanceMinutes: env.channelUpdateMinutes,
      }),
      ...keyJobs(core, operations),
      ...logJobs(core, operations),
      {
        name: "usage-rollup",
        isLeaderOnly: true,
        everyMs: MINUTE_MS,
        run: paced(
          core.clock,
          () => options().DataExportInterval,
          (signal, confirm) =>
            rollUpUsage({ database, logs: logDatabase, isEnabled: () => options().DataExportEnabled, confirm }, signal),
        ),
      },
      statisticsJob(core),
      ...logExport.jobs,
      {
        name: "housekeeping",
        isLeaderOnly: true,
        everyMs: MINUTE_MS,
        run: () =>
          Promise.all([
            identity.sessions.prune(),
            identity.codes.prune(),
            operations.wallet.expireOrders(),
            owners.prune(),
          ]),
      },
    ],
  });
}

function logJobs(core: Core, { jobs }: Management["operations"]): ScheduledJob[] {
  const { logDatabase } = core.storage;
  const options = () => core.snapshots.current().options;
  const days = () => options().LogRetentionDays;
  const errorDays = () => options().ErrorLogRetentionDays;
  const retention = logRetentionJob({ ...core, logDatabase, days, errorDays, jobs });
  // ClickHouse makes the partition of a day with its first row.
  return logDatabase.kind === "clickhouse" ? [retention] : [logPartitionsJob({ ...core, logDatabase }), retention];
}

function keyJobs(core: Core, operations: Management["operations"]): ScheduledJob[] {
  return [disablesJob(core, operations), pausesJob(core, operations), pricesJob(core), rotationJob(core)];
}

function pausesJob({ clock }: Core, { channels, pauses }: Management["operations"]): ScheduledJob {
  const deps = { store: pauses, clock, test: channels.testOne };
  const run: ScheduledJob["run"] = (_signal, confirm) => runPauses(deps, confirm);
  return { name: "channel-pauses", isLeaderOnly: true, everyMs: 10_000, run };
}

function pricesJob({ storage, clock, snapshots }: Core): ScheduledJob {
  const { database, vault } = storage;
  const writeLog = createLogWriter(storage.isLogSeparate);
  const deps = { database, vault, clock, writeLog, announce: snapshots.announce, defaults: priceOptionDefaults() };
  const run: ScheduledJob["run"] = (_signal, confirm) => applyDuePrices(deps, confirm);
  return { name: "planned-prices", isLeaderOnly: true, everyMs: 10_000, run };
}

function disablesJob(core: Core, { channels }: Management["operations"]): ScheduledJob {
  const { database } = core.storage;
  const run = () => endDisables({ ...core, database, store: channels.store });
  return { name: "channel-disables", isLeaderOnly: true, everyMs: 10_000, run };
}

/** What tells people something at its time. */
function noticeJobs(core: Core, operations: Management["operations"]): ScheduledJob[] {
  return [
    forecastJob(core),
    budgetValuesJob(core),
    expiryJob(core),
    idleJob(core),
    reportJob(core, operations),
    ...gatewayJobs(core),
  ];
}

function budgetValuesJob({ storage: { database }, clock, budgets, snapshots }: Core): ScheduledJob {
  const run: ScheduledJob["run"] = async (_signal, confirm) => {
    const removed = await pruneBudgetValues({ database, clock, budgets }, confirm);
    if (removed > 0) await snapshots.announce("options");
    return removed;
  };
  return { name: "budget-values", isLeaderOnly: true, everyMs: 60 * MINUTE_MS, run };
}

/** What tells the operator about the gateway itself. */
function gatewayJobs({ env, storage, clock, identity, snapshots }: Core): ScheduledJob[] {
  const database = storage.database.raw;
  const feedUrl = () => snapshots.current().options.UpdateFeedUrl;
  const versions = versionCheckJob({ database, clock, outbound: identity.outbound, feedUrl, version: VERSION });
  return env.isEmbedded ? [versions] : [versions, leaderWatchJob({ database, clock })];
}

function forecastJob({ storage: { database }, clock }: Core): ScheduledJob {
  const deps = { database, clock, statistics: createStatisticsStore({ database }) };
  const run: ScheduledJob["run"] = (_signal, confirm) => reportForecasts(deps, confirm);
  return { name: "budget-forecasts", isLeaderOnly: true, everyMs: MINUTE_MS, run };
}

function expiryJob({ storage: { database }, clock }: Core): ScheduledJob {
  const run: ScheduledJob["run"] = (signal, confirm) => reportExpiries({ database, clock }, signal, confirm);
  return { name: "token-expiries", isLeaderOnly: true, everyMs: EXPIRIES_MS, run };
}

function idleJob({ storage: { database }, clock, snapshots }: Core): ScheduledJob {
  const run: ScheduledJob["run"] = (signal, confirm) =>
    reportIdleTokens({ database, clock, days: snapshots.current().options.TokenIdleDays }, signal, confirm);
  return { name: "token-idle", isLeaderOnly: true, everyMs: IDLE_MS, run };
}

function reportJob({ storage: { database }, log }: Core, { reports }: Management["operations"]): ScheduledJob {
  const run: ScheduledJob["run"] = (signal, confirm) => makeDueReports({ ...reports, database, log }, signal, confirm);
  return { name: "reports", isLeaderOnly: true, everyMs: MINUTE_MS, run };
}

function rotationJob({ storage, snapshots, clock, tokens }: Core): ScheduledJob {
  const deps = { ...storage, clock, tokens, announce: snapshots.announce };
  return {
    name: "key-rotate",
    isLeaderOnly: true,
    everyMs: MINUTE_MS,
    run: (signal, confirm) => rotateDueKeys(deps, signal, confirm),
  };
}

function statisticsJob({ storage, clock, snapshots }: Core): ScheduledJob {
  const { database, logDatabase: logs } = storage;
  const readBounds = () => {
    const { TagValuesMost: values, EndUsersMost: endUsers } = snapshots.current().options;
    return { values, endUsers };
  };
  return {
    name: "statistics-rollup",
    isLeaderOnly: true,
    everyMs: MINUTE_MS,
    run: (signal, confirm) => rollUpStatistics({ database, logs, clock, confirm, bounds: readBounds() }, signal),
  };
}
