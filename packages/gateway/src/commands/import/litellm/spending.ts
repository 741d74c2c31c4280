import { QUOTA_PER_UNIT } from "@fairway/wire";
import { budgetWindow, type BudgetPeriod } from "../../../billing/budgets/window.ts";
import type { ForeignRow } from "../../../storage/engines/foreign.ts";
import { upsertSql } from "../../../storage/inserts.ts";
import type { RawTransaction } from "../../../storage/engines/raw.ts";
import type { DatabaseImport } from "./context.ts";

/** Spending limit in US dollars and rate limits of a user, a team or a key. */
export interface Spending {
  readonly spent: number;
  /** Undefined = no budget. */
  readonly max: number | undefined;
  /** The budget starts again after this time; undefined = never. */
  readonly period: BudgetPeriod | undefined;
  readonly limits: { rpm?: number; tpm?: number; concurrency?: number } | null;
}

const PERIODS: Readonly<Record<string, BudgetPeriod>> = {
  "24h": "day",
  "1d": "day",
  "7d": "week",
  "1w": "week",
  "28d": "month",
  "30d": "month",
  "31d": "month",
  "1mo": "month",
};

/** Budget and limits stand in the row itself, or in a budget that several rows share. */
export function spendingOf({ budgets, report }: DatabaseImport, row: ForeignRow): Spending {
  const shared = budgets.get(row.text("budget_id"));
  const from = (name: string) => (row.text(name) === "" ? shared : row);
  const number = (name: string) => {
    const source = from(name);
    return source === undefined || source.text(name) === "" ? undefined : source.decimal(name);
  };
  const max = number("max_budget");
  const duration = from("budget_duration")?.text("budget_duration") ?? "";
  const period = PERIODS[duration];
  if (max !== undefined && duration !== "" && period === undefined)
    report.remark(
      `budgets last ${duration}: here they do not renew, so the remaining amount is final until an administrator raises it`,
    );
  const limits = {
    ...count("rpm", number("rpm_limit")),
    ...count("tpm", number("tpm_limit")),
    ...count("concurrency", number("max_parallel_requests")),
  };
  return { spent: row.decimal("spend"), max, period, limits: Object.keys(limits).length > 0 ? limits : null };
}

function count(name: "rpm" | "tpm" | "concurrency", value: number | undefined): Spending["limits"] {
  return value !== undefined && Number.isSafeInteger(value) && value > 0 ? { [name]: value } : {};
}

export function limitsText(limits: Spending["limits"]): string | null {
  return limits && JSON.stringify(limits);
}

export function units(dollars: number): number {
  return Math.round(dollars * QUOTA_PER_UNIT);
}

interface Budgeted {
  readonly scope: "user" | "token";
  readonly id: number;
  readonly spending: Spending;
}

const BUDGET = {
  table: "budgets",
  columns: [
    "scope",
    "subject",
    "period",
    "time_zone",
    "quota_limit",
    "soft_percent",
    "is_hard",
    "window_start",
    "used",
    "held",
  ],
  key: ["scope", "subject", "period"],
} as const;
const SOFT_PERCENT = 80;

/** A renewing budget becomes a calendar budget that starts with the amount already spent. */
export async function keepBudget(
  { clock, target }: DatabaseImport,
  tx: RawTransaction,
  { scope, id, spending: { max, period, spent } }: Budgeted,
): Promise<void> {
  if (max === undefined || period === undefined || units(max) < 1) return;
  const { start } = budgetWindow(period, "UTC", clock.now());
  const values = [scope, String(id), period, "UTC", units(max), SOFT_PERCENT, 1, start, units(spent), 0];
  await tx.run(upsertSql(target.kind, BUDGET), values);
}
