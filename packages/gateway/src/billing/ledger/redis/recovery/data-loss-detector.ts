import { RedisUnavailable, type RedisClient, type RedisServer } from "../../../../redis/client.ts";
import type { RecordLocation } from "../../journal/segment.ts";

/**
 * Detects that Redis may have lost data that it acknowledged to this process: it is a different server than before, or
 * the ids of its streams went back. In a cluster, a primary was replaced or restarted; a primary that joins receives
 * slots with their keys.
 */
export interface DataLossDetector {
  /** Called when Redis has acknowledged this charge. */
  acknowledged(place: RecordLocation): void;
  /** Called at the start and after each reconnection. Returns why balances can no longer be trusted, or undefined. */
  check(): Promise<string | undefined>;
  /** Called when the streams start from zero. */
  forget(): void;
}

const TIMEOUT_MS = 5_000;

export function createDataLossDetector(redis: RedisClient): DataLossDetector {
  const last = new Map<number, string>();
  let servers: ReadonlySet<string> | undefined;

  const isAnother = async () => {
    const ids = await Promise.all(redis.servers().map(readRunId));
    const now = new Set(ids.filter((id) => id !== undefined));
    // The run ids are unknown if INFO is not permitted.
    if (now.size === 0) return false;
    const before = servers ?? now;
    servers = now;
    return !now.isSubsetOf(before) && !before.isSubsetOf(now);
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
      // The stream ids cannot show the loss when newer charges of other processes follow it.
      if (await isAnother()) return "another Redis answers than before: its last moments may be lost";
      const lost = await lostShards();
      return lost > 0 ? `Redis lost charges of ${lost} shards that it had acknowledged` : undefined;
    },
    forget: () => last.clear(),
  };
}

/** Temporary states of a server. */
const NOT_NOW = /^(?:BUSY|LOADING|MASTERDOWN)\b/;

/** Returns the id that a server generates at each start; undefined if INFO is not permitted. */
async function readRunId({ sendOne }: RedisServer): Promise<string | undefined> {
  try {
    const info = String(await sendOne({ command: "info", args: ["server"] }, TIMEOUT_MS));
    return /^run_id:(\w+)/m.exec(info)?.[1];
  } catch (error) {
    if (error instanceof RedisUnavailable || (error instanceof Error && NOT_NOW.test(error.message))) throw error;
    return undefined;
  }
}

/** Returns the last id of a stream. A missing stream counts as empty. */
function lastId(info: unknown): string {
  if (info instanceof Error) {
    if (info.message.includes("no such key")) return "0-0";
    throw info;
  }
  const fields = info as readonly unknown[];
  return String(fields[fields.indexOf("last-generated-id") + 1]);
}

/** Negative if `a` is older than `b`. */
export function compareIds(a: string, b: string): number {
  if (a.length === b.length && b[a.indexOf("-")] === "-") return a < b ? -1 : Number(a > b);
  const [aMs = 0, aAt = 0] = a.split("-").map(Number);
  const [bMs = 0, bAt = 0] = b.split("-").map(Number);
  return aMs - bMs || aAt - bAt;
}
