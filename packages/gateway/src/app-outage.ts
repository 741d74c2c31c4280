import type { Env } from "./config/env.ts";
import type { Conduct } from "./observability/conduct.ts";
import type { RedisClient } from "./redis/client.ts";

/** Whether Redis answers, by its connection and by what those who asked it were told lately. */
export interface Outage {
  /** Somebody asked in vain. */
  told(): void;
  readonly isNow: boolean;
}

/** One call in vain is an outage for so long. */
const FRESH_MS = 5_000;

export function watchOutage(redis: Pick<RedisClient, "isReady">): Outage {
  let toldAt = -Infinity;
  return {
    told: () => void (toldAt = performance.now()),
    get isNow() {
      return !redis.isReady || performance.now() - toldAt < FRESH_MS;
    },
  };
}

type Options = Pick<Env, "quotaOnOutage" | "relayLimitsOnOutage" | "loginLimitsOnOutage">;

/** What each part does now, and by which option it does something else while Redis is away. */
export function conductOf(env: Options, redis: { readonly outage: Outage } | undefined): () => Conduct[] {
  if (!redis)
    return () => [
      { part: "reservations", mode: "database", isNormal: true, detail: "in the database" },
      { part: "limits", mode: "process", isNormal: true, detail: "counted in this process" },
    ];
  const parts = [
    {
      part: "reservations",
      mode: env.quotaOnOutage,
      option: "FAIRWAY_QUOTA_ON_OUTAGE",
      meaning: env.quotaOnOutage === "deny" ? "new requests are refused" : "new requests are reserved in the database",
    },
    {
      part: "limits of model calls",
      mode: env.relayLimitsOnOutage,
      option: "FAIRWAY_RELAY_LIMITS_ON_OUTAGE",
      meaning: env.relayLimitsOnOutage === "deny" ? "limited calls are refused" : "each process counts alone",
    },
    {
      part: "limits of sign-in",
      mode: env.loginLimitsOnOutage,
      option: "FAIRWAY_LOGIN_LIMITS_ON_OUTAGE",
      meaning: env.loginLimitsOnOutage === "deny" ? "sign-in is refused" : "each process counts alone",
    },
  ];
  return () => {
    const isNormal = !redis.outage.isNow;
    return parts.map(({ part, mode, option, meaning }) => ({
      part,
      mode,
      isNormal,
      detail: `${isNormal ? "in Redis; while it is away" : "Redis is away:"} ${meaning} (${option}=${mode})`,
    }));
  };
}
