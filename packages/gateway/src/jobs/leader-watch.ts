import { recordRawEvent } from "../events/record-event.ts";
import { seconds, type Clock } from "../lib/clock.ts";
import { isSame, readLease, type LeaseRow } from "../storage/leases.ts";
import type { RawDatabase } from "../storage/engines/raw.ts";
import { watchLastingState } from "./lasting-state.ts";
import type { ScheduledJob } from "./schedule.ts";

export interface LeaderWatchDeps {
  readonly database: RawDatabase;
  readonly clock: Clock;
  readonly elapsed?: () => number;
}

/** Several heartbeats of a leader, so that its row changes between two checks. */
const LOOK_MS = 10_000;
/** Four times as long as another replica needs to take over. */
const MISSING_MS = 60_000;

/**
 * Records that no replica leads, once for the term that ended; the event is sent when a replica leads again, which
 * sends. Runs on every replica that shares its database.
 */
export function leaderWatchJob({ database, clock, elapsed }: LeaderWatchDeps): ScheduledJob {
  let seen: LeaseRow | undefined;
  const look = watchLastingState({
    afterMs: MISSING_MS,
    elapsed,
    async look() {
      const row = await readLease(database);
      const isRenewed = row !== undefined && row.holder !== "" && !isSame(seen, row);
      seen = row;
      return isRenewed ? undefined : { term: row?.term ?? 0 };
    },
    report({ term }, forMs) {
      const type = "leader.missing";
      const data = { since: seconds(clock) - Math.round(forMs / 1000) };
      return recordRawEvent(database, database.kind, { type, atMs: clock.now(), dedupKey: `${type}:${term}`, data });
    },
  });
  return { name: "leader-watch", everyMs: LOOK_MS, isLeaderOnly: false, run: look };
}
