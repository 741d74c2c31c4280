import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams } from "../core/envelope.ts";
import { Budget } from "./budgets.ts";

/** Spending of the budget's subject in the current window, and its forecast. */
export const BudgetHistory = z.object({
  /** The budget in its current state. */
  budget: Budget,
  /** Length of one point in seconds. */
  interval: z.int(),
  /** Intervals with spending, oldest first. */
  points: z.array(z.object({ start: z.int(), quota: z.int() })),
  /** An estimate from the spending so far. */
  forecast: z.object({
    /** Quota units a day: the mean of the window so far and, after its first day, of the last day. */
    per_day: z.int(),
    /** The forecast for the end of the window. */
    used_at_end: z.int(),
    /** Epoch seconds at which the limit is reached; 0 = not within the window. */
    reached_at: z.int(),
  }),
});
export type BudgetHistory = z.output<typeof BudgetHistory>;

export const budgetHistory = endpoint({
  name: "budgetHistory",
  method: "GET",
  path: "/api/budget/{id}/history",
  access: "admin",
  summary: "Spending of one budget over its running window, with a forecast.",
  params: idParams,
  data: BudgetHistory,
  fails: ["budget_not_found", "user_view_not_permitted"],
});

export const budgetHistorySelf = endpoint({
  name: "budgetHistorySelf",
  method: "GET",
  path: "/api/budget/self/{id}/history",
  access: "user",
  summary: "The same of a budget of the caller or of one of the caller's tokens.",
  params: idParams,
  data: BudgetHistory,
  fails: ["budget_not_found"],
});
