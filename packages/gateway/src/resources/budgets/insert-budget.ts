import { findWindow, type BudgetPeriod, type WindowRule } from "../../billing/budgets/window.ts";
import type { BudgetScope } from "../../billing/budgets/budget.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { RawTransaction, SqlValue } from "../../storage/engines/raw.ts";
import type { ChangeableTerms } from "./terms.ts";
import { writeTerms } from "./view.ts";

/** The members that identify a budget, with `length`. Only `length` can change. */
export interface BudgetIdentity {
  readonly scope: BudgetScope;
  readonly subject: string;
  readonly period: BudgetPeriod;
  readonly filter_model: string;
}

export type NewBudget = BudgetIdentity & ChangeableTerms;

/** Every one of them is a part of each call. */
const MAX_PER_SUBJECT = 16;

/** The revision of the options, which the transaction has raised, lets one budget be made at a time. */
export async function insertBudget(tx: RawTransaction, budget: NewBudget, clock: Clock): Promise<void> {
  const { scope, subject, period, filter_model, ...terms } = budget;
  const counting = "select count(*) as count from budgets where scope = ? and subject = ?";
  const [row] = await tx.rows<{ count: number }>(counting, [scope, subject]);
  const count = Number(row?.count ?? 0);
  if (count >= MAX_PER_SUBJECT) throw new Refusal("budget_too_many", { field: "subject", values: { count } });
  const columns: Readonly<Record<string, SqlValue>> = {
    scope,
    subject,
    period,
    filter_model,
    ...writeTerms(terms),
    window_start: findFirstWindow({ ...terms, period }, clock),
    created_at: seconds(clock),
  };
  const marks = Object.keys(columns).map(() => "?");
  const sql = `insert into budgets (${Object.keys(columns).join(", ")}) values (${marks.join(", ")})`;
  await tx.run(sql, Object.values(columns));
}

function findFirstWindow(rule: WindowRule, clock: Clock): number {
  return findWindow({ ...rule, window_start: rule.period === "total" ? seconds(clock) : 0 }, clock.now()).start;
}
