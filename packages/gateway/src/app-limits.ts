import type { Clock } from "./lib/clock.ts";
import { createMemoryClaims } from "./limits/claims-memory.ts";
import { createRedisClaims } from "./limits/claims-redis.ts";
import type { Claims } from "./limits/claims.ts";
import { createMemoryLimiter } from "./limits/limiter-memory.ts";
import { createRedisLimiter } from "./limits/limiter-redis.ts";
import type { Limiter } from "./limits/limiter.ts";
import type { Logger } from "./observability/log.ts";
import type { Metrics } from "./observability/metrics.ts";
import type { RedisClient } from "./redis/client.ts";

export interface LimitsDeps {
  readonly redis: RedisClient | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "limitOutage">;
}

/** One line a minute while Redis is away; the metric counts every call. */
const LOG_EVERY_MS = 60_000;

/** Everything that counts requests: in Redis for all replicas when there is one, else in this process. */
export function createLimits({ redis, clock, log, metrics }: LimitsDeps): {
  readonly limiter: Limiter;
  readonly claims: Claims;
} {
  const local = { limiter: createMemoryLimiter(clock), claims: createMemoryClaims(clock) };
  if (!redis) return local;
  let toldAt = -Infinity;
  const onOutage = (rule: string, error: unknown) => {
    metrics.limitOutage(rule);
    if (performance.now() - toldAt < LOG_EVERY_MS) return;
    toldAt = performance.now();
    log.warn("limits are decided without Redis: sign-in is refused, everything else is counted here", { rule, error });
  };
  return {
    limiter: createRedisLimiter({ redis, local: local.limiter, onOutage: (rule, error) => onOutage(rule.name, error) }),
    claims: createRedisClaims({ redis, local: local.claims, onOutage: (error) => onOutage("relay", error) }),
  };
}
