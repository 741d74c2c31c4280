import { findDateStart, readOffset, readWallTime } from "../../billing/budgets/time-zones.ts";
import { DAY, HOUR } from "../statistics/dimensions.ts";

export const INTERVALS = ["none", "hour", "day", "week", "month"] as const;
export type Interval = (typeof INTERVALS)[number];

/** One interval of a report, cut to its period: from the first second until before `end`. */
export interface ReportPeriod {
  readonly start: number;
  readonly end: number;
}

interface Span extends ReportPeriod {
  readonly interval: Interval;
  readonly timeZone: string;
}

/** Yields the intervals of a span as the clock of the zone has them; a day with a clock change has 23 or 25 hours. */
export function* listPeriods({ start, end, interval, timeZone }: Span): Generator<ReportPeriod> {
  let from = start;
  if (interval === "none") yield { start, end };
  if (interval === "none") return;
  while (from < end) {
    const next = interval === "hour" ? findNextHour(from, timeZone) : findNextDate(from, interval, timeZone);
    yield { start: from, end: Math.min(next, end) };
    from = next;
  }
}

function findNextHour(at: number, timeZone: string): number {
  const local = at + readOffset(at, timeZone);
  return at + HOUR - (local % HOUR);
}

function findNextDate(at: number, interval: "day" | "week" | "month", timeZone: string): number {
  const wall = readWallTime(at * 1000, timeZone);
  const [year, month, date] = [wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate()];
  const sinceMonday = (wall.getUTCDay() + 6) % 7;
  const days = { day: date + 1, week: date - sinceMonday + 7 };
  const next = interval === "month" ? Date.UTC(year, month + 1, 1) : Date.UTC(year, month, days[interval]);
  const found = findDateStart(next, timeZone);
  // A date that the zone skips begins with the one after it.
  return found > at ? found : at + DAY;
}
