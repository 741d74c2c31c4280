import { seconds, type Clock } from "../lib/clock.ts";
import type { Logger } from "../observability/log.ts";
import type { Database } from "../storage/database.ts";
import { isDenied } from "../storage/errors.ts";
import { daysBetween, makePartitions, readPartitions } from "../storage/partitions/partitions.ts";
import type { ScheduledJob } from "./schedule.ts";

const DAY = 86_400;
const EVERY_MS = 600_000;
/** Number of days that are prepared in advance, so that a failure for some days does not matter. */
const DAYS_AHEAD = 3;
/**
 * Number of partitions above which they cover longer periods, so that a log that is stored forever remains fast. For a
 * search without a period, PostgreSQL locks every partition and its indexes in a table of limited size.
 */
const MAX_DAILY: Readonly<Record<Database["kind"], number>> = { mysql: 400, postgres: 100, sqlite: 0 };
const LONG_DAYS = 30;
/** Maximum rows to move while writers wait: about a second. */
const MAX_MOVED = 50_000;

export interface LogPartitionsDeps {
  /** The database that contains `logs`. */
  readonly logDatabase: Database;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
}

/** Creates the partitions of the next days; a log without partitions is left unchanged. */
export function logPartitionsJob(deps: LogPartitionsDeps): ScheduledJob {
  let isSaid = false;
  return {
    name: "log-partitions",
    everyMs: EVERY_MS,
    isLeaderOnly: true,
    async run(_, confirm) {
      try {
        await makeNextPartitions(deps, confirm);
      } catch (error) {
        if (!isDenied(error)) throw error;
        if (!isSaid)
          deps.log.warn(
            "new days get no partition of the log: let the account of the log database create and alter tables, or run `fairway-gateway logs partition` each month with one that may",
          );
        isSaid = true;
      }
    },
  };
}

export async function makeNextPartitions(
  { logDatabase, clock }: Omit<LogPartitionsDeps, "log">,
  confirm: () => Promise<void>,
): Promise<void> {
  const known = await readPartitions(logDatabase);
  if (known.length === 0) return;
  const last = known.findLast(({ before }) => before !== Infinity)?.before;
  const now = seconds(clock);
  const step = known.length < MAX_DAILY[logDatabase.kind] ? DAY : LONG_DAYS * DAY;
  // Past days without partitions share one with today.
  const ends = daysBetween(Math.max(last ?? 0, now), now + DAYS_AHEAD * DAY, step);
  if (ends.length === 0) return;
  await confirm();
  await makePartitions(logDatabase, { ends, maxMoved: MAX_MOVED });
}
