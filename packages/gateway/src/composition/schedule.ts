import type { Batches } from "./batches.ts";
import type { Core } from "./core.ts";
import type { LogExport } from "./log-export.ts";
import type { Management } from "./management.ts";
import type { Objects } from "./objects.ts";
import type { Tasks } from "./tasks.ts";
import { channelJobs } from "../jobs/channel-jobs.ts";
import type { Elector } from "../jobs/leader.ts";
import { logPartitionsJob } from "../jobs/log-partitions.ts";
import { logRetentionJob } from "../jobs/log-retention.ts";
import { createSchedule, paced, reaperJob, type ScheduledJob } from "../jobs/schedule.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import type { PipelineDeps } from "../relay/pipeline/enter-model.ts";
import { endDisables } from "../resources/channels/status-info.ts";
import { rollUpStatistics } from "../resources/statistics/rollup.ts";
import { rollUpUsage } from "../resources/usage-data/rollup.ts";

const MINUTE_MS = 60_000;

interface ScheduleParts {
  readonly elector: Elector;
  readonly owners: PipelineDeps["owners"];
  readonly tasks: Tasks;
  readonly objects: Objects;
  readonly batches: Batches;
  readonly logExport: LogExport;
}

/** Creates everything that runs at intervals, on each replica or only on the leader. */
export function createAppSchedule(
  core: Core,
  { operations, jobs }: Management,
  { elector, owners, tasks, objects, batches, logExport }: ScheduleParts,
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
      ...core.jobs,
      ...objects.jobs,
      ...jobs,
      { name: "budget-reaper", isLeaderOnly: true, everyMs: 30_000, run: () => core.budgets.reap() },
      ...channelJobs({
        ...core,
        database,
        testAll: () => operations.channels.testAll(),
        refreshBalances: () => operations.channels.refreshBalances(0),
        testMinutes: env.channelTestMinutes,
        balanceMinutes: env.channelUpdateMinutes,
      }),
      disablesJob(core, operations),
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
  return [logPartitionsJob({ ...core, logDatabase }), logRetentionJob({ ...core, logDatabase, days, errorDays, jobs })];
}

function disablesJob(core: Core, { channels }: Management["operations"]): ScheduledJob {
  const { database } = core.storage;
  const run = () => endDisables({ ...core, database, store: channels.store });
  return { name: "channel-disables", isLeaderOnly: true, everyMs: 10_000, run };
}

function statisticsJob({ storage, clock }: Core): ScheduledJob {
  const { database, logDatabase: logs } = storage;
  return {
    name: "statistics-rollup",
    isLeaderOnly: true,
    everyMs: MINUTE_MS,
    run: (signal, confirm) => rollUpStatistics({ database, logs, clock, confirm }, signal),
  };
}
