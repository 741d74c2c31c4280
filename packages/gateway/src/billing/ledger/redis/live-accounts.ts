import type { RedisClient, RedisServer } from "../../../redis/client.ts";
import { FORGET } from "./scripts.ts";

const SCAN_COUNT = 500;
const AT_ONCE = 200;
const TIMEOUT_MS = 10_000;

/** An account in Redis. */
export interface LiveAccount {
  readonly key: string;
  /** `u12` or `t34`. */
  readonly name: string;
  readonly shard: number;
}

/** Yields all accounts, grouped by shard. While a slot moves, its accounts may be missing or appear twice. */
export async function* liveAccounts(redis: RedisClient): AsyncGenerator<LiveAccount[]> {
  for (const server of redis.servers()) yield* scanLiveAccounts(redis, server);
}

async function* scanLiveAccounts({ keys }: RedisClient, { sendOne }: RedisServer): AsyncGenerator<LiveAccount[]> {
  const start = keys.user(0);
  const prefix = start.slice(0, start.indexOf("{"));
  const match = `${prefix.replace(/[?*[\]\\^]/g, "\\$&")}{s[0-9][0-9]}[ut]*`;
  let cursor = "0";
  do {
    const args = [cursor, "MATCH", match, "COUNT", SCAN_COUNT];
    const [next, found] = (await sendOne({ command: "scan", args }, TIMEOUT_MS)) as [string, string[]];
    cursor = next;
    const accounts = found.flatMap((key) => {
      const [, shard, name] = /\{s(\d\d)\}([ut]\d+)$/.exec(key) ?? [];
      return shard === undefined || name === undefined ? [] : [{ key, name, shard: Number(shard) }];
    });
    for (const ofShard of Map.groupBy(accounts, ({ shard }) => shard).values()) {
      for (let from = 0; from < ofShard.length; from += AT_ONCE) yield ofShard.slice(from, from + AT_ONCE);
    }
  } while (cursor !== "0");
}

/** Removes accounts that earlier calls saw unchanged for this long. They are loaded again at their next use. */
export async function forgetIdle(redis: RedisClient, idleSeconds: number): Promise<number> {
  let forgotten = 0;
  for await (const some of liveAccounts(redis)) {
    const calls = some.map(({ key, shard }) => ({
      script: FORGET,
      keys: [redis.keys.epoch(shard), key],
      args: [idleSeconds],
    }));
    forgotten += (await redis.send(calls, TIMEOUT_MS)).filter((answer) => answer === 1).length;
  }
  return forgotten;
}
