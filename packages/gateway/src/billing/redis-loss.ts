import type { RedisClient } from "../redis/client.ts";
import type { Place } from "./journal-segment.ts";

/** Notices that Redis does not have any more what it acknowledged to this process: its streams count backwards. */
export interface LossCheck {
  /** Redis said that it has this charge. */
  acknowledged(place: Place): void;
  /** After a reconnection. Answers the shards that fell back. */
  lostShards(): Promise<number[]>;
  /** The streams begin anew. */
  forget(): void;
}

const TIMEOUT_MS = 5_000;

export function createLossCheck(redis: RedisClient): LossCheck {
  const last = new Map<number, string>();
  return {
    acknowledged({ shard, id }) {
      const known = last.get(shard);
      if (known === undefined || compareIds(id, known) > 0) last.set(shard, id);
    },
    async lostShards() {
      const known = [...last];
      const calls = known.map(([shard]) => ({ command: "xinfo", args: ["STREAM", redis.keys.charges(shard)] }));
      const answers = calls.length === 0 ? [] : await redis.send(calls, TIMEOUT_MS);
      return known.flatMap(([shard, id], at) => (compareIds(lastId(answers[at]), id) < 0 ? [shard] : []));
    },
    forget: () => last.clear(),
  };
}

/** A stream that is not there counts from nothing. */
function lastId(info: unknown): string {
  if (info instanceof Error) {
    if (info.message.includes("no such key")) return "0-0";
    throw info;
  }
  const fields = info as readonly unknown[];
  return String(fields[fields.indexOf("last-generated-id") + 1]);
}

/** Below zero when `a` came before `b`. */
export function compareIds(a: string, b: string): number {
  const [aMs = 0, aAt = 0] = a.split("-").map(Number);
  const [bMs = 0, bAt = 0] = b.split("-").map(Number);
  return aMs - bMs || aAt - bAt;
}
