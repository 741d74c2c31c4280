import { countsSince, isIdle, type Budget } from "@fairway/wire";

/** A budget that will be used up before its window ends, or nearly is. */
export interface NearBudget {
  readonly budget: Budget;
  /** The part of the limit that is used or reserved. */
  readonly part: number;
  /** Unix seconds at which the limit is reached at the window's pace so far; undefined = not within the window. */
  readonly endsAt: number | undefined;
}

/** From this part on, a budget is nearly used up. */
export const NEAR = 0.8;
/** A smaller part of a window says nothing about its pace. */
const LEAST_PART_OF_WINDOW = 0.05;
/** The same for a window without end, and how far ahead it is looked. */
const LEAST_SECONDS = 86_400;
const FAR_SECONDS = 30 * 86_400;

/** Returns the budgets that are nearly used up, the nearest first. */
export function nearBudgets(budgets: readonly Budget[], now: number): NearBudget[] {
  return budgets
    .map((budget) => budgetState(budget, now))
    .filter(({ part, endsAt }) => part >= NEAR || endsAt !== undefined)
    .toSorted((a, b) => b.part - a.part);
}

/** Returns how much of a budget is used, and when it runs out at this pace. */
export function budgetState(budget: Budget, now: number): NearBudget {
  const { used, held, quota_limit: limit, window_end: end } = budget;
  const start = countsSince(budget);
  const taken = used + held;
  const elapsed = now - start;
  const part = taken / limit;
  if (part >= 1) return { budget, part, endsAt: now };
  const isEarly = end > 0 ? elapsed < (end - start) * LEAST_PART_OF_WINDOW : elapsed < LEAST_SECONDS;
  if (taken === 0 || isIdle(budget) || isEarly) return { budget, part, endsAt: undefined };
  const endsAt = Math.ceil(now + (limit - taken) / (taken / elapsed));
  return { budget, part, endsAt: endsAt < (end > 0 ? end : now + FAR_SECONDS) ? endsAt : undefined };
}
