import { countsSince, type Budget, type BudgetHistory } from "@fairway/wire";

interface Point {
  readonly start: number;
  readonly quota: number;
}

const HOUR = 3_600;
const DAY = 86_400;

/**
 * Forecasts the spending of a window. The mean since the budget counts and the mean of the last day have equal weight,
 * so a change of pace shows within a day, but one busy hour causes no alarm.
 */
export function calculateForecast(budget: Budget, points: readonly Point[], now: number): BudgetHistory["forecast"] {
  const elapsed = Math.max(HOUR, now - countsSince(budget));
  const mean = budget.used / elapsed;
  const recentSpan = Math.min(DAY, elapsed);
  const recent = points.filter(({ start }) => start >= now - recentSpan).reduce((sum, { quota }) => sum + quota, 0);
  const perSecond = elapsed <= DAY ? mean : (mean + recent / recentSpan) / 2;
  const usedAtEnd = Math.round(budget.used + perSecond * Math.max(0, budget.window_end - now));
  return {
    per_day: Math.round(perSecond * DAY),
    used_at_end: usedAtEnd,
    reached_at: reachedAt(budget, perSecond, now),
  };
}

function reachedAt({ used, quota_limit: limit, window_end: end }: Budget, perSecond: number, now: number): number {
  if (used >= limit) return now;
  if (perSecond <= 0) return 0;
  const at = Math.ceil(now + (limit - used) / perSecond);
  return at < end ? at : 0;
}

/**
 * Returns the spending that the budget counts. The hour in which the budget was created is summed as a whole, so only
 * the part of it that `used` contains is returned.
 */
export function countedPoints(budget: Budget, points: readonly Point[]): Point[] {
  const since = countsSince(budget);
  if (since === budget.window_start) return [...points];
  const whole = points.filter(({ start }) => start >= since);
  const [begun] = points.filter(({ start }) => start < since && start + HOUR > since);
  const rest = budget.used - whole.reduce((sum, { quota }) => sum + quota, 0);
  return begun && rest > 0 ? [{ start: begun.start, quota: Math.min(begun.quota, rest) }, ...whole] : whole;
}
