export const BUDGET_PERIODS = ["day", "week", "month"] as const;
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** Epoch seconds at which a window and the next one begin. */
export interface BudgetWindow {
  readonly start: number;
  readonly end: number;
}

const DAY_MS = 86_400_000;
const MONDAY = 1;
/** No time zone is farther from UTC than this. */
const FARTHEST_SECONDS = 15 * 3_600;

/** True for names that the time zone data knows. */
export function isTimeZone(name: string): boolean {
  try {
    getDateFormatter(name);
    return true;
  } catch {
    return false;
  }
}

/** The last window of each period and zone, because calendars are slow and nearly every call needs the same window. */
const latest: Readonly<Record<BudgetPeriod, Map<string, BudgetWindow>>> = {
  day: new Map(),
  week: new Map(),
  month: new Map(),
};

/**
 * Returns the calendar day, week (from Monday) or month of a time zone that contains `nowMs`. Throws if the zone is
 * unknown.
 */
export function budgetWindow(period: BudgetPeriod, timeZone: string, nowMs: number): BudgetWindow {
  const ofPeriod = latest[period];
  const known = ofPeriod.get(timeZone);
  if (known && nowMs >= known.start * 1000 && nowMs < known.end * 1000) return known;
  const window = windowAt(period, timeZone, nowMs);
  ofPeriod.set(timeZone, window);
  return window;
}

function windowAt(period: BudgetPeriod, timeZone: string, nowMs: number): BudgetWindow {
  const local = wallTime(nowMs, timeZone);
  const today = Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate());
  const [first, next] = calculatePeriodDates(period, new Date(today));
  return { start: secondsAt(first, timeZone), end: secondsAt(next, timeZone) };
}

/** Returns the first and the next date of the period, as midnights in UTC. */
function calculatePeriodDates(period: BudgetPeriod, today: Date): readonly [number, number] {
  const at = today.getTime();
  switch (period) {
    case "day":
      return [at, at + DAY_MS];
    case "week": {
      const monday = at - ((today.getUTCDay() - MONDAY + 7) % 7) * DAY_MS;
      return [monday, monday + 7 * DAY_MS];
    }
    case "month": {
      const [year, month] = [today.getUTCFullYear(), today.getUTCMonth()];
      return [Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1)];
    }
  }
}

const clocks = new Map<string, Intl.DateTimeFormat>();

function getDateFormatter(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone);
  if (known) return known;
  const numbers = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
  const time = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const;
  const clock = new Intl.DateTimeFormat("en-US", { timeZone, calendar: "gregory", ...numbers, ...time });
  clocks.set(timeZone, clock);
  return clock;
}

/** Returns the local time of a zone as if it were UTC. */
function wallTime(ms: number, timeZone: string): Date {
  const parts = new Map(
    getDateFormatter(timeZone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
  return new Date(Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second")));
}

/**
 * Returns the first second of a local date, or of the next one if the date is skipped. A clock change at midnight may
 * skip that hour, so the function searches for it.
 */
function secondsAt(date: number, timeZone: string): number {
  let [before, from] = [date / 1000 - FARTHEST_SECONDS, date / 1000 + FARTHEST_SECONDS];
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (wallTime(middle * 1000, timeZone).getTime() >= date) from = middle;
    else before = middle;
  }
  return from;
}
