import { findWindow, inWindow, isCalendar, type WindowRule } from "../../billing/budgets/window.ts";
import type { SqlValue } from "../../storage/engines/raw.ts";
import type { BudgetRow } from "./view.ts";

type Rule = Pick<WindowRule, "time_zone" | "anchor">;

/**
 * Returns the state under a new rule. What is used in the running window stays, and counts until the new rule has its
 * next boundary.
 */
export function keepUse(before: BudgetRow, after: Rule, nowMs: number): Readonly<Record<string, SqlValue>> {
  if (!isMoved(before, after)) return {};
  const { window_start: running, used, noted } = inWindow(before, nowMs);
  const { start } = findWindow({ ...before, ...pickRule(after) }, nowMs);
  return { window_start: Math.max(running, start), used, noted, revision: before.revision + 1 };
}

/** Returns the same for all values of a template, whose windows follow one rule: assignments of SQL in their order. */
export function keepUseOfValues(
  template: BudgetRow,
  after: Rule,
  nowMs: number,
): { readonly sets: readonly string[]; readonly values: readonly SqlValue[] } {
  if (!isMoved(template, after)) return { sets: [], values: [] };
  const { start: running } = findWindow(template, nowMs);
  const { start: next } = findWindow({ ...template, ...pickRule(after) }, nowMs);
  const start = Math.max(running, next);
  return {
    sets: [
      "used = case when window_start < ? then 0 else used end",
      "noted = case when window_start < ? then 0 else noted end",
      // MariaDB assigns from left to right.
      "window_start = case when window_start < ? then ? else window_start end",
      "revision = revision + 1",
    ],
    values: [running, running, start, start],
  };
}

function isMoved(before: BudgetRow, { time_zone, anchor }: Rule): boolean {
  return isCalendar(before.period) && (before.time_zone !== time_zone || before.anchor !== anchor);
}

function pickRule({ time_zone, anchor }: Rule): Rule {
  return { time_zone, anchor };
}
