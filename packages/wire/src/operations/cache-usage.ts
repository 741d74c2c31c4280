import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { queryInt, queryText } from "../core/envelope.ts";

/** What sums of prompt caches can be grouped by. */
export const CACHE_USAGE_GROUPS = ["channel", "token", "model"] as const;
export type CacheUsageGroup = (typeof CACHE_USAGE_GROUPS)[number];
/** Maximum number of rows in a response. */
export const CACHE_USAGE_CAP = 1_000;

/** What prompt caches of vendors did for some calls; the hit rate is `cached_tokens` of `input_tokens`. */
export const CacheUsage = z.object({
  /** 0 unless grouped by channel, and for callers who are not administrators. */
  channel_id: z.int(),
  /** 0 unless grouped by token. */
  token_id: z.int(),
  /** "" unless grouped by model. */
  model: z.string(),
  /** The channel's or token's name, if grouped by that alone. */
  name: z.string(),
  /** Charged calls, and answered requests of batches. */
  requests: z.int(),
  /** Those that read from a cache; a batch of several requests counts once. */
  hits: z.int(),
  /** Tokens of prompts, including cached ones. */
  input_tokens: z.int(),
  /** Tokens that were read from a cache. */
  cached_tokens: z.int(),
  /** Tokens that were written to a cache. */
  written_tokens: z.int(),
  /** Quota units that reading saved, minus what writing cost more; can be below 0. */
  saved: z.int(),
  /** Quota units for the storage of caches that clients created. */
  storage: z.int(),
});
export type CacheUsage = z.output<typeof CacheUsage>;

const query = {
  /** `all` for one row, or some of `CACHE_USAGE_GROUPS`, separated by commas; "" = all of those that the caller may see. */
  by: queryText,
  /** Epoch seconds, rounded down to the hour; 0 = a day before the end. */
  start_timestamp: queryInt,
  /** Epoch seconds, included in the period; 0 = now. */
  end_timestamp: queryInt,
};

export const cacheUsage = endpoint({
  name: "cacheUsage",
  method: "GET",
  path: "/api/data/cache",
  access: "admin",
  summary:
    "What prompt caches of vendors read, wrote and saved, by channel, token and model, most cached tokens first.",
  query: z.object({
    ...query,
    /** Only calls of this user; an unknown name has none. "" = everyone. */
    username: queryText,
  }),
  data: z.array(CacheUsage),
  fails: ["invalid_parameter"],
});

export const cacheUsageSelf = endpoint({
  name: "cacheUsageSelf",
  method: "GET",
  path: "/api/data/self/cache",
  access: "user",
  summary: "The caller's own, by token and model.",
  query: z.object(query),
  data: z.array(CacheUsage),
  fails: ["invalid_parameter"],
});
