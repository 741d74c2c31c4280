import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams, queryInt, queryText } from "../core/envelope.ts";
import { queryTexts } from "../core/lists.ts";

/** What a report can group by; a tag is `tag:` with its key. */
export const REPORT_FIELDS = ["user", "team", "actor", "token", "model", "group", "channel", "end_user"] as const;
export type ReportField = (typeof REPORT_FIELDS)[number] | `tag:${string}`;

/** Most fields of one report. */
export const MAX_REPORT_FIELDS = 3;
/** Most rows of one report; further groups are one row `~other`. */
export const MAX_REPORT_ROWS = 10_000;
/** Longest period of a report. */
export const MAX_REPORT_SECONDS = 400 * 86_400;
/** Most intervals of a report. */
export const MAX_REPORT_INTERVALS = 1_000;

/** Stands for the calls without the tag where the cost of values is shared. */
export const NO_TAG_VALUE = "~none";
/** Most values whose cost is shared, and most weights. */
export const MAX_SHARED_VALUES = 100;
export const MAX_SHARE_WEIGHT = 1_000_000;

/** Reads pairs such as `app=shop|app=crm`; each is divided at its first `=`, because no value of a tag has one. */
export function readSharePairs(text: string): (readonly [string, string])[] {
  return text.split("|").map((pair): readonly [string, string] => {
    const at = pair.indexOf("=");
    return at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
  });
}

export function writeSharePairs(pairs: Iterable<readonly [string, string | number]>): string {
  return Array.from(pairs, ([name, value]) => `${name}=${value}`).join("|");
}

const figures = {
  /** Calls, failed ones included; the items of a batch are calls. */
  calls: z.int(),
  errors: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  /** Quota units. */
  quota: z.int(),
  /** US dollars with six decimals. */
  cost_usd: z.string(),
};

/** A row has a member for each field of the report, such as `model` or `tag:app`; "" = the calls without one. */
export const ReportRow = z.looseObject({
  /** Epoch seconds at which the interval begins; the start of the report without intervals. */
  start: z.int(),
  ...figures,
});
export type ReportRow = z.output<typeof ReportRow>;

export const UsageReport = z.object({
  /** The names of the columns, in the order of files. */
  columns: z.array(z.string()),
  /** The most expensive first; by interval, the earliest first. */
  rows: z.array(ReportRow),
  /** All calls of the period, also those in `~other`. */
  total: z.object(figures),
  start: z.int(),
  /** The first second after the period. */
  end: z.int(),
  /** Later calls may be missing, because they are still being written. */
  complete_until: z.int(),
  /** True if groups were joined in a row `~other`. */
  bounded: z.boolean(),
  /** How many groups that row has. */
  other_groups: z.int(),
});
export type UsageReport = z.output<typeof UsageReport>;

const selfFilter = {
  /** Up to three of the fields, joined by commas; none = one row. */
  by: queryTexts,
  /** Epoch seconds; 0 = 30 days before the end. */
  start: queryInt,
  /** Epoch seconds of the first second after the period; 0 = now. */
  end: queryInt,
  /** `none` (default), `hour`, `day`, `week` (from Monday) or `month`. */
  interval: queryText,
  /** Name of the zone in which days begin, such as Europe/Berlin; "" = UTC. */
  time_zone: queryText,
  /** `json` (default), or `csv` or `parquet` for a file. */
  format: queryText,
  /** 1 = a `csv` file begins with a byte order mark. */
  bom: queryInt,
  /**
   * Values of one tag whose cost the others share, such as `app=platform|app=~none`, where `~none` are calls without
   * the tag. The tag is among `by`. Rows get `shared`, `total` and `total_usd`: those whose cost is shared end at 0.
   */
  shared: queryText,
  /** How it is shared: `proportional` to the own cost (default), `even`, or weights such as `shop=2|crm=1`. */
  split: queryText,
  token_name: queryText,
  token_id: queryInt,
  /** Exact name, or a pattern with `%` as wildcard. */
  model_name: queryText,
  models: queryTexts,
  tokens: queryTexts,
  group: queryText,
  /** Calls with all of these tags, `app=shop|env=prod`; a key alone finds calls that have it. */
  tags: queryText,
  end_user: queryText,
};
const SelfFilter = z.object(selfFilter);

export const reportUsage = endpoint({
  name: "reportUsage",
  method: "GET",
  path: "/api/report/usage",
  access: "admin",
  summary: "Calls, tokens and cost by any fields and filters, exact to the unit, from sums and the rows of the log.",
  query: z.object({ ...selfFilter, username: queryText, user_id: queryInt, channel: queryInt }),
  data: UsageReport,
  fails: ["invalid_field", "log_unreachable"],
});

export const reportUsageSelf = endpoint({
  name: "reportUsageSelf",
  method: "GET",
  path: "/api/report/self/usage",
  access: "user",
  summary: "The same of the caller, by `token`, `model`, `group`, `end_user` and tags.",
  query: SelfFilter,
  data: UsageReport,
  fails: ["invalid_field", "log_unreachable"],
});

export const teamReport = endpoint({
  name: "teamReport",
  method: "GET",
  path: "/api/team/{id}/report/usage",
  access: "user",
  summary: "The same of a team, also by `actor`; for members, of their own keys.",
  params: idParams,
  query: SelfFilter,
  data: UsageReport,
  fails: ["team_not_found", "team_right_missing", "invalid_field", "log_unreachable"],
});
