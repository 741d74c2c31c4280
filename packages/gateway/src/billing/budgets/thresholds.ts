import type { Budget } from "./budget.ts";

const FULL = 100;
/** The stored form of an empty list. */
const NONE = "-";
export const MAX_THRESHOLD = 200;
export const MAX_THRESHOLDS = 10;

/** Returns the percentages of the limit at which a budget is reported, in ascending order. */
export function readThresholds({
  thresholds,
  soft_percent: soft,
}: Pick<Budget, "thresholds" | "soft_percent">): readonly number[] {
  if (thresholds === "") return soft > 0 && soft < FULL ? [soft, FULL] : [FULL];
  return thresholds === NONE ? [] : thresholds.split(",").map(Number);
}

/** Returns the stored form. */
export function writeThresholds(percents: readonly number[]): string {
  return percents.length === 0 ? NONE : [...new Set(percents)].sort((a, b) => a - b).join(",");
}

/** Returns the lowest threshold below 100 percent; 0 if there is none. */
export function findSoftPercent(percents: readonly number[]): number {
  const soft = percents.filter((percent) => percent < FULL);
  return soft.length === 0 ? 0 : Math.min(...soft);
}

/** Returns the thresholds with `soft` instead of those below 100 percent; 0 = none below. */
export function replaceSoftPercent(percents: readonly number[], soft: number): readonly number[] {
  const others = percents.filter((percent) => percent >= FULL);
  return soft > 0 && soft < FULL ? [soft, ...others] : others.length > 0 ? others : [FULL];
}
