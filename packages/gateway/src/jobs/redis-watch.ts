import { buildSlotKey, recordRawEvent } from "../events/record-event.ts";
import { seconds, type Clock } from "../lib/clock.ts";
import { describeError } from "../observability/reason.ts";
import type { RawDatabase } from "../storage/engines/raw.ts";
import { watchLastingState } from "./lasting-state.ts";
import type { ScheduledJob } from "./schedule.ts";

export interface RedisWatchDeps {
  /** Rejects while Redis does not answer, and states what that means for requests. */
  readonly check: () => Promise<void>;
  readonly database: RawDatabase;
  readonly clock: Clock;
  /** Name of this replica. */
  readonly instance: string;
  readonly elapsed?: () => number;
}

const LOOK_MS = 10_000;
/** A server that restarts, or a replica that takes over, is back before. */
const LOST_MS = 20_000;
/** Replicas that lose Redis together write one event. */
const SLOT_MS = 600_000;

/** Records that this replica has lost Redis, once until it answers again. */
export function redisWatchJob({ check, database, clock, instance, elapsed }: RedisWatchDeps): ScheduledJob {
  const look = watchLastingState({
    afterMs: LOST_MS,
    elapsed,
    look: () => check().then(() => undefined, describeError),
    report(reason, forMs) {
      const type = "redis.lost";
      const atMs = clock.now();
      const dedupKey = buildSlotKey(type, "main", { atMs, ms: SLOT_MS });
      const data = { instance, since: seconds(clock) - Math.round(forMs / 1000), reason };
      return recordRawEvent(database, database.kind, { type, atMs, dedupKey, data });
    },
  });
  return { name: "redis-watch", everyMs: LOOK_MS, isLeaderOnly: false, run: look };
}
