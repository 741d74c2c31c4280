import { seconds, type Clock } from "../lib/clock.ts";
import type { Logger } from "../observability/log.ts";
import type { Database } from "../storage/database.ts";
import { isDenied } from "../storage/errors.ts";
import { daysBetween, makePartitions, readPartitions } from "../storage/partitions/partitions.ts";
import type { ScheduledJob } from "./schedule.ts";

const DAY = 86_400;
const EVERY_MS = 600_000;
/** Days that are ready before they begin, so that a failure of some days does not matter. */
const DAYS_AHEAD = 3;
/**
 * From here on partitions are longer, so that a log that is stored for ever stays quick. PostgreSQL locks every partition
 * and its indexes for a search without a period, in a table of limited size.
 */
const MAX_DAILY: Readonly<Record<Database["kind"], number>> = { mysql: 400, postgres: 100, sqlite: 0 };
const LONG_DAYS = 30;
/** Moved while writers wait: a second. */
const MAX_MOVED = 50_000;

export interface LogPartitionsDeps {
  /** Holds `logs`. */
  readonly logDatabase: Database;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
}

/** Makes the partitions of the next days; a log of one table stays as it is. */
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
  // Days without partitions that are over share one with today.
  const ends = daysBetween(Math.max(last ?? 0, now), now + DAYS_AHEAD * DAY, step);
  if (ends.length === 0) return;
  await confirm();
  await makePartitions(logDatabase, { ends, maxMoved: MAX_MOVED });
}
