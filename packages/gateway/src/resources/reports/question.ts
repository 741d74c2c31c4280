import {
  MAX_REPORT_FIELDS,
  MAX_REPORT_INTERVALS,
  MAX_REPORT_SECONDS,
  REPORT_FIELDS,
  type ReportField,
} from "@fairway/wire";
import { isTimeZone } from "../../billing/budgets/time-zones.ts";
import { DAY } from "../statistics/dimensions.ts";
import { isReportField } from "./fields.ts";
import { INTERVALS, listPeriods, type Interval, type ReportPeriod } from "./periods.ts";
import { refuse } from "./refuse.ts";
import { findReportFormat, type ReportFormat } from "./send-report.ts";
import { readSharing, type Sharing } from "./share.ts";

/** A question as the calls get it. */
export interface Asked {
  readonly by: readonly string[];
  readonly start: number;
  readonly end: number;
  readonly interval: string;
  readonly time_zone: string;
  /** Values of a tag whose cost the others share, and how; see `readSharing`. */
  readonly shared?: string;
  readonly split?: string;
}

export interface Question {
  readonly by: readonly ReportField[];
  readonly start: number;
  readonly end: number;
  readonly periods: readonly ReportPeriod[];
  /** Undefined if each row has its own cost alone. */
  readonly sharing: Sharing | undefined;
}

const DEFAULT_SECONDS = 30 * DAY;
/** Fields that tell about others than the caller. */
const OF_OPERATORS: readonly string[] = ["user", "team", "channel"];

/** Refuses fields that only administrators may group by. */
export function checkOwnFields(by: readonly string[]): void {
  const closed = by.find((field) => OF_OPERATORS.includes(field));
  if (closed !== undefined) throw refuse("by", `must not have ${closed}, which is for administrators`);
}

/** Reads a question. Throws a refusal that names the field. */
export function readQuestion({ by, interval, time_zone: zone, ...asked }: Asked, now: number): Question {
  const fields = by.filter(isReportField);
  const unknown = by.find((name) => !isReportField(name));
  if (unknown !== undefined) throw refuse("by", `must have names of ${REPORT_FIELDS.join(", ")} or tag:KEY`);
  if (by.length > MAX_REPORT_FIELDS) throw refuse("by", `must have at most ${MAX_REPORT_FIELDS} names`);
  const { start, end } = readSpan(asked, now);
  const timeZone = zone === "" ? "UTC" : zone;
  if (!isTimeZone(timeZone)) throw refuse("time_zone", "must be the name of a time zone, such as Europe/Berlin");
  const periods: ReportPeriod[] = [];
  for (const period of listPeriods({ start, end, interval: readInterval(interval), timeZone })) {
    periods.push(period);
    if (periods.length > MAX_REPORT_INTERVALS)
      throw refuse("interval", `must divide the period into at most ${MAX_REPORT_INTERVALS} parts`);
  }
  const sharing = readSharing({ shared: asked.shared ?? "", split: asked.split ?? "" }, by);
  return { by: fields, start, end, periods, sharing };
}

function readSpan(asked: Pick<Asked, "start" | "end">, now: number): Pick<Question, "start" | "end"> {
  const end = asked.end > 0 ? asked.end : now + 1;
  const start = asked.start > 0 ? asked.start : end - DEFAULT_SECONDS;
  if (start >= end) throw refuse("end", "must be later than start");
  if (end - start > MAX_REPORT_SECONDS)
    throw refuse("start", `must be at most ${MAX_REPORT_SECONDS / DAY} days before end`);
  return { start, end };
}

export interface FileAsked {
  readonly format: string;
  readonly bom: number;
}

/** Reads the format before the report, which may take seconds. */
export function readFile({ format, bom }: FileAsked): { readonly format: ReportFormat; readonly hasMark: boolean } {
  const found = findReportFormat(format);
  if (!found) throw refuse("format", "must be json, csv or parquet");
  return { format: found, hasMark: bom === 1 };
}

function readInterval(text: string): Interval {
  const found = text === "" ? "none" : INTERVALS.find((name) => name === text);
  if (!found) throw refuse("interval", `must be one of ${INTERVALS.join(", ")}`);
  return found;
}
