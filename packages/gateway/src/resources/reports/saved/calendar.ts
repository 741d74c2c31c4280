import type { ReportCadence } from "@fairway/wire";
import { findDateStart, readWallTime } from "../../../billing/budgets/time-zones.ts";

export interface Cadence {
  readonly cadence: ReportCadence;
  /** The hour of the day at which the report is made. */
  readonly hour: number;
  readonly timeZone: string;
}

const DAY_MS = 86_400_000;
/** Two months begin within this many days. */
const MAX_DAYS = 63;
const MONDAY = 1;

/** Returns the next time at which the report is made, in epoch seconds; 0 without a schedule. */
export function findNextRun({ cadence, hour, timeZone }: Cadence, after: number): number {
  if (cadence === "none") return 0;
  const today = readDate(after, timeZone);
  for (let day = 0; day <= MAX_DAYS; day++) {
    const date = today + day * DAY_MS;
    if (!isFirstDay(cadence, date)) continue;
    const at = findDateStart(date + hour * 3_600_000, timeZone);
    if (at > after) return at;
  }
  return 0;
}

/** Returns the day, week or month that was over when the report was due. */
export function findSpan(
  { cadence, timeZone }: Cadence,
  due: number,
): { readonly start: number; readonly end: number } {
  let date = readDate(due, timeZone);
  while (!isFirstDay(cadence, date)) date -= DAY_MS;
  const end = findDateStart(date, timeZone);
  let first = date - DAY_MS;
  while (!isFirstDay(cadence, first)) first -= DAY_MS;
  return { start: findDateStart(first, timeZone), end };
}

/** Returns the local date as if it were UTC, in milliseconds. */
function readDate(at: number, timeZone: string): number {
  const wall = readWallTime(at * 1000, timeZone);
  return Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate());
}

/** True for the days on which a new period begins. */
function isFirstDay(cadence: ReportCadence, date: number): boolean {
  const day = new Date(date);
  if (cadence === "week") return day.getUTCDay() === MONDAY;
  return cadence !== "month" || day.getUTCDate() === 1;
}
