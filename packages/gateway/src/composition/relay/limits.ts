import type { Env } from "../../config/env.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Outage } from "../outage.ts";
import { steadyClock } from "../../lib/clock.ts";
import { createMemoryClaims } from "../../limits/claims-memory.ts";
import { createRedisClaims } from "../../limits/claims-redis.ts";
import type { Claims } from "../../limits/claims.ts";
import { createMemoryLimiter } from "../../limits/limiter-memory.ts";
import { createRedisLimiter } from "../../limits/limiter-redis.ts";
import type { Limiter, Rule } from "../../limits/limiter.ts";
import type { Logger } from "../../observability/log.ts";
import type { Metrics } from "../../observability/metrics.ts";
import type { RedisClient } from "../../redis/client.ts";

export interface LimitsDeps {
  readonly redis: LimitsRedis | undefined;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "limitOutage">;
  readonly env: Pick<Env, "relayLimitsOnOutage" | "loginLimitsOnOutage">;
}

/** The counters shared by all replicas, and the outage that records every call that they did not answer. */
export interface LimitsRedis {
  readonly client: RedisClient;
  readonly outage: Pick<Outage, "report">;
}

const RETRY_MS = 5_000;
/** One line per minute is logged while Redis is down; the metric counts every call. */
const LOG_EVERY_MS = 60_000;

/** Creates everything that counts requests: in Redis for all replicas if there is one, otherwise in this process. */
export function createLimits({ redis: shared, log, metrics, env }: LimitsDeps): {
  readonly limiter: Limiter;
  readonly claims: Claims;
} {
  const local = { limiter: createMemoryLimiter(steadyClock), claims: createMemoryClaims(steadyClock) };
  if (!shared) return local;
  const { client: redis, outage } = shared;
  let loggedAt = -Infinity;
  const onOutage = (rule: string, error: unknown) => {
    metrics.limitOutage(rule);
    outage.report();
    if (performance.now() - loggedAt < LOG_EVERY_MS) return;
    loggedAt = performance.now();
    const { relayLimitsOnOutage: model_calls, loginLimitsOnOutage: sign_in } = env;
    log.warn("limits are decided without Redis", { rule, model_calls, sign_in, error });
  };
  const limiter = createRedisLimiter({
    redis,
    local: local.limiter,
    onOutage: (rule, error) => onOutage(rule.name, error),
  });
  return {
    limiter: env.loginLimitsOnOutage === "allow" ? allowing(limiter) : limiter,
    claims: createRedisClaims({
      redis,
      local: env.relayLimitsOnOutage === "deny" ? refusing(local.claims) : local.claims,
      onOutage: (error) => onOutage("relay", error),
    }),
  };
}

/** Counts sign-in rules in this process while Redis is down, like all other rules. */
function allowing(limiter: Limiter): Limiter {
  const allowed = (rule: Rule): Rule => ({ ...rule, onOutage: "allow" });
  return {
    take: (rule, subject) => limiter.take(allowed(rule), subject),
    peek: (rule, subject) => limiter.peek(allowed(rule), subject),
    clear: (rule, subject) => limiter.clear(rule, subject),
  };
}

/** Refuses all limited requests, so that none passes uncounted. */
function refusing(claims: Claims): Claims {
  return {
    ...claims,
    take: () => Promise.reject(new AppError("limits_unavailable", { retryAfterMs: RETRY_MS })),
  };
}
