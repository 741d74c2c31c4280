import { QUOTA_PER_UNIT } from "@fairway/wire";
import { budgetWindow, type CalendarPeriod } from "../../../billing/budgets/window.ts";
import type { ForeignRow } from "../../../storage/foreign.ts";
import { upsertSql } from "../../../storage/inserts.ts";
import type { RawTransaction } from "../../../storage/engines/raw.ts";
import type { DatabaseImport } from "./context.ts";

/** Spending limit in units and rate limits of a user, a team or a key. */
export interface Spending {
  readonly spent: number;
  /** Undefined = no budget. */
  readonly max: number | undefined;
  /** The rest of the budget; undefined = no budget. */
  readonly left: number | undefined;
  /** The period after which the budget restarts; undefined = never. */
  readonly period: CalendarPeriod | undefined;
  readonly limits: { rpm?: number; tpm?: number; concurrency?: number } | null;
  /** True for a limit of 0, which blocks every call; limits here cannot express it. */
  readonly isClosed: boolean;
}

export const NO_SPENDING: Spending = {
  spent: 0,
  max: undefined,
  left: undefined,
  period: undefined,
  limits: null,
  isClosed: false,
};

const PERIODS: Readonly<Record<string, CalendarPeriod>> = {
  "24h": "day",
  "1d": "day",
  "7d": "week",
  "1w": "week",
  "28d": "month",
  "30d": "month",
  "31d": "month",
  "1mo": "month",
};

/** Reads the budget and limits from the row itself, or from a budget that several rows share. */
export function readSpending({ budgets, report }: DatabaseImport, row: ForeignRow): Spending {
  const shared = budgets.get(row.text("budget_id"));
  const from = (name: string) => (row.text(name) === "" ? shared : row);
  const filled = (name: string) => {
    const source = from(name);
    return source === undefined || source.text(name) === "" ? undefined : source;
  };
  const { spent, max, left } = readAmounts(row, filled("max_budget"));
  const duration = from("budget_duration")?.text("budget_duration") ?? "";
  const period = findPeriod(max ?? 1, duration);
  if (max !== undefined && max > 0 && duration !== "" && period === undefined)
    report.remark(
      `budgets last ${duration}: here they do not renew, so the remaining amount is final until an administrator raises it`,
    );
  const { limits, isClosed } = readLimits(filled);
  if (isClosed) report.remark("accounts and keys have limits that let nothing pass: they are disabled", row.label);
  return { spent, max, left, period, limits, isClosed };
}

function readAmounts(row: ForeignRow, budget: ForeignRow | undefined): Pick<Spending, "spent" | "max" | "left"> {
  const spent = unitsIn(row, "spend");
  if (spent < 0) row.refuse("spend", "it is below 0");
  if (budget === undefined) return { spent, max: undefined, left: undefined };
  const max = unitsIn(budget, "max_budget");
  const left = max - spent;
  if (!Number.isSafeInteger(left)) row.refuse("spend", "what is left of max_budget is too large a number");
  return { spent, max, left };
}

/** Returns the period. A budget of 0 has none, because it is still empty after it renews. */
function findPeriod(max: number, duration: string): CalendarPeriod | undefined {
  return max < 1 ? undefined : PERIODS[duration];
}

/** Reads the limits. A limit of 0 blocks every call, so it disables the account or key. */
function readLimits(filled: (column: string) => ForeignRow | undefined): Pick<Spending, "limits" | "isClosed"> {
  const limits: { rpm?: number; tpm?: number; concurrency?: number } = {};
  let isClosed = false;
  for (const [name, column] of LIMITS) {
    const source = filled(column);
    if (source === undefined) continue;
    const value = limitIn(source, column);
    if (value > 0) limits[name] = value;
    else isClosed = true;
  }
  return { limits: Object.keys(limits).length > 0 ? limits : null, isClosed };
}

const LIMITS = [
  ["rpm", "rpm_limit"],
  ["tpm", "tpm_limit"],
  ["concurrency", "max_parallel_requests"],
] as const;

function limitIn(row: ForeignRow, column: string): number {
  const value = row.decimal(column);
  return Number.isSafeInteger(value) ? value : row.refuse(column, `a limit is a whole number up to 2^53`);
}

export function limitsText(limits: Spending["limits"]): string | null {
  return limits && JSON.stringify(limits);
}

/** Returns a column of US dollars in quota units. */
function unitsIn(row: ForeignRow, column: string): number {
  const amount = Math.round(row.decimal(column) * QUOTA_PER_UNIT);
  if (Number.isSafeInteger(amount)) return amount;
  return row.refuse(column, `$${row.text(column)} is more than ${Number.MAX_SAFE_INTEGER} units`);
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
    "length",
    "filter_model",
    "managed_by",
    "time_zone",
    "quota_limit",
    "soft_percent",
    "is_hard",
    "window_start",
    "used",
    "held",
  ],
  key: ["scope", "subject", "period", "length", "filter_model", "managed_by"],
} as const;
const SOFT_PERCENT = 80;

/** Turns a renewing budget into a calendar budget that starts with the amount already spent. */
export async function keepBudget(
  { clock, target }: DatabaseImport,
  tx: RawTransaction,
  { scope, id, spending: { max, period, spent } }: Budgeted,
): Promise<void> {
  if (max === undefined || period === undefined) return;
  const { start } = budgetWindow({ period, time_zone: "UTC", anchor: "" }, clock.now());
  const values = [scope, String(id), period, 0, "", "admin", "UTC", max, SOFT_PERCENT, 1, start, spent, 0];
  await tx.run(upsertSql(target.kind, BUDGET), values);
}
