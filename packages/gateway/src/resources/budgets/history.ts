import { countsSince, isIdle, type Budget, type BudgetHistory } from "@fairway/wire";

interface Point {
  readonly start: number;
  readonly quota: number;
}

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;
const WEEK = 7 * DAY;

/**
 * Forecasts the spending of a window. The mean since the budget counts and the mean of the last day have equal weight,
 * so a change of pace shows within a day, but one busy hour causes no alarm. A window without end has the pace of the
 * last seven days, and is forecast for as long as it takes.
 */
export function calculateForecast(budget: Budget, points: readonly Point[], now: number): BudgetHistory["forecast"] {
  const { window_end: end } = budget;
  if (isIdle(budget)) return { per_day: 0, used_at_end: 0, reached_at: 0 };
  const perSecond = end === 0 ? calculateLatestPace(budget, points, now) : calculatePace(budget, points, now);
  const usedAtEnd = Math.round(budget.used + perSecond * Math.max(0, end - now));
  return {
    per_day: Math.round(perSecond * DAY),
    used_at_end: end === 0 ? budget.used : usedAtEnd,
    reached_at: reachedAt(budget, perSecond, now),
  };
}

function calculatePace(budget: Budget, points: readonly Point[], now: number): number {
  const elapsed = Math.max(
    budget.period === "hour" || budget.period === "hours" ? MINUTE : HOUR,
    now - countsSince(budget),
  );
  const mean = budget.used / elapsed;
  if (elapsed <= DAY || points.length === 0) return mean;
  return (mean + sumSince(points, now - DAY) / DAY) / 2;
}

function calculateLatestPace(budget: Budget, points: readonly Point[], now: number): number {
  const elapsed = Math.max(HOUR, now - countsSince(budget));
  return elapsed <= WEEK || points.length === 0 ? budget.used / elapsed : sumSince(points, now - WEEK) / WEEK;
}

function sumSince(points: readonly Point[], since: number): number {
  return points.filter(({ start }) => start >= since).reduce((sum, { quota }) => sum + quota, 0);
}

function reachedAt({ used, quota_limit: limit, window_end: end }: Budget, perSecond: number, now: number): number {
  if (used >= limit) return now;
  if (perSecond <= 0) return 0;
  const at = Math.ceil(now + (limit - used) / perSecond);
  return end === 0 || at < end ? at : 0;
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
