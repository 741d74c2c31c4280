import { seconds, type Clock } from "../lib/clock.ts";
import type { Database } from "../storage/database.ts";
import type { ScheduledJob } from "./schedule.ts";

export interface LogRetentionDeps {
  /** Holds `logs`. */
  readonly logDatabase: Database;
  readonly clock: Clock;
  /** Days that a row lives; 0 = for ever. */
  readonly days: () => number;
}

const DAY_SECONDS = 86_400;
const EVERY_MS = 60_000;
/** Rows of one statement: nothing waits long for its locks, and replication follows. */
const ROWS_AT_ONCE = 2_000;
/** Rows of one run; what is left goes a minute later. */
const ROWS_PER_RUN = 200_000;

export function logRetentionJob(deps: LogRetentionDeps): ScheduledJob {
  return {
    name: "log-retention",
    everyMs: EVERY_MS,
    isLeaderOnly: true,
    run: (signal) => removeOldLogs(deps, signal),
  };
}

/** Deletes rows that are older than the option allows, oldest first; answers how many went. */
export async function removeOldLogs(
  { logDatabase, clock, days }: LogRetentionDeps,
  signal: AbortSignal,
): Promise<number> {
  if (days() === 0) return 0;
  const oldest = seconds(clock) - days() * DAY_SECONDS;
  let removed = 0;
  while (removed < ROWS_PER_RUN && !signal.aborted) {
    const gone = await removeSome(logDatabase, oldest);
    removed += gone;
    if (gone < ROWS_AT_ONCE) break;
  }
  return removed;
}

/** The newest row stays, however old it is: an id must never be given twice. */
async function removeSome({ db }: Database, before: number): Promise<number> {
  const newest = await db
    .selectFrom("logs")
    .select((eb) => eb.fn.max("id").as("id"))
    .executeTakeFirst();
  const rows = await db
    .selectFrom("logs")
    .select("id")
    .where("created_at", "<", before)
    .where("id", "<", Number(newest?.id ?? 0))
    .orderBy("created_at")
    .limit(ROWS_AT_ONCE)
    .execute();
  if (rows.length === 0) return 0;
  const ids = rows.map(({ id }) => id);
  const { numDeletedRows } = await db.deleteFrom("logs").where("id", "in", ids).executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
