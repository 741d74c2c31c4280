import { RedisUnavailable, type RedisClient } from "../../../../redis/client.ts";
import type { RecordLocation } from "../journal/segment.ts";

/**
 * Notices that Redis may not have any more what it acknowledged to this process: it is another server than before, or
 * its streams count backwards.
 */
export interface DataLossDetector {
  /** Redis said that it has this charge. */
  acknowledged(place: RecordLocation): void;
  /** At the start and after each reconnection. Answers why balances can be trusted no longer; undefined while they can. */
  check(): Promise<string | undefined>;
  /** The streams begin anew. */
  forget(): void;
}

const TIMEOUT_MS = 5_000;

export function createDataLossDetector(redis: RedisClient): DataLossDetector {
  const last = new Map<number, string>();
  let server: string | undefined;

  const isAnother = async () => {
    const before = server;
    const now = await serverOf(redis);
    server = now ?? before;
    return before !== undefined && server !== before;
  };
  const lostShards = async () => {
    const known = [...last];
    const calls = known.map(([shard]) => ({ command: "xinfo", args: ["STREAM", redis.keys.charges(shard)] }));
    const answers = calls.length === 0 ? [] : await redis.send(calls, TIMEOUT_MS);
    return known.filter(([, id], at) => compareIds(lastId(answers[at]), id) < 0).length;
  };

  return {
    acknowledged({ shard, id }) {
      const known = last.get(shard);
      if (known === undefined || compareIds(id, known) > 0) last.set(shard, id);
    },
    async check() {
      // What a replica had not got yet, or a file not written, newer charges of other processes may hide.
      if (await isAnother()) return "another Redis answers than before: its last moments may be lost";
      const lost = await lostShards();
      return lost > 0 ? `Redis lost charges of ${lost} shards that it had acknowledged` : undefined;
    },
    forget: () => last.clear(),
  };
}

/** A server that says so answers in a moment. */
const NOT_NOW = /^(?:BUSY|LOADING|MASTERDOWN)\b/;

/** The name that a server gives itself anew with each start; undefined where INFO is hidden. */
async function serverOf(redis: RedisClient): Promise<string | undefined> {
  try {
    const info = String(await redis.one({ command: "info", args: ["server"] }, TIMEOUT_MS));
    return /^run_id:(\w+)/m.exec(info)?.[1];
  } catch (error) {
    if (error instanceof RedisUnavailable || (error instanceof Error && NOT_NOW.test(error.message))) throw error;
    return undefined;
  }
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
  if (a.length === b.length && b[a.indexOf("-")] === "-") return a < b ? -1 : Number(a > b);
  const [aMs = 0, aAt = 0] = a.split("-").map(Number);
  const [bMs = 0, bAt = 0] = b.split("-").map(Number);
  return aMs - bMs || aAt - bAt;
}
