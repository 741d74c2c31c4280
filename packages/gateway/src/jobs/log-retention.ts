import { LOG_TYPE } from "@fairway/wire";
import { seconds, type Clock } from "../lib/clock.ts";
import { dropDay, readDays } from "../storage/clickhouse/removal.ts";
import type { LogDatabase } from "../storage/log-database.ts";
import type { Logger } from "../observability/log.ts";
import { isDenied } from "../storage/errors.ts";
import { countBatches, removeLogs, type Removal } from "../storage/log-removal.ts";
import { newestLogId, newestTime } from "../storage/newest-log.ts";
import { dropOldest, readPartitions, type Partition } from "../storage/partitions/partitions.ts";
import type { ScheduledJob } from "./schedule.ts";

interface JobControl {
  readonly signal: AbortSignal;
  confirm(): Promise<void>;
  total(steps: number): void;
  step(isOk: boolean): void;
  message(text: string): void;
}

interface TrackedJob {
  readonly name: string;
  /** The user that started it; 0 = the schedule. */
  readonly startedBy: number;
  readonly run: (control: JobControl) => Promise<void>;
}

export interface LogRetentionDeps {
  /** The database that contains `logs`. */
  readonly logDatabase: LogDatabase;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn">;
  /** Whether the database account may drop partitions, as far as known; if it may not, rows are deleted. */
  readonly rights?: { mayDrop: boolean };
  /** Retention in days; 0 = forever. */
  readonly days: () => number;
  /** Retention of failed calls in days; 0 = like other rows. */
  readonly errorDays: () => number;
  /** Runs long work as a job with progress; undefined while a job of that name is running. */
  readonly jobs: { run(work: TrackedJob): Promise<{ readonly finished: Promise<void> } | undefined> };
}

const NAME = "log-retention";
const DAY_SECONDS = 86_400;
const EVERY_MS = 60_000;
/** Removals with fewer batches are routine and not shown as a job. */
const TRACKED_FROM = 5;

export function logRetentionJob(deps: LogRetentionDeps): ScheduledJob {
  const rights = { mayDrop: true };
  return {
    name: NAME,
    everyMs: EVERY_MS,
    isLeaderOnly: true,
    run: (signal, confirm) => removeOldLogs({ ...deps, rights }, { signal, confirm }),
  };
}

/** Shows whether this process still leads. */
interface Lease {
  readonly signal: AbortSignal;
  /** Throws when another replica leads. */
  readonly confirm: () => Promise<void>;
}

/**
 * Drops partitions whose last row is older than the option allows, and deletes older rows elsewhere, oldest first. A
 * longer backlog of rows is removed in a job with progress.
 */
export async function removeOldLogs(deps: LogRetentionDeps, lease: Lease): Promise<void> {
  const days = deps.days();
  const { rights = { mayDrop: true } } = deps;
  if (days > 0 && rights.mayDrop)
    rights.mayDrop = await dropPartitions(deps, seconds(deps.clock) - days * DAY_SECONDS, lease);
  const spared = rights.mayDrop ? calculatePartitionSeconds(await listPartitions(deps.logDatabase)) : 0;
  await removeClass(deps, { days, spared }, lease);
  await removeClass(deps, { days: deps.errorDays(), type: LOG_TYPE.error }, lease);
}

/**
 * Drops partitions; returns false if the account may not change tables.
 * @param before epoch seconds
 */
async function dropPartitions(
  { logDatabase, log }: LogRetentionDeps,
  before: number,
  { signal, confirm }: Lease,
): Promise<boolean> {
  const newest = await newestTime(logDatabase);
  for (const { name, before: end } of await listPartitions(logDatabase)) {
    // The newest row is not removed, so that its id is not reused.
    if (end > before || end > newest || signal.aborted) return true;
    await confirm();
    try {
      if (logDatabase.kind === "clickhouse") await dropDay(logDatabase, { name, before: end });
      else await dropOldest(logDatabase);
    } catch (error) {
      if (!isDenied(error)) throw error;
      log.warn(
        "old log rows are deleted one by one: let the account of the log database alter and drop tables, so that it drops their partition",
        { partition: name },
      );
      return false;
    }
    log.info("a partition of old log rows was dropped", { partition: name });
  }
  return true;
}

function listPartitions(logs: LogDatabase): Promise<Partition[]> {
  return logs.kind === "clickhouse" ? readDays(logs) : readPartitions(logs);
}

/**
 * Returns the seconds for which the oldest partition retains rows beyond the option, because its rows are dropped
 * together.
 */
function calculatePartitionSeconds([oldest, next]: readonly Partition[]): number {
  const length = oldest && next ? next.before - oldest.before : 0;
  return Number.isFinite(length) ? length : 0;
}

interface LogClass {
  readonly days: number;
  /** Rows that are older by at most this many seconds are left for the drop of their partition. */
  readonly spared?: number;
  /** Undefined = every row. */
  readonly type?: number;
}

async function removeClass(deps: LogRetentionDeps, { days, type, spared = 0 }: LogClass, lease: Lease): Promise<void> {
  const { logDatabase, clock, jobs } = deps;
  const { signal } = lease;
  if (days === 0 || signal.aborted) return;
  const oldest = seconds(clock) - days * DAY_SECONDS - spared;
  // Each delete of ClickHouse is a change of the table, so a day is deleted as a whole.
  const before = logDatabase.kind === "clickhouse" ? oldest - (oldest % DAY_SECONDS) : oldest;
  const old = { before, type };
  const batches = await countBatches(logDatabase, old.before, type);
  if (batches === 0) return;
  if (batches < TRACKED_FROM) return remove(deps, old, { ...lease, onBatch: () => {} });
  const job = await jobs.run({
    name: NAME,
    startedBy: 0,
    async run(control) {
      control.total(batches);
      let removed = 0;
      const onBatch = (rows: number) => {
        removed += rows;
        control.step(true);
        control.message(
          `${removed} log rows of before ${new Date(old.before * 1000).toISOString().slice(0, 10)} deleted`,
        );
      };
      await remove(deps, old, {
        signal: AbortSignal.any([signal, control.signal]),
        // No other leader can begin the same job while it is running.
        confirm: () => control.confirm(),
        onBatch,
      });
    },
  });
  await job?.finished;
}

interface Removing extends Lease {
  readonly onBatch: (rows: number) => void;
}

/** Removes rows, pausing after each batch for as long as the batch took, so that it runs at most half of the time. */
async function remove(
  { logDatabase }: LogRetentionDeps,
  old: Pick<Removal, "before" | "type">,
  { signal, confirm, onBatch }: Removing,
): Promise<void> {
  await confirm();
  let startedAt = performance.now();
  for await (const rows of removeLogs(logDatabase, { ...old, below: await newestLogId(logDatabase) })) {
    onBatch(rows);
    if (signal.aborted) return;
    await new Promise((resolve) => setTimeout(resolve, performance.now() - startedAt));
    await confirm();
    startedAt = performance.now();
  }
}
