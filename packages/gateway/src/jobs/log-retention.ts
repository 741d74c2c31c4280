import { LOG_TYPE } from "@fairway/wire";
import { seconds, type Clock } from "../lib/clock.ts";
import type { Database } from "../storage/database.ts";
import { countBatches, newestLogId, removeLogs, type Removal } from "../storage/log-removal.ts";
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
  /** 0 = the schedule. */
  readonly startedBy: number;
  readonly run: (control: JobControl) => Promise<void>;
}

export interface LogRetentionDeps {
  /** Holds `logs`. */
  readonly logDatabase: Database;
  readonly clock: Clock;
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
/** Fewer batches are routine and not shown as a job. */
const TRACKED_FROM = 5;

export function logRetentionJob(deps: LogRetentionDeps): ScheduledJob {
  return {
    name: NAME,
    everyMs: EVERY_MS,
    isLeaderOnly: true,
    run: (signal, confirm) => removeOldLogs(deps, { signal, confirm }),
  };
}

/** Shows whether this process still leads. */
interface Lease {
  readonly signal: AbortSignal;
  /** Throws when another replica leads. */
  readonly confirm: () => Promise<void>;
}

/**
 * Deletes rows older than the option allows, oldest first. A longer backlog runs as a job with progress.
 */
export async function removeOldLogs(deps: LogRetentionDeps, lease: Lease): Promise<void> {
  await removeClass(deps, { days: deps.days() }, lease);
  await removeClass(deps, { days: deps.errorDays(), type: LOG_TYPE.error }, lease);
}

interface LogClass {
  readonly days: number;
  /** Undefined = every row. */
  readonly type?: number;
}

async function removeClass(deps: LogRetentionDeps, { days, type }: LogClass, lease: Lease): Promise<void> {
  const { logDatabase, clock, jobs } = deps;
  const { signal } = lease;
  if (days === 0 || signal.aborted) return;
  const old = { before: seconds(clock) - days * DAY_SECONDS, type };
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

/** Pauses after each batch for as long as the batch took, so that it uses half of the time at most. */
async function remove(
  { logDatabase }: LogRetentionDeps,
  old: Pick<Removal, "before" | "type">,
  { signal, confirm, onBatch }: Removing,
): Promise<void> {
  await confirm();
  let startedAt = performance.now();
  for await (const rows of removeLogs(logDatabase, { ...old, below: await newestLogId(logDatabase.db) })) {
    onBatch(rows);
    if (signal.aborted) return;
    await new Promise((resolve) => setTimeout(resolve, performance.now() - startedAt));
    await confirm();
    startedAt = performance.now();
  }
}
