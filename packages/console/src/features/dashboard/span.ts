import { resolveBounds, rangeName, type Bounds, type RangeName } from "../../lib/range.ts";

const STEPS = ["hour", "day", "week"] as const;
/** How long one bar is. */
export type Step = (typeof STEPS)[number];

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** The range for the operator's default step if the address has none. */
const USUAL: Record<Step, RangeName> = { hour: "24h", day: "7d", week: "30d" };

export function usualRange(step: Step): RangeName {
  return USUAL[step];
}

/** Returns the step of the address, or one that divides this span into a readable number of bars. */
export function resolveStep(text: string, { from, to }: Bounds): Step {
  const chosen = STEPS.find((step) => step === text);
  if (chosen) return chosen;
  const length = to - from;
  if (length <= 2 * DAY) return "hour";
  return length <= 60 * DAY ? "day" : "week";
}

/**
 * Returns the first and last second to show. Usage is summed by the hour and in the past: the span begins with a whole
 * hour and does not reach into the future.
 */
export function resolveSpan(
  range: string,
  usual: RangeName,
  now: number,
  custom: { from: string; to: string },
): Bounds {
  const bounds = resolveBounds(rangeName(range, usual), now, custom);
  const to = bounds.to === 0 ? now : Math.min(bounds.to, now);
  const from = bounds.from === 0 ? to - 30 * DAY : Math.min(bounds.from, to);
  return { from: Math.min(Math.ceil(from / HOUR) * HOUR, to), to };
}

export interface ComparedSpans {
  readonly hours: number;
  readonly now: Bounds;
  readonly before: Bounds;
}

/**
 * Returns the finished hours of a span that begins with a whole hour, and as many hours before it. Both leave out the
 * current hour, so that they are equally long and equally finished.
 */
export function compareFinishedHours({ from, to }: Bounds): ComparedSpans | undefined {
  const hours = Math.floor((to + 1 - from) / HOUR);
  if (hours < 1) return undefined;
  const length = hours * HOUR;
  return { hours, now: { from, to: from + length - 1 }, before: { from: from - length, to: from - 1 } };
}

/** Returns the start of the local hour, day or week that contains a time. `firstDay` counts from Sunday = 0. */
export function findSlotStart(at: number, step: Step, firstDay: number): number {
  if (step === "hour") return at - (at % HOUR);
  const date = new Date(at * 1000);
  date.setHours(0, 0, 0, 0);
  if (step === "week") date.setDate(date.getDate() - ((date.getDay() - firstDay + 7) % 7));
  return date.getTime() / 1000;
}

/** Returns the start of the next step; days have the length of the local clock. */
export function startAfter(start: number, step: Step): number {
  if (step === "hour") return start + HOUR;
  const date = new Date(start * 1000);
  date.setDate(date.getDate() + (step === "day" ? 1 : 7));
  return date.getTime() / 1000;
}

interface WeekInfo {
  readonly firstDay: number;
}

/** Returns the first day of the week for this language, Sunday = 0; Monday if the browser does not know it. */
export function findFirstDay(language: string): number {
  const locale = new Intl.Locale(language) as Intl.Locale & { getWeekInfo?(): WeekInfo };
  return (locale.getWeekInfo?.().firstDay ?? 1) % 7;
}
