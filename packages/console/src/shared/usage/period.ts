import type { Bounds } from "../../lib/range.ts";

const HOUR = 3_600;
const DAY = 86_400;

/** Ranges of the figures, with the length and number of their points. */
const RANGES = {
  "24h": { interval: HOUR, count: 24 },
  "7d": { interval: 6 * HOUR, count: 28 },
  "30d": { interval: DAY, count: 30 },
} as const;

export type UsageRange = keyof typeof RANGES;
export const USAGE_RANGES = Object.keys(RANGES) as readonly UsageRange[];

export function parseUsageRange(text: string): UsageRange {
  return USAGE_RANGES.find((name) => name === text) ?? "24h";
}

export interface Period extends Bounds {
  /** Seconds of a point. */
  readonly interval: number;
  /** Seconds that this clock is ahead of UTC, in whole hours. */
  readonly offset: number;
}

/** Returns the points up to `now`, the last one unfinished; days and parts of days begin at local midnight. */
export function buildPeriod(range: UsageRange, now: number, offset: number): Period {
  const { interval, count } = RANGES[range];
  const whole = Math.round(offset / HOUR) * HOUR;
  const last = Math.floor((now + whole) / interval) * interval - whole;
  return { from: last - (count - 1) * interval, to: now, interval, offset: whole };
}

/** Returns a period of the same length that is equally unfinished. */
export function periodBefore({ from, to, interval, offset }: Period): Period {
  const length = Math.ceil((to + 1 - from) / interval) * interval;
  return { from: from - length, to: to - length, interval, offset };
}

export function localOffset(now: number): number {
  return -new Date(now * 1000).getTimezoneOffset() * 60;
}
