import { isBudgetTemplate, isIdle, type Budget, type BudgetMaker } from "@fairway/wire";
import type { BudgetScope } from "../../billing/budgets/budget.ts";
import type { Budgets } from "../../billing/budgets/budgets.ts";
import { findSoftPercent, readThresholds, writeThresholds } from "../../billing/budgets/thresholds.ts";
import { findWindow, isCalendar, type BudgetPeriod, type WindowState } from "../../billing/budgets/window.ts";
import { buildEtag } from "../../http/etag.ts";
import type { Clock } from "../../lib/clock.ts";
import type { RawDatabase, SqlValue } from "../../storage/engines/raw.ts";
import { readSubjectNames } from "../../storage/row-names.ts";
import { inList } from "../../storage/statements.ts";
import type { ChangeableTerms } from "./terms.ts";

/** A row of `budgets`. */
export interface BudgetRow extends WindowState {
  readonly id: number;
  readonly scope: BudgetScope;
  readonly subject: string;
  readonly period: BudgetPeriod;
  readonly length: number;
  readonly anchor: string;
  readonly ends_at: number;
  readonly time_zone: string;
  readonly filter_model: string;
  readonly managed_by: BudgetMaker;
  readonly template_id: number;
  readonly quota_limit: number;
  readonly thresholds: string;
  readonly soft_percent: number;
  readonly forecast: number;
  readonly is_hard: number;
  readonly created_at: number;
  readonly held: number;
  readonly revision: number;
}

export interface ViewDeps {
  readonly raw: RawDatabase;
  readonly clock: Clock;
  /** Reads reservations that are outside the database. If absent, only database reservations are shown. */
  readonly held?: Pick<Budgets, "heldElsewhere"> | undefined;
}

export async function buildBudgetViews(rows: readonly BudgetRow[], { raw, clock, held }: ViewDeps): Promise<Budget[]> {
  const names = await readSubjectNames(raw, rows);
  const counts = await countValues(raw, rows);
  // Redis may be unreachable; the rest of the budget is still shown.
  const elsewhere = await held?.heldElsewhere().catch(() => undefined);
  return rows.map((row) => ({
    ...buildBudgetView(row, clock),
    subject_name: names(row),
    held: row.held + (elsewhere?.get(row.id) ?? 0),
    ...(row.template_id !== 0 && { template_id: row.template_id }),
    ...(isBudgetTemplate(row) && { values: counts.get(row.id) ?? 0 }),
  }));
}

/** Returns how many values have a budget, by template. */
async function countValues(raw: RawDatabase, rows: readonly BudgetRow[]): Promise<ReadonlyMap<number, number>> {
  const templates = rows.filter(isBudgetTemplate).map(({ id }) => id);
  if (templates.length === 0) return new Map();
  const { marks, values } = inList(templates);
  const sql = `select template_id, count(*) as count from budgets where template_id in ${marks} group by template_id`;
  const counts = await raw.rows<{ template_id: number; count: number }>(sql, values);
  return new Map(counts.map(({ template_id: template, count }) => [Number(template), Number(count)]));
}

/** Builds the view of a budget. Nothing is used yet in a window that no request has opened. */
function buildBudgetView(row: BudgetRow, clock: Clock): Omit<Budget, "subject_name" | "held"> {
  const { start, end } = findWindow(row, clock.now());
  const hasEnded = isCalendar(row.period) ? start > row.window_start : isIdle({ ...row, window_start: start });
  return {
    id: row.id,
    scope: row.scope,
    subject: row.subject,
    period: row.period,
    filter_model: row.filter_model,
    managed_by: row.managed_by,
    ...readTerms(row),
    soft_percent: findSoftPercent(readThresholds(row)),
    used: hasEnded ? 0 : row.used,
    window_start: start,
    window_end: end,
    counts_since: start === 0 ? 0 : Math.max(start, Number(row.created_at)),
  };
}

/** Returns the members that can be changed. */
export function readTerms(row: BudgetRow): ChangeableTerms & { thresholds: number[] } {
  return {
    time_zone: row.time_zone,
    length: row.length,
    anchor: row.anchor,
    ends_at: row.ends_at,
    quota_limit: row.quota_limit,
    thresholds: [...readThresholds(row)],
    forecast: row.forecast === 1,
    is_hard: row.is_hard === 1,
  };
}

/** Returns the columns of the members that can be changed. */
export function writeTerms(terms: ChangeableTerms): Readonly<Record<string, SqlValue>> {
  const { thresholds, forecast, is_hard: isHard, ...others } = terms;
  return {
    ...others,
    thresholds: writeThresholds(thresholds),
    soft_percent: findSoftPercent(thresholds),
    forecast: forecast ? 1 : 0,
    is_hard: isHard ? 1 : 0,
  };
}

/** Returns a tag that changes with every edit, but not with usage. */
export function budgetTag({
  time_zone,
  length,
  anchor,
  ends_at,
  quota_limit,
  thresholds,
  forecast,
  is_hard,
}: ChangeableTerms): string {
  return buildEtag({ time_zone, length, anchor, ends_at, quota_limit, thresholds, forecast, is_hard });
}
