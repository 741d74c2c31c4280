import { buildSlotKey, recordRawEvent } from "../events/record-event.ts";
import { seconds, type Clock } from "../lib/clock.ts";
import type { RawDatabase } from "../storage/engines/raw.ts";
import { watchLastingState } from "./lasting-state.ts";
import type { ScheduledJob } from "./schedule.ts";

export interface BacklogWatchDeps {
  /** Charges that wait for the database. */
  readonly backlog: () => number;
  readonly database: RawDatabase;
  readonly clock: Clock;
  readonly mostWaiting?: number;
  readonly elapsed?: () => number;
}

const LOOK_MS = 10_000;
/** As in the alert for it. */
const MOST_WAITING = 1_000;
const LASTING_MS = 300_000;
/** Replicas see the same charges wait. */
const SLOT_MS = 600_000;

/**
 * Records that many charges have waited for the database, once until they are fewer. While the database is away the
 * event waits too.
 */
export function backlogWatchJob({
  backlog,
  database,
  clock,
  mostWaiting = MOST_WAITING,
  elapsed,
}: BacklogWatchDeps): ScheduledJob {
  const look = watchLastingState({
    afterMs: LASTING_MS,
    elapsed,
    look() {
      const waiting = backlog();
      return waiting > mostWaiting ? waiting : undefined;
    },
    report(waiting, forMs) {
      const type = "settlement.backlog";
      const atMs = clock.now();
      const dedupKey = buildSlotKey(type, "charges", { atMs, ms: SLOT_MS });
      const data = { waiting, since: seconds(clock) - Math.round(forMs / 1000) };
      return recordRawEvent(database, database.kind, { type, atMs, dedupKey, data });
    },
  });
  return { name: "backlog-watch", everyMs: LOOK_MS, isLeaderOnly: false, run: look };
}
