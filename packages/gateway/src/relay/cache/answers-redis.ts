import { RedisAway, type RedisClient } from "../../redis/client.ts";
import { script } from "../../redis/script.ts";
import type { Answers } from "./answers.ts";
import { openAnswer, sealAnswer, type Sealer } from "./kept-answer.ts";

export interface RedisAnswersDeps {
  readonly redis: RedisClient;
  readonly sealer: Sealer;
  /** Told of each call that was in vain. */
  readonly onFailure: (error: unknown) => void;
}

const KEEP_TIMEOUT_MS = 2_000;

/**
 * KEYS answers, their ends, their bytes; ARGV key, answer, milliseconds, most bytes. The ones that end first leave when
 * there is no room. All three go when nothing was kept for as long as an answer may be.
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

/** Answers of all replicas, sealed. While Redis is away every request is a miss. */
export function createRedisAnswers({ redis, sealer, onFailure }: RedisAnswersDeps): Answers {
  const keys = [redis.keys.answers("kept"), redis.keys.answers("ends"), redis.keys.answers("bytes")] as const;
  const failed = (error: unknown) => {
    if (error instanceof RedisAway) redis.patience.waitedInVain();
    onFailure(error);
  };
  return {
    async find(key) {
      if (redis.patience.isOver) return undefined;
      try {
        const sealed = await redis.one({ command: "HGET", args: [keys[0], key] }, redis.patience.ms);
        return typeof sealed === "string" ? openAnswer(key, sealed, sealer) : undefined;
      } catch (error) {
        failed(error);
        return undefined;
      }
    },
    keep(key, answer, { keepMs, maxBytes }) {
      const sealed = sealAnswer(key, answer, sealer);
      if (sealed.length > maxBytes || redis.patience.isOver) return;
      const args = [key, sealed, keepMs, maxBytes];
      redis.one({ script: KEEP, keys, args }, KEEP_TIMEOUT_MS).catch(failed);
    },
    clear() {},
    bytes: 0,
  };
}
