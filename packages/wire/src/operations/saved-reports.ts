import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams, queryInt, queryText } from "../core/envelope.ts";
import { MAX_REPORT_FIELDS, UsageReport } from "./reports.ts";

/** Most saved reports of one person. */
export const MAX_SAVED_REPORTS = 50;

/** Most people to whom a report is mailed besides its owner. */
export const MAX_REPORT_RECEIVERS = 10;

/** What a mail has besides the sums. */
export const REPORT_ATTACHMENTS = ["none", "csv"] as const;

/** How often a report is made by itself. */
export const REPORT_CADENCES = ["none", "day", "week", "month"] as const;
export type ReportCadence = (typeof REPORT_CADENCES)[number];

const filter = z.string().check(z.maxLength(512));
/** Has room for a hundred values of the greatest length. */
const sharing = z.string().check(z.maxLength(16_384));

/** What a saved report asks. Members that are absent filter nothing. */
export const ReportQuestion = z.strictObject({
  by: z.array(z.string().check(z.maxLength(64))).check(z.maxLength(MAX_REPORT_FIELDS)),
  /** Length of the period up to now, when the report is run. */
  days: z.int().check(z.minimum(1), z.maximum(400)),
  interval: z.optional(z.enum(["none", "hour", "day", "week", "month"])),
  /** Where days begin. Default: UTC. */
  time_zone: z.optional(z.string().check(z.maxLength(64))),
  /** Values of a tag of `by` whose cost the others share, such as `app=platform|app=~none`. */
  shared: z.optional(sharing),
  /** How it is shared: `proportional` (default), `even`, or weights such as `shop=2|crm=1`. */
  split: z.optional(sharing),
  tags: z.optional(filter),
  end_user: z.optional(filter),
  model_name: z.optional(filter),
  token_name: z.optional(filter),
  group: z.optional(filter),
  /** For administrators. */
  username: z.optional(filter),
  /** For administrators. */
  channel: z.optional(z.int()),
});
export type ReportQuestion = z.output<typeof ReportQuestion>;

const name = z.string().check(z.trim(), z.minLength(1), z.maxLength(64));
const hour = z.int().check(z.minimum(0), z.maximum(23));

export const SavedReport = z.object({
  id: z.int(),
  name: z.string(),
  question: ReportQuestion,
  /** `none` or how often it is made: each time for the day, week or month that is over. */
  cadence: z.enum(REPORT_CADENCES),
  /** The hour of the day in the zone of the question. */
  hour: z.int(),
  /** True: the report is mailed to its owner. Endpoints for `report.ready` get it in any case. */
  mail: z.boolean(),
  /** Names of the people to whom it is mailed too. They must be in a team with the owner, or in the team that owns it. */
  receivers: z.array(z.string()),
  /** `csv`: mails have the rows as a file, if it is not larger than 5 MiB. */
  attach: z.enum(REPORT_ATTACHMENTS),
  /** Epoch seconds; 0 = not scheduled. */
  next_at: z.int(),
  /** Epoch seconds at which it was made last; 0 = never. */
  sent_at: z.int(),
  created_at: z.int(),
  updated_at: z.int(),
});
export type SavedReport = z.output<typeof SavedReport>;

const schedule = {
  cadence: z.optional(z.enum(REPORT_CADENCES)),
  hour: z.optional(hour),
  mail: z.optional(z.boolean()),
  receivers: z.optional(
    z.array(z.string().check(z.minLength(1), z.maxLength(64))).check(z.maxLength(MAX_REPORT_RECEIVERS)),
  ),
  attach: z.optional(z.enum(REPORT_ATTACHMENTS)),
};

export const savedReportList = endpoint({
  name: "savedReportList",
  method: "GET",
  path: "/api/report/saved/",
  access: "user",
  summary: "Lists the caller's saved reports by name.",
  data: z.array(SavedReport),
});

export const savedReportCreate = endpoint({
  name: "savedReportCreate",
  method: "POST",
  path: "/api/report/saved/",
  access: "user",
  summary: "Saves a report under a name, and schedules it if asked to.",
  body: z.strictObject({ name, question: ReportQuestion, ...schedule }),
  data: SavedReport,
  fails: ["invalid_field", "report_name_taken", "report_limit_reached"],
});

export const savedReportUpdate = endpoint({
  name: "savedReportUpdate",
  method: "PUT",
  path: "/api/report/saved/{id}",
  access: "user",
  summary: "Changes a saved report or its schedule; absent members stay.",
  params: idParams,
  body: z.strictObject({ name: z.optional(name), question: z.optional(ReportQuestion), ...schedule }),
  data: SavedReport,
  fails: ["invalid_field", "report_not_found", "report_name_taken"],
});

export const savedReportDelete = endpoint({
  name: "savedReportDelete",
  method: "DELETE",
  path: "/api/report/saved/{id}",
  access: "user",
  summary: "Deletes a saved report and its schedule.",
  params: idParams,
  fails: ["report_not_found"],
});

export const savedReportRun = endpoint({
  name: "savedReportRun",
  method: "GET",
  path: "/api/report/saved/{id}/usage",
  access: "user",
  summary: "Makes a saved report, of the calls that its owner may see.",
  params: idParams,
  query: z.object({
    /** Epoch seconds; 0 = the days of the question before the end. */
    start: queryInt,
    /** Epoch seconds of the first second after the period; 0 = now. */
    end: queryInt,
    /** `json` (default), or `csv` or `parquet` for a file. */
    format: queryText,
    /** 1 = a `csv` file begins with a byte order mark. */
    bom: queryInt,
  }),
  data: UsageReport,
  fails: ["invalid_field", "report_not_found", "log_unreachable"],
});
