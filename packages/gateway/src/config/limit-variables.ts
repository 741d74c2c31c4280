import * as parse from "./parsers.ts";
import { define } from "./variable.ts";

/** Variables of limits, and of the behaviour while replicas cannot count together. */
export const LIMIT_VARIABLES = {
  quotaOnOutage: define({
    name: "FAIRWAY_QUOTA_ON_OUTAGE",
    about: "New requests while Redis is away: deny refuses them, sql reserves in the database.",
    fallback: "deny",
    example: "sql",
    parse: parse.createChoiceParser("deny", "sql"),
  }),
  databaseOnOutage: define({
    name: "FAIRWAY_DATABASE_ON_OUTAGE",
    about:
      "New model calls while the database is unavailable and Redis is not: serve accepts cached keys for ten minutes, and charges wait in Redis; deny refuses them.",
    fallback: "serve",
    example: "deny",
    parse: parse.createChoiceParser("serve", "deny"),
  }),
  relayLimitsOnOutage: define({
    name: "FAIRWAY_RELAY_LIMITS_ON_OUTAGE",
    about: "Limits of model calls while Redis is away: allow counts in each process alone, deny refuses limited calls.",
    fallback: "allow",
    example: "deny",
    parse: parse.createChoiceParser("allow", "deny"),
  }),
  loginLimitsOnOutage: define({
    name: "FAIRWAY_LOGIN_LIMITS_ON_OUTAGE",
    about: "Sign-in, codes and mails while Redis is away: deny refuses them, allow counts in each process alone.",
    fallback: "deny",
    example: "allow",
    parse: parse.createChoiceParser("deny", "allow"),
  }),
  redisWaitMs: define({
    name: "FAIRWAY_REDIS_WAIT_MS",
    about:
      "How long a model call waits for Redis before the settings for an outage apply: limits, cached answers, and reservations with FAIRWAY_QUOTA_ON_OUTAGE=sql. For a Redis in another zone or region, set at least twice the round trip.",
    fallback: "50",
    example: "200",
    parse: parse.integer(5, 5_000),
  }),
  limitApi: define({
    name: "FAIRWAY_LIMIT_API",
    about:
      "Rate of the management API as count/seconds or off: per address for callers who are not signed in, per user for those who are. A single rate is for both.",
    fallback: "180/180,1800/180",
    example: "off",
    parse: parse.apiRates,
  }),
  limitWeb: define({
    name: "FAIRWAY_LIMIT_WEB",
    about: "Rate of the console's files per address.",
    fallback: "900/180",
    example: "off",
    parse: parse.rate,
  }),
  limitCritical: define({
    name: "FAIRWAY_LIMIT_CRITICAL",
    about: "Rate of sign-in, registration, mails and the like per address.",
    fallback: "20/1200",
    example: "off",
    parse: parse.rate,
  }),
  maxFileBytes: define({
    name: "FAIRWAY_MAX_FILE_BYTES",
    about: "Largest file that a client may upload.",
    fallback: "536870912",
    example: "2147483648",
    parse: parse.integer(1_024, 1_099_511_627_776),
  }),
  maxUploads: define({
    name: "FAIRWAY_MAX_UPLOADS",
    about: "Uploads of files at once in each process; more are refused with 429.",
    fallback: "16",
    example: "64",
    parse: parse.integer(1, 10_000),
  }),
  spoolMegabytes: define({
    name: "FAIRWAY_SPOOL_MEGABYTES",
    about:
      "Disk of each process for files and forms that must arrive whole before they are sent, in the temporary folder. Uploads beyond it get 503.",
    fallback: "4096",
    example: "1024",
    parse: parse.integer(1, 1_048_576),
  }),
  sessionMaxDays: define({
    name: "FAIRWAY_SESSION_MAX_DAYS",
    about:
      "Days after its sign-in at which a session of the console ends, however often it is used. A session that is not used ends after 30 days.",
    fallback: "90",
    example: "7",
    parse: parse.integer(1, 3_650),
  }),
} as const;
