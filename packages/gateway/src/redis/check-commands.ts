import { randomUUID } from "node:crypto";
import type { RedisClient } from "./client.ts";
import { readLua } from "./read-lua.ts";
import { script, type Call } from "./script.ts";
import { within } from "./turn-pipeline.ts";

const TIMEOUT_MS = 5_000;
/** Expiry of the keys of an interrupted check. */
const PROBE_TTL_MS = 10_000;

const KINDS = script(readLua(import.meta.url, "./lua/try-kinds.lua"));

/**
 * Runs each command that the gateway uses on a separate key and channel, because a Redis user may lack permission for
 * some commands, keys or channels; without streams, charges would silently never arrive. Throws the error of Redis.
 */
export async function tryCommands(redis: RedisClient): Promise<void> {
  const key = `${redis.keys.probe}:${randomUUID()}`;
  const commands: readonly (readonly [string, ...(string | number)[]])[] = [
    ["xgroup", "CREATE", key, "g", "0", "MKSTREAM"],
    ["pexpire", key, PROBE_TTL_MS],
    ["xadd", key, "*", "a", "1"],
    ["xreadgroup", "GROUP", "g", "c", "COUNT", 1, "STREAMS", key, ">"],
    ["xautoclaim", key, "g", "c", 0, "0-0"],
    ["xinfo", "CONSUMERS", key, "g"],
    ["xrange", key, "-", "+"],
    ["xrevrange", key, "+", "-"],
    ["xlen", key],
    ["publish", redis.keys.channel("probe"), "1"],
  ];
  const calls: Call[] = commands.map(([command, ...args]) => ({ command, args }));
  const answers = await redis.send([...calls, { script: KINDS, keys: [key], args: [] }], TIMEOUT_MS);
  const failed = answers.find((answer) => answer instanceof Error);
  if (failed) throw failed;
  await trySubscription(redis);
}

async function trySubscription(redis: RedisClient): Promise<void> {
  const subscriber = redis.open("check");
  try {
    await within(TIMEOUT_MS, subscriber.subscribe(redis.keys.channel("probe")));
  } finally {
    subscriber.disconnect();
  }
}
