import { countsSince, type Budget } from "@fairway/wire";

/** A budget that ends before its window, or that is nearly used up. */
export interface NearBudget {
  readonly budget: Budget;
  /** Part of the limit that is used or reserved. */
  readonly part: number;
  /** Unix seconds at which the limit is reached at the pace of the window so far; undefined = not within it. */
  readonly endsAt: number | undefined;
}

/** From here on a budget is near its end. */
export const NEAR = 0.8;
/** Less of a window says nothing about its pace. */
const LEAST_PART_OF_WINDOW = 0.05;

/** Budgets near their end, the nearest first. */
export function nearBudgets(budgets: readonly Budget[], now: number): NearBudget[] {
  return budgets
    .map((budget) => budgetState(budget, now))
    .filter(({ part, endsAt }) => part >= NEAR || endsAt !== undefined)
    .toSorted((a, b) => b.part - a.part);
}

/** How far a budget is used up, and when it ends at this pace. */
export function budgetState(budget: Budget, now: number): NearBudget {
  const { used, held, quota_limit: limit, window_end: end } = budget;
  const start = countsSince(budget);
  const taken = used + held;
  const elapsed = now - start;
  const part = taken / limit;
  if (part >= 1) return { budget, part, endsAt: now };
  if (taken === 0 || elapsed < (end - start) * LEAST_PART_OF_WINDOW) return { budget, part, endsAt: undefined };
  const endsAt = Math.ceil(now + (limit - taken) / (taken / elapsed));
  return { budget, part, endsAt: endsAt < end ? endsAt : undefined };
}
