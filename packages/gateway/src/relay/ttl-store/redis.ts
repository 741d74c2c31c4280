import { RedisUnavailable, type RedisClient } from "../../redis/client.ts";
import type { WaitBudget } from "../../redis/wait-budget.ts";
import { script } from "../../redis/script.ts";
import type { TtlStore, Entry } from "./ttl-store.ts";
import { openEntry, sealEntry, type Sealer } from "./sealed-entry.ts";

export interface RedisEntriesDeps {
  readonly redis: RedisClient;
  readonly sealer: Sealer;
  /** Full names of the Redis keys; all have the same hash tag. */
  readonly keys: (name: "entries" | "ends" | "bytes") => string;
  /** How long a read may take. */
  readonly waitBudget: () => WaitBudget;
  /** Called for each call that failed. */
  readonly onFailure: (error: unknown) => void;
}

export interface RedisEntries<E extends Entry> extends TtlStore<E> {
  find(key: string): Promise<E | undefined>;
}

const WRITE_TIMEOUT_MS = 2_000;

/**
 * KEYS entries, their ends, their bytes; ARGV key, entry, milliseconds, most bytes. If there is no room, the entries
 * that end first are removed. All three keys expire if no entry is added for its lifetime.
 */
const KEEP = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local total = tonumber(redis.call('GET', KEYS[3]) or '0')
local function forget(id)
  total = total - redis.call('HSTRLEN', KEYS[1], id)
  redis.call('HDEL', KEYS[1], id)
  redis.call('ZREM', KEYS[2], id)
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 1000)) do forget(id) end
forget(ARGV[1])
local size, most = #ARGV[2], tonumber(ARGV[4])
while total + size > most do
  local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
  if not first then break end
  forget(first)
end
local left = math.max(tonumber(ARGV[3]), redis.call('PTTL', KEYS[1]))
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], now + ARGV[3], ARGV[1])
redis.call('SET', KEYS[3], string.format('%d', total + size))
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, left) end
return total + size`);

/** KEYS as above; ARGV key. */
const FORGET = script(`
local size = redis.call('HSTRLEN', KEYS[1], ARGV[1])
if size == 0 then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('EXISTS', KEYS[3]) == 1 then redis.call('DECRBY', KEYS[3], size) end
return size`);

/** Entries of all replicas, sealed. One that cannot be opened is unknown. */
export function createRedisEntries<E extends Entry>(deps: RedisEntriesDeps): RedisEntries<E> {
  const { redis, sealer, waitBudget, onFailure } = deps;
  const keys = [deps.keys("entries"), deps.keys("ends"), deps.keys("bytes")] as const;
  const failed = (error: unknown) => {
    if (error instanceof RedisUnavailable) waitBudget().waitedTooLong();
    onFailure(error);
  };
  const opened = (key: string, sealed: unknown) => {
    try {
      return typeof sealed === "string" ? openEntry<E>(key, sealed, sealer) : undefined;
    } catch (error) {
      failed(error);
      return undefined;
    }
  };
  return {
    async find(key) {
      if (waitBudget().isOver) throw new RedisUnavailable("Redis did not answer a moment ago", false);
      const look = redis.sendOne({ command: "HGET", args: [keys[0], key] }, waitBudget().ms);
      const sealed = await look.catch((error: unknown) => {
        failed(error);
        throw error;
      });
      return opened(key, sealed);
    },
    keep(key, entry, { keepMs, maxBytes }) {
      const sealed = sealEntry(key, entry, sealer);
      if (sealed.length > maxBytes || waitBudget().isOver) return;
      const args = [key, sealed, keepMs, maxBytes];
      redis.sendOne({ script: KEEP, keys, args }, WRITE_TIMEOUT_MS).catch(failed);
    },
    async forget(key) {
      await redis.sendOne({ script: FORGET, keys, args: [key] }, WRITE_TIMEOUT_MS);
    },
    clear() {},
    bytes: 0,
  };
}
