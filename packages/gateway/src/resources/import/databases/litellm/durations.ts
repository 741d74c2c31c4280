import { MAX_BUDGET_HOURS } from "@fairway/wire";
import type { BudgetPeriod } from "../../../../billing/budgets/window.ts";

/** The window of a budget. */
export interface Window {
  readonly period: BudgetPeriod;
  /** Hours of the period `hours`; otherwise 0. */
  readonly length: number;
  /** False: the window there is another one, which the report names. */
  readonly isSame: boolean;
}

const CALENDAR: Readonly<Record<string, BudgetPeriod>> = {
  "24h": "day",
  "1d": "day",
  "7d": "week",
  "1w": "week",
  "28d": "month",
  "30d": "month",
  "31d": "month",
  "1mo": "month",
  "3mo": "quarter",
  "12mo": "year",
  "365d": "year",
};

const HOURS: Readonly<Record<string, number>> = { h: 1, d: 24, w: 7 * 24, mo: 30 * 24 };

/** Returns the window of a duration such as `30d`; undefined if budgets here have no window of that length. */
export function readDuration(text: string): Window | undefined {
  const period = CALENDAR[text];
  if (period !== undefined) return { period, length: 0, isSame: true };
  const [, count = "", unit = ""] = /^(\d{1,6})(s|m|h|d|w|mo)$/.exec(text) ?? [];
  if (count === "" || Number(count) === 0) return undefined;
  if (unit === "s" || unit === "m") return { period: "hours", length: 1, isSame: text === "60m" || text === "3600s" };
  const length = Number(count) * (HOURS[unit] ?? 0);
  return length <= MAX_BUDGET_HOURS ? { period: "hours", length, isSame: unit === "h" } : undefined;
}
