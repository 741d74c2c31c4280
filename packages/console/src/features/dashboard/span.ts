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

/** The step of the address, or the one that makes a readable number of bars of this span. */
export function resolveStep(text: string, { from, to }: Bounds): Step {
  const chosen = STEPS.find((step) => step === text);
  if (chosen) return chosen;
  const length = to - from;
  if (length <= 2 * DAY) return "hour";
  return length <= 60 * DAY ? "day" : "week";
}

/** From first to last second of what is shown. Usage is summed by hours and of the past: it begins with a whole one and nothing lies ahead. */
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
 * The finished hours of a span that begins with a whole hour, and as many hours that end where it begins. The hour that
 * still runs is in neither, so that both are equally long and equally finished.
 */
export function compareFinishedHours({ from, to }: Bounds): ComparedSpans | undefined {
  const hours = Math.floor((to + 1 - from) / HOUR);
  if (hours < 1) return undefined;
  const length = hours * HOUR;
  return { hours, now: { from, to: from + length - 1 }, before: { from: from - length, to: from - 1 } };
}

/** Start of the local hour, day or week that a time lies in. `firstDay` counts from Sunday = 0. */
export function findSlotStart(at: number, step: Step, firstDay: number): number {
  if (step === "hour") return at - (at % HOUR);
  const date = new Date(at * 1000);
  date.setHours(0, 0, 0, 0);
  if (step === "week") date.setDate(date.getDate() - ((date.getDay() - firstDay + 7) % 7));
  return date.getTime() / 1000;
}

/** Start of the step after it; days are as long as the clocks say. */
export function startAfter(start: number, step: Step): number {
  if (step === "hour") return start + HOUR;
  const date = new Date(start * 1000);
  date.setDate(date.getDate() + (step === "day" ? 1 : 7));
  return date.getTime() / 1000;
}

interface WeekInfo {
  readonly firstDay: number;
}

/** First day of the week where this language is spoken, Sunday = 0; Monday where the browser does not tell. */
export function findFirstDay(language: string): number {
  const locale = new Intl.Locale(language) as Intl.Locale & { getWeekInfo?(): WeekInfo };
  return (locale.getWeekInfo?.().firstDay ?? 1) % 7;
}
