import * as z from "zod/mini";
import { textUpTo } from "../core/characters.ts";
import { endpoint } from "../core/endpoint.ts";
import { queryTexts, queryTristate } from "../core/lists.ts";
import { idParams, queryInt, queryText } from "../core/envelope.ts";

/** Maximum of a log list's `total`; up to this number it is exact. */
export const LOG_TOTAL_CAP = 100_000;
/**
 * Filters that no index answers (wildcards, durations, streams, retries, ids of tokens) are only counted among this
 * many of the newest rows; `next` shows whether there are more.
 */
export const LOG_SCAN_CAP = 40_000;
/** Maximum number of rows of the two keyword searches. */
export const LOG_SEARCH_CAP = 100;
/** Maximum number of its own rows that a relay key may read. */
export const LOG_TOKEN_CAP = 1000;
/**
 * Facets count this many of the newest matching rows. For one user without a further filter they count all of them:
 * whole hours come from sums, and the limit applies only to the other rows.
 */
export const LOG_FACET_SAMPLE = 10_000;
/** Codes and statuses are counted within this many of the newest matching failed calls. */
export const LOG_FACET_ERRORS = 5_000;

/**
 * A log row; type 5 is a failed call, with the members of `LogErrorDetail` in `other`. Owners see `channel` 0, no
 * `channel_name`, no operator details in `other`, and a running number in place of `id`.
 */
export const LogRow = z.object({
  id: z.int(),
  user_id: z.int(),
  created_at: z.int(),
  type: z.int(),
  content: z.string(),
  username: z.string(),
  token_name: z.string(),
  model_name: z.string(),
  quota: z.int(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  /** Seconds. */
  use_time: z.int(),
  is_stream: z.boolean(),
  channel: z.int(),
  channel_name: z.string(),
  token_id: z.int(),
  group: z.string(),
  ip: z.string(),
  request_id: z.string(),
  /** `app=shop|env=prod`, sorted by key; "" = none. */
  tags: z.string(),
  /** The customer for whom the client made the call, as the client names it; "" = unknown. */
  end_user: z.string(),
  /** "" or the text of a JSON object. */
  other: z.string(),
});
export type LogRow = z.output<typeof LogRow>;

export const LogPage = z.object({
  items: z.array(LogRow),
  total: z.int(),
  page: z.int(),
  page_size: z.int(),
  /** Cursor for `before` that continues below the last row; "" at the end. */
  next: z.string(),
});
export type LogPage = z.output<typeof LogPage>;

export const LogStat = z.object({ quota: z.int(), rpm: z.int(), tpm: z.int() });

const selfFilter = {
  /** 0 = all. */
  type: queryInt,
  token_name: queryText,
  /** Calls with this token, even under an earlier name; 0 = all. */
  token_id: queryInt,
  /** Exact name, or a pattern with `%` as wildcard. */
  model_name: queryText,
  start_timestamp: queryInt,
  end_timestamp: queryInt,
  group: queryText,
  request_id: queryText,
  /** Seconds. */
  min_use_time: queryInt,
  is_stream: queryTristate,
  has_retry: queryTristate,
  /** Failed calls with this code, such as `rate_limit_exceeded`. */
  code: queryText,
  /** Failed calls for which the client got this HTTP status. */
  status: queryInt,
  /** Rows with all of these tags, `app=shop|env=prod`; a key alone finds rows that have it. */
  tags: queryText,
  end_user: queryText,
  /** Exact names, joined by commas; a row may match any of them. */
  models: queryTexts,
  tokens: queryTexts,
};

const adminFilter = { ...selfFilter, username: queryText, channel: queryInt, user_id: queryInt };

const pageFields = {
  /** Page number, from 1; 0 means 1. */
  p: queryInt,
  page_size: queryInt,
  /** Cursor from `next`: rows below it, regardless of `p`. */
  before: queryText,
};

const SelfFilter = z.object(selfFilter);
const AdminFilter = z.object(adminFilter);
export type LogFilter = z.output<typeof AdminFilter>;

export const logList = endpoint({
  name: "logList",
  method: "GET",
  path: "/api/log/",
  access: "admin",
  summary: "Lists log rows, newest first.",
  query: z.object({ ...adminFilter, ...pageFields }),
  data: LogPage,
  fails: ["log_unreachable"],
});

export const logListSelf = endpoint({
  name: "logListSelf",
  method: "GET",
  path: "/api/log/self",
  access: "user",
  summary: "Lists the caller's log rows, newest first.",
  query: z.object({ ...selfFilter, ...pageFields }),
  data: LogPage,
  fails: ["log_unreachable"],
});

export const logGet = endpoint({
  name: "logGet",
  method: "GET",
  path: "/api/log/{id}",
  access: "admin",
  summary: "Reads one log row.",
  params: idParams,
  data: LogRow,
  fails: ["log_not_found", "log_unreachable"],
});

export const logGetSelf = endpoint({
  name: "logGetSelf",
  method: "GET",
  path: "/api/log/self/{request}",
  access: "user",
  summary: "Reads the caller's log row of one request id.",
  params: z.object({ request: textUpTo(64) }),
  data: LogRow,
  fails: ["log_not_found", "log_unreachable"],
});

export const logStat = endpoint({
  name: "logStat",
  method: "GET",
  path: "/api/log/stat",
  access: "admin",
  summary: "Quota spent in the range, and calls and tokens of the last minute.",
  query: AdminFilter,
  data: LogStat,
  fails: ["log_unreachable"],
});

export const logStatSelf = endpoint({
  name: "logStatSelf",
  method: "GET",
  path: "/api/log/self/stat",
  access: "user",
  summary: "The same of the caller.",
  query: SelfFilter,
  data: LogStat,
  fails: ["log_unreachable"],
});

const searchQuery = z.object({ keyword: queryText });

export const logSearch = endpoint({
  name: "logSearch",
  method: "GET",
  path: "/api/log/search",
  access: "admin",
  summary: "Finds log rows by type number or by the start of their content.",
  query: searchQuery,
  data: z.array(LogRow),
  fails: ["log_unreachable"],
});

export const logSearchSelf = endpoint({
  name: "logSearchSelf",
  method: "GET",
  path: "/api/log/self/search",
  access: "user",
  summary: "Finds the caller's log rows by type number.",
  query: searchQuery,
  data: z.array(LogRow),
  fails: ["log_unreachable"],
});

export const logClear = endpoint({
  name: "logClear",
  method: "DELETE",
  path: "/api/log/",
  access: "root",
  summary: "Deletes the rows older than a time and answers how many.",
  query: z.object({ target_timestamp: queryInt }),
  data: z.int(),
  fails: ["log_time_missing", "log_unreachable"],
});

export const logOfToken = endpoint({
  name: "logOfToken",
  method: "GET",
  path: "/api/log/token",
  access: "key",
  rate: "critical",
  isCrossOrigin: true,
  summary:
    "Log rows of a relay key, read from `Authorization: Bearer` or the query; none for an unknown key. A key that a model call could not use is refused here too.",
  query: z.object({ key: queryText }),
  data: z.array(LogRow),
  fails: ["log_unreachable"],
});

const FacetValues = z.array(z.object({ value: z.string(), count: z.int() }));

/** The most frequent values of the matching rows; owners see neither channels nor users. */
export const LogFacets = z.object({
  /** False if only the newest rows were counted, because more match than `LOG_FACET_SAMPLE` or `LOG_FACET_ERRORS`. */
  complete: z.boolean(),
  models: FacetValues,
  tokens: FacetValues,
  groups: FacetValues,
  types: FacetValues,
  /** Channels; `value` is the id, and `name` is "" for a channel that no longer exists. */
  channels: z.array(z.object({ value: z.string(), count: z.int(), name: z.string() })),
  users: FacetValues,
  /** Codes of failed calls. */
  codes: FacetValues,
  /** HTTP statuses of failed calls. */
  statuses: FacetValues,
});
export type LogFacets = z.output<typeof LogFacets>;

export const logFacets = endpoint({
  name: "logFacets",
  method: "GET",
  path: "/api/log/facets",
  access: "admin",
  summary: "Counts the most frequent values of the matching rows.",
  query: AdminFilter,
  data: LogFacets,
  fails: ["log_unreachable"],
});

export const logFacetsSelf = endpoint({
  name: "logFacetsSelf",
  method: "GET",
  path: "/api/log/self/facets",
  access: "user",
  summary: "The same of the caller.",
  query: SelfFilter,
  data: LogFacets,
  fails: ["log_unreachable"],
});

export const LogHistogram = z.object({
  /** Length of one bucket in seconds. */
  interval: z.int(),
  /**
   * Start of the period of the buckets; both ends are included. It is the filter's period up to now, or that of the
   * rows if the filter is open.
   */
  from: z.int(),
  to: z.int(),
  /** Buckets; empty ones are left out. `errors` and `others` are part of `count`. */
  buckets: z.array(
    z.object({
      start: z.int(),
      count: z.int(),
      errors: z.int(),
      /** Rows that are not calls of clients: top-ups, changes, system notes, and tests of channels. */
      others: z._default(z.int(), 0),
    }),
  ),
});
export type LogHistogram = z.output<typeof LogHistogram>;

export const logHistogram = endpoint({
  name: "logHistogram",
  method: "GET",
  path: "/api/log/histogram",
  access: "admin",
  summary: "Counts the matching rows over time, in at most 120 buckets.",
  query: AdminFilter,
  data: LogHistogram,
  fails: ["log_unreachable"],
});

export const logHistogramSelf = endpoint({
  name: "logHistogramSelf",
  method: "GET",
  path: "/api/log/self/histogram",
  access: "user",
  summary: "The same of the caller.",
  query: SelfFilter,
  data: LogHistogram,
  fails: ["log_unreachable"],
});

export const logExport = endpoint({
  name: "logExport",
  method: "GET",
  path: "/api/log/export",
  access: "admin",
  summary: "Streams all matching rows as a file: `format` csv (default) or ndjson.",
  query: z.object({ ...adminFilter, format: queryText }),
  answer: "file",
  fails: ["log_unreachable"],
});

export const logExportSelf = endpoint({
  name: "logExportSelf",
  method: "GET",
  path: "/api/log/self/export",
  access: "user",
  summary: "The same of the caller.",
  query: z.object({ ...selfFilter, format: queryText }),
  answer: "file",
  fails: ["log_unreachable"],
});

/**
 * Events: `row` with a log row, and `dropped` with the `{count}` of rows left out because there were more than 20 per
 * second.
 */
export const logTail = endpoint({
  name: "logTail",
  method: "GET",
  path: "/api/log/tail",
  access: "admin",
  summary: "Follows new matching rows as server-sent events.",
  query: AdminFilter,
  answer: "stream",
  fails: ["log_unreachable"],
});

export const logTailSelf = endpoint({
  name: "logTailSelf",
  method: "GET",
  path: "/api/log/self/tail",
  access: "user",
  summary: "The same of the caller.",
  query: SelfFilter,
  answer: "stream",
  fails: ["log_unreachable"],
});
