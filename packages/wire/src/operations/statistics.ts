import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { queryInt, queryText } from "../core/envelope.ts";

/** Dimensions of usage sums; `all` is a single sum. */
export const USAGE_DIMENSIONS = ["all", "user", "token", "channel", "group", "model"] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];
/** Maximum number of subjects in a response; `total` counts all of them. */
export const USAGE_SUBJECT_CAP = 200;
/** The same maximum for a response without points, which is smaller. */
export const USAGE_SUM_CAP = 2_000;
/** Maximum period of one call, in seconds. */
export const STATISTICS_SPAN_CAP = 400 * 86_400;
/** Maximum period of recent calls, in seconds. */
export const RECENT_SPAN_CAP = 900;

/** Milliseconds, each within 2 % of the exact value; 0 if nothing was measured. */
export const Percentiles = z.object({
  /** Number of measured calls. */
  count: z.int(),
  /** Milliseconds that half of the calls did not exceed. */
  p50: z.int(),
  /** Milliseconds that 90 of 100 calls did not exceed. */
  p90: z.int(),
  /** Milliseconds that 95 of 100 calls did not exceed. */
  p95: z.int(),
  /** Milliseconds that 99 of 100 calls did not exceed. */
  p99: z.int(),
});
export type Percentiles = z.output<typeof Percentiles>;

const figures = {
  /** Calls, including failed ones. For channels: attempts. */
  calls: z.int(),
  /** Failed calls that are not the client's fault. */
  errors: z.int(),
  /** Calls that were refused or failed because of the client: limits, quota, bad input. */
  refused: z.int(),
  /** Quota units. */
  quota: z.int(),
  /** Tokens of prompts, including cached ones. */
  input_tokens: z.int(),
  /** Tokens of responses, including reasoning. */
  output_tokens: z.int(),
  /** Latency of successful calls. */
  latency: Percentiles,
  /** Time to the first token of successful streams. */
  first_token: Percentiles,
};

export const UsagePoint = z.object({
  /** Start of the interval, epoch seconds. */
  start: z.int(),
  ...figures,
});
export type UsagePoint = z.output<typeof UsagePoint>;

export const UsageSubject = z.object({
  /** Id of the user, token or channel; name of the group or model; "" for `all`. */
  subject: z.string(),
  /** The display name; the subject itself if that is a name. */
  name: z.string(),
  ...figures,
  /** Intervals with calls, oldest first; empty unless the call names an interval. */
  points: z.array(UsagePoint),
});
export type UsageSubject = z.output<typeof UsageSubject>;

export const UsageStatistics = z.object({
  /** The dimension of the sums. */
  by: z.enum(USAGE_DIMENSIONS),
  start_timestamp: z.int(),
  end_timestamp: z.int(),
  /** Length of a point in seconds; 0 = no points. */
  interval: z.int(),
  /** Epoch seconds up to which calls are in the sums; for recent calls, the time at which they were read. */
  complete_until: z.int(),
  /** The sum over all subjects, including those that are not listed. For channels, it counts attempts. */
  total: z.object(figures),
  /** The same sum by interval, oldest first; empty unless the call names an interval. */
  total_points: z.array(UsagePoint),
  /** Subjects, highest quota first. */
  subjects: z.array(UsageSubject),
  /** Number of subjects that are not listed. */
  more_subjects: z.int(),
});
export type UsageStatistics = z.output<typeof UsageStatistics>;

const spanQuery = {
  /** One of `USAGE_DIMENSIONS`; "" = `all`. */
  by: queryText,
  /** Epoch seconds, rounded down to the hour; 0 = a day before the end. */
  start_timestamp: queryInt,
  /** Epoch seconds, included in the period; 0 = now. */
  end_timestamp: queryInt,
  /**
   * Length of a point in seconds: whole hours that divide a day, such as 3600 or 86400; 0 = sums only. Points of
   * periods over 31 days are always days. The first and the last point contain only what is in the period, so that the
   * points add up to the sums.
   */
  interval: queryInt,
  /**
   * Seconds that the reader's clock is ahead of UTC, in whole hours: days begin at its midnight. Always 0 for periods
   * over 31 days.
   */
  utc_offset: queryInt,
  /** Only this subject; "" = all. */
  subject: queryText,
  /** Maximum number of subjects; 0 = 20. */
  limit: queryInt,
  /** Number of subjects with a higher quota to leave out, for reading more of them than one response has. */
  skip: queryInt,
};

export const usageStatistics = endpoint({
  name: "usageStatistics",
  method: "GET",
  path: "/api/statistics/usage",
  access: "admin",
  summary: "Calls, errors, spending and percentiles by user, token, channel, group or model, over time.",
  query: z.object({
    ...spanQuery,
    /** Only calls of this user, by `all`, `token` or `model`; 0 = everyone. */
    user_id: queryInt,
    /** The same, by the exact user name; an unknown name has no calls. */
    username: queryText,
    /** 1 = also lists channels without attempts, so that a new one is seen; only by `channel`. */
    idle: queryInt,
  }),
  data: UsageStatistics,
  fails: ["invalid_parameter"],
});

export const usageStatisticsSelf = endpoint({
  name: "usageStatisticsSelf",
  method: "GET",
  path: "/api/statistics/self/usage",
  access: "user",
  summary: "The caller's own, by `all`, `token` or `model`.",
  query: z.object(spanQuery),
  data: UsageStatistics,
  fails: ["invalid_parameter"],
});

const recentQuery = {
  /** One of `USAGE_DIMENSIONS`; "" = `all`. */
  by: queryText,
  /** Length of the period in seconds: at most 900; 0 = 60. */
  seconds: queryInt,
  /** Only this subject; "" = all. */
  subject: queryText,
  /** Maximum number of subjects; 0 = 20. */
  limit: queryInt,
};

export const usageRecent = endpoint({
  name: "usageRecent",
  method: "GET",
  path: "/api/statistics/recent",
  access: "admin",
  summary:
    "The same figures of the calls that ended in the last minutes, from the newest 10,000 rows of the log (SQLite: 2,000): `start_timestamp` is later than asked for where there are more. An answer is at most five seconds old.",
  query: z.object(recentQuery),
  data: UsageStatistics,
  fails: ["invalid_parameter", "log_unreachable"],
});

export const usageRecentSelf = endpoint({
  name: "usageRecentSelf",
  method: "GET",
  path: "/api/statistics/self/recent",
  access: "user",
  summary: "The caller's own, by `all`, `token` or `model`.",
  query: z.object(recentQuery),
  data: UsageStatistics,
  fails: ["invalid_parameter", "log_unreachable"],
});
