import { LOG_TYPE } from "@fairway/wire";
import { seconds, type Clock } from "../lib/clock.ts";
import type { Database } from "../storage/database.ts";
import { countPortions, newestLogId, removeLogs, type Removal } from "../storage/log-removal.ts";
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
  /** Days that a row lives; 0 = for ever. */
  readonly days: () => number;
  /** Days that a row of a failed call lives; 0 = as long as others. */
  readonly errorDays: () => number;
  /** Where long work shows how far it is; undefined while work of that name runs somewhere. */
  readonly jobs: { run(work: TrackedJob): Promise<{ readonly finished: Promise<void> } | undefined> };
}

const NAME = "log-retention";
const DAY_SECONDS = 86_400;
const EVERY_MS = 60_000;
/** Fewer portions are the work of every minute, and not worth a row among the jobs. */
const TRACKED_FROM = 5;

export function logRetentionJob(deps: LogRetentionDeps): ScheduledJob {
  return {
    name: NAME,
    everyMs: EVERY_MS,
    isLeaderOnly: true,
    run: (signal, confirm) => removeOldLogs(deps, { signal, confirm }),
  };
}

/** What says that the work is still this process's. */
interface Lease {
  readonly signal: AbortSignal;
  /** Throws when another replica leads. */
  readonly confirm: () => Promise<void>;
}

/** Deletes rows that are older than the option allows, oldest first. A longer backlog is a job that shows its progress. */
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
  const portions = await countPortions(logDatabase, old.before, type);
  if (portions === 0) return;
  if (portions < TRACKED_FROM) return remove(deps, old, { ...lease, onPortion: () => {} });
  const job = await jobs.run({
    name: NAME,
    startedBy: 0,
    async run(control) {
      control.total(portions);
      let removed = 0;
      const onPortion = (rows: number) => {
        removed += rows;
        control.step(true);
        control.message(
          `${removed} log rows of before ${new Date(old.before * 1000).toISOString().slice(0, 10)} deleted`,
        );
      };
      await remove(deps, old, {
        signal: AbortSignal.any([signal, control.signal]),
        // Whoever leads by now cannot begin the same job.
        confirm: () => control.confirm(),
        onPortion,
      });
    },
  });
  await job?.finished;
}

interface Removing extends Lease {
  readonly onPortion: (rows: number) => void;
}

/** Half of the time belongs to others: after each portion the database has as long as that took. */
async function remove(
  { logDatabase }: LogRetentionDeps,
  old: Pick<Removal, "before" | "type">,
  { signal, confirm, onPortion }: Removing,
): Promise<void> {
  await confirm();
  let startedAt = performance.now();
  for await (const rows of removeLogs(logDatabase, { ...old, below: await newestLogId(logDatabase.db) })) {
    onPortion(rows);
    if (signal.aborted) return;
    await new Promise((resolve) => setTimeout(resolve, performance.now() - startedAt));
    await confirm();
    startedAt = performance.now();
  }
}
