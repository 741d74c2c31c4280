import { BUDGET_MAKERS, type BudgetMaker } from "@fairway/wire";
import { findFirstWindow, type BudgetPeriod } from "../../billing/budgets/window.ts";
import type { BudgetScope } from "../../billing/budgets/budget.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { RawTransaction, SqlValue } from "../../storage/engines/raw.ts";
import { inList } from "../../storage/statements.ts";
import type { ChangeableTerms } from "./terms.ts";
import { keepUse } from "./keep-use.ts";
import { writeTerms, type BudgetRow } from "./view.ts";

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
/** A team and a person leave room for those of administrators. */
const MAX_OF_MAKER: Readonly<Record<BudgetMaker, number>> = { admin: MAX_PER_SUBJECT, team: 8, self: 8 };

/** Returns who may change what the maker made, besides the maker. */
export function listMakersAbove(maker: BudgetMaker): readonly BudgetMaker[] {
  return BUDGET_MAKERS.slice(0, BUDGET_MAKERS.indexOf(maker));
}

/** The revision of the options, which the transaction has raised, lets one budget be made at a time. */
export async function insertBudget(tx: RawTransaction, budget: NewBudget, clock: Clock): Promise<void> {
  const { scope, subject, period, filter_model, managed_by, ...terms } = budget;
  await checkKey(tx, budget);
  await checkAbove(tx, budget);
  if (await takeOver(tx, budget, clock)) return;
  await checkCount(tx, budget);
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

/** A value of a template that gets a budget by itself keeps what it has used. Returns false if there is none. */
async function takeOver(tx: RawTransaction, budget: NewBudget, clock: Clock): Promise<boolean> {
  const { scope, subject, period, length, filter_model: filter, managed_by: maker } = budget;
  const [row] = await tx.rows<BudgetRow>(
    "select * from budgets where scope = ? and subject = ? and period = ? and length = ? and filter_model = ? and managed_by = ? and template_id <> 0",
    [scope, subject, period, length, filter, maker],
  );
  if (!row) return false;
  const { time_zone, length: hours, anchor, ends_at, quota_limit, thresholds, forecast, is_hard } = budget;
  const terms = writeTerms({ time_zone, length: hours, anchor, ends_at, quota_limit, thresholds, forecast, is_hard });
  const columns = { ...terms, ...keepUse(row, budget, clock.now()), template_id: 0 };
  const sets = Object.keys(columns).map((column) => `${column} = ?`);
  await tx.run(`update budgets set ${sets.join(", ")} where id = ?`, [...Object.values(columns), row.id]);
  return true;
}

/** A key that was moved or deleted since its budget was asked for would never be limited by it. */
async function checkKey(tx: RawTransaction, { scope, subject }: NewBudget): Promise<void> {
  if (scope !== "token") return;
  const living = await tx.rows("select id from tokens where id = ? and deleted_at is null", [Number(subject)]);
  if (living.length === 0)
    throw new Refusal("budget_subject_unknown", { field: "subject", values: { scope, subject } });
}

async function checkCount(tx: RawTransaction, { scope, subject, managed_by: maker }: NewBudget): Promise<void> {
  const counting =
    "select count(*) as count, coalesce(sum(case when managed_by = ? then 1 else 0 end), 0) as own from budgets where scope = ? and subject = ? and template_id = 0";
  const [row] = await tx.rows<{ count: number; own: number }>(counting, [maker, scope, subject]);
  const [count, own] = [Number(row?.count ?? 0), Number(row?.own ?? 0)];
  if (count >= MAX_PER_SUBJECT) throw new Refusal("budget_too_many", { field: "subject", values: { count } });
  if (own >= MAX_OF_MAKER[maker]) throw new Refusal("budget_too_many", { field: "subject", values: { count: own } });
}

type Limited = BudgetIdentity & Pick<ChangeableTerms, "length" | "quota_limit">;

/** Throws `budget_above_administrator` if a maker sets more than one above allows in such windows. */
export async function checkAbove(tx: RawTransaction, budget: Limited): Promise<void> {
  const makers = listMakersAbove(budget.managed_by);
  if (makers.length === 0) return;
  const { marks, values } = inList(makers);
  const { scope, subject, period, length, filter_model, quota_limit } = budget;
  const [above] = await tx.rows<{ least: number | null }>(
    `select min(quota_limit) as least from budgets where scope = ? and subject = ? and period = ? and length = ? and filter_model = ? and managed_by in ${marks} and is_hard = 1`,
    [scope, subject, period, length, filter_model, ...values],
  );
  const least = above?.least ?? null;
  if (least !== null && Number(least) < quota_limit)
    throw new Refusal("budget_above_administrator", { field: "quota_limit", values: { limit: Number(least) } });
}
