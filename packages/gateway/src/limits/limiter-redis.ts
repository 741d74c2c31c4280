import type { Clock } from "../lib/clock.ts";
import type { RedisClient } from "../redis/client.ts";
import { readLua } from "../redis/read-lua.ts";
import { script } from "../redis/script.ts";
import type { Admission, Limiter, Rule } from "./limiter.ts";

export interface RedisLimiterSettings {
  readonly redis: RedisClient;
  /** Counts while Redis is unavailable, for rules that allow requests then. */
  readonly local: Limiter;
  /** Clock for tests; default: the clock of Redis. */
  readonly clock?: Clock;
  /** Called for each call that Redis did not answer. */
  readonly onOutage: (rule: Rule, error: unknown) => void;
}

const TIMEOUT_MS = 500;
/** After this time, a caller refused by a rule that denies may return. */
const OUTAGE_RETRY_MS = 5_000;

/** Returns admitted, count and the time until the oldest leaves. */
const TAKE = script(readLua(import.meta.url, "./lua/admit.lua"));

/** Limits across all replicas: one list of the times of accepted requests per rule and subject. */
export function createRedisLimiter({ redis, local, clock, onOutage }: RedisLimiterSettings): Limiter {
  const buildClaimKey = (rule: Rule, subject: string) =>
    redis.keys.claim(`{l:${rule.name}:${encodeURIComponent(subject)}}`, "");
  const ask = async (rule: Rule, subject: string, takes: boolean): Promise<Admission> => {
    const args = [clock?.now() ?? 0, rule.windowMs, rule.limit, takes ? 1 : 0];
    const answer = await redis.sendOne({ script: TAKE, keys: [buildClaimKey(rule, subject)], args }, TIMEOUT_MS);
    const [admitted, count, resetMs] = answer as [number, number, number];
    return { admitted: admitted === 1, limit: rule.limit, remaining: Math.max(0, rule.limit - count), resetMs };
  };
  const withoutRedis = async (rule: Rule, otherwise: () => Promise<Admission>, error: unknown) => {
    onOutage(rule, error);
    if (rule.onOutage !== "deny") return otherwise();
    return { admitted: false, limit: rule.limit, remaining: 0, resetMs: OUTAGE_RETRY_MS };
  };
  return {
    take: (rule, subject) =>
      ask(rule, subject, true).catch((error: unknown) => withoutRedis(rule, () => local.take(rule, subject), error)),
    peek: (rule, subject) =>
      ask(rule, subject, false).catch((error: unknown) => withoutRedis(rule, () => local.peek(rule, subject), error)),
    async clear(rule, subject) {
      await local.clear(rule, subject);
      try {
        await redis.sendOne({ command: "del", args: [buildClaimKey(rule, subject)] }, TIMEOUT_MS);
      } catch (error) {
        onOutage(rule, error);
      }
    },
  };
}
