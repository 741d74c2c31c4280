import type { Env } from "../config/env.ts";
import type { DegradationStatus } from "../observability/degradation-status.ts";
import type { RedisClient } from "../redis/client.ts";

/** Tells whether Redis responds, judged by its connection and by recent failed calls. */
export interface Outage {
  /** Records a call without a response. */
  report(): void;
  readonly isNow: boolean;
}

/** How long a failed call counts as an outage. */
const FRESH_MS = 5_000;

export function watchOutage(redis: Pick<RedisClient, "isReady">): Outage {
  let reportedAt = -Infinity;
  return {
    report: () => void (reportedAt = performance.now()),
    get isNow() {
      return !redis.isReady || performance.now() - reportedAt < FRESH_MS;
    },
  };
}

/** Tells whether the database responded to the last poll. */
export interface DatabaseWatch {
  polled(hasAnswered: boolean): void;
  readonly isAway: boolean;
}

export function watchDatabase(): DatabaseWatch {
  let isAway = false;
  return {
    polled: (hasAnswered) => void (isAway = !hasAnswered),
    get isAway() {
      return isAway;
    },
  };
}

type Options = Pick<Env, "quotaOnOutage" | "relayLimitsOnOutage" | "loginLimitsOnOutage" | "databaseOnOutage">;

/** Behaviour of Redis or the database while it is up and while it is down. */
interface Part extends Pick<DegradationStatus, "part" | "mode"> {
  readonly option: string;
  readonly meaning: string;
}

function buildDegradationStatus(
  { part, mode, option, meaning }: Part,
  isNormal: boolean,
  [there, away]: readonly [string, string],
): DegradationStatus {
  return { part, mode, isNormal, detail: `${isNormal ? there : away} ${meaning} (${option}=${mode})` };
}

const REDIS = ["in Redis; while it is away", "Redis is away:"] as const;
const DATABASE = ["with the database; while it is away", "the database is away:"] as const;

/**
 * Creates the list with the current mode of each part, and the option that sets its mode while Redis or the database is
 * down.
 */
export function createDegradationLister(
  env: Options,
  redis: { readonly outage: Outage } | undefined,
  database: Pick<DatabaseWatch, "isAway">,
): () => DegradationStatus[] {
  if (!redis) return () => aloneConduct(database.isAway);
  const parts: readonly Part[] = [
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
  const keys: Part = {
    part: "keys and charges",
    mode: env.databaseOnOutage,
    option: "FAIRWAY_DATABASE_ON_OUTAGE",
    meaning:
      env.databaseOnOutage === "deny"
        ? "new model calls are refused"
        : "known keys are served for ten minutes and charges wait in Redis",
  };
  return () => [
    ...parts.map((part) => buildDegradationStatus(part, !redis.outage.isNow, REDIS)),
    buildDegradationStatus(keys, !database.isAway, DATABASE),
  ];
}

function aloneConduct(isAway: boolean): DegradationStatus[] {
  const detail = isAway ? "the database is away: new model calls that cost something are refused" : "in the database";
  return [
    { part: "reservations", mode: "database", isNormal: !isAway, detail },
    { part: "limits", mode: "process", isNormal: true, detail: "counted in this process" },
  ];
}
