import type { BudgetMaker } from "@fairway/wire";
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
  readonly managed_by: BudgetMaker;
}

export type NewBudget = BudgetIdentity & ChangeableTerms;

/** Every one of them is a part of each call. */
const MAX_PER_SUBJECT = 16;
/** A team leaves room for those of administrators. */
const MAX_OF_TEAM = 8;

/** The revision of the options, which the transaction has raised, lets one budget be made at a time. */
export async function insertBudget(tx: RawTransaction, budget: NewBudget, clock: Clock): Promise<void> {
  const { scope, subject, period, filter_model, managed_by, ...terms } = budget;
  await checkCount(tx, budget);
  await checkAbove(tx, budget);
  const columns: Readonly<Record<string, SqlValue>> = {
    scope,
    subject,
    period,
    filter_model,
    managed_by,
    ...writeTerms(terms),
    window_start: findFirstWindow({ ...terms, period }, clock),
    created_at: seconds(clock),
  };
  const marks = Object.keys(columns).map(() => "?");
  const sql = `insert into budgets (${Object.keys(columns).join(", ")}) values (${marks.join(", ")})`;
  await tx.run(sql, Object.values(columns));
}

async function checkCount(tx: RawTransaction, { scope, subject, managed_by: maker }: NewBudget): Promise<void> {
  const counting =
    "select count(*) as count, coalesce(sum(case when managed_by = 'team' then 1 else 0 end), 0) as own from budgets where scope = ? and subject = ?";
  const [row] = await tx.rows<{ count: number; own: number }>(counting, [scope, subject]);
  const [count, own] = [Number(row?.count ?? 0), Number(row?.own ?? 0)];
  if (count >= MAX_PER_SUBJECT) throw new Refusal("budget_too_many", { field: "subject", values: { count } });
  if (maker === "team" && own >= MAX_OF_TEAM)
    throw new Refusal("budget_too_many", { field: "subject", values: { count: own } });
}

type Limited = BudgetIdentity & Pick<ChangeableTerms, "length" | "quota_limit">;

/** Throws `budget_above_administrator` if a team sets more than an administrator allows in such windows. */
export async function checkAbove(tx: RawTransaction, budget: Limited): Promise<void> {
  if (budget.managed_by !== "team") return;
  const { scope, subject, period, length, filter_model, quota_limit } = budget;
  const [above] = await tx.rows<{ quota_limit: number }>(
    "select quota_limit from budgets where scope = ? and subject = ? and period = ? and length = ? and filter_model = ? and managed_by = 'admin' and is_hard = 1",
    [scope, subject, period, length, filter_model],
  );
  if (above && above.quota_limit < quota_limit)
    throw new Refusal("budget_above_administrator", { field: "quota_limit", values: { limit: above.quota_limit } });
}

function findFirstWindow(rule: WindowRule, clock: Clock): number {
  return findWindow({ ...rule, window_start: rule.period === "total" ? seconds(clock) : 0 }, clock.now()).start;
}
