import { countsSince, isIdle, type BudgetHistory } from "@fairway/wire";
import type { ChartSlot } from "../../ui/chart/types.ts";

/** About as many points as a chart can show. */
const MAX_SLOTS = 62;

/** Returns the use of the limit over the window: so far, and at the current pace until its end. */
export function burnDown({ budget, interval, points, forecast }: BudgetHistory, now: number): ChartSlot[] {
  const { window_start: start, quota_limit: limit } = budget;
  if (isIdle(budget)) return [];
  // Without an end, the chart ends now.
  const end = budget.window_end > 0 ? budget.window_end : Math.max(now, start + interval);
  const since = countsSince(budget);
  const length = Math.max(interval, Math.ceil((end - start) / MAX_SLOTS / interval) * interval);
  const slots: ChartSlot[] = [];
  for (let at = start; at < end; at += length) {
    const until = Math.min(end, at + length);
    slots.push({ start: at, end: until, values: { limit, ...valuesAt(until) } });
  }
  return slots;

  function valuesAt(until: number): Record<string, number> {
    if (until <= since) return {};
    if (until <= now) return { used: usedUntil(until) };
    const isRunning = until - length <= now;
    const part = end <= now ? 1 : (until - now) / (end - now);
    const expected = Math.round(budget.used + (forecast.used_at_end - budget.used) * part);
    // The current slot ends one line and begins the other.
    return isRunning ? { used: budget.used, forecast: budget.used } : { forecast: expected };
  }

  function usedUntil(until: number): number {
    return points.reduce((sum, point) => (point.start < until ? sum + point.quota : sum), 0);
  }
}
