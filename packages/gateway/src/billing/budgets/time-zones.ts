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

/** Returns the local time of a zone as if it were UTC. Throws if the zone is unknown. */
export function readWallTime(ms: number, timeZone: string): Date {
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
export function findDateStart(date: number, timeZone: string): number {
  const around = { before: date / 1000 - FARTHEST_SECONDS, from: date / 1000 + FARTHEST_SECONDS };
  return findFirst(around, (at) => readWallTime(at * 1000, timeZone).getTime() >= date);
}

/** Returns the difference between the clock of a zone and UTC, in seconds. */
export function readOffset(at: number, timeZone: string): number {
  return readWallTime(at * 1000, timeZone).getTime() / 1000 - at;
}

/** Returns the second after `before` and up to `from` in which the clock of the zone begins to show what it shows then. */
export function findClockChange(around: Span, timeZone: string): number {
  const after = readOffset(around.from, timeZone);
  return findFirst(around, (at) => readOffset(at, timeZone) === after);
}

/** Epoch seconds: what is searched for is false at `before` and true at `from`. */
interface Span {
  readonly before: number;
  readonly from: number;
}

function findFirst(around: Span, isReached: (at: number) => boolean): number {
  let { before, from } = around;
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (isReached(middle)) from = middle;
    else before = middle;
  }
  return from;
}
