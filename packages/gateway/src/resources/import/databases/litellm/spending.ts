import { QUOTA_PER_UNIT } from "@fairway/wire";
import type { ForeignRow } from "../../../../storage/foreign.ts";
import type { DatabaseImport } from "./context.ts";
import { readDuration, type Window } from "./durations.ts";

/** Spending limit in units and rate limits of a user, a team or a key. */
export interface Spending {
  readonly spent: number;
  /** Undefined = no budget. */
  readonly max: number | undefined;
  /** The rest of the budget; undefined = no budget. */
  readonly left: number | undefined;
  /** The window after which the budget restarts; undefined = never. */
  readonly window: Window | undefined;
  /** Percentage of the budget at which a notice is due; 0 = the usual one. */
  readonly softPercent: number;
  readonly limits: { rpm?: number; tpm?: number; concurrency?: number } | null;
  /** True for a limit of 0, which blocks every call; limits here cannot express it. */
  readonly isClosed: boolean;
}

export const NO_SPENDING: Spending = {
  spent: 0,
  max: undefined,
  left: undefined,
  window: undefined,
  softPercent: 0,
  limits: null,
  isClosed: false,
};

/** Reads the terms of an account, a team or a key, which is disabled if its limits let nothing pass. */
export function readSpending(context: DatabaseImport, row: ForeignRow): Spending {
  const spending = readTerms(context, row);
  if (spending.isClosed)
    context.report.remark("accounts and keys have limits that let nothing pass: they are disabled", row.label);
  return spending;
}

/** Reads the budget and limits from the row itself, or from a budget that several rows share. */
export function readTerms(context: DatabaseImport, row: ForeignRow): Spending {
  const { budgets } = context;
  const shared = budgets.get(row.text("budget_id"));
  const from = (name: string) => (row.text(name) === "" ? shared : row);
  const filled = (name: string) => {
    const source = from(name);
    return source === undefined || source.text(name) === "" ? undefined : source;
  };
  const { spent, max, left } = readAmounts(row, filled("max_budget"));
  const duration = from("budget_duration")?.text("budget_duration") ?? "";
  const window = findWindow(context, max ?? 0, duration);
  const soft = filled("soft_budget");
  const softPercent = soft && max ? toPercent(unitsIn(soft, "soft_budget") / max) : 0;
  const { limits, isClosed } = readLimits(filled);
  return { spent, max, left, window, softPercent, limits, isClosed };
}

/** A notice comes at 1 percent at least, and below the limit. */
function toPercent(share: number): number {
  return Math.min(99, Math.max(1, Math.round(share * 100)));
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

/** Returns the window. A budget of 0 has none, because it is still empty after it renews. */
function findWindow({ report }: DatabaseImport, max: number, duration: string): Window | undefined {
  if (max < 1 || duration === "") return undefined;
  const found = readDuration(duration);
  if (!found)
    report.remark(
      `budgets last ${duration}: here they do not renew, so the remaining amount is final until an administrator raises it`,
    );
  else if (!found.isSame) report.remark(`budgets last ${duration}: here ${describeWindow(found)}`);
  return found;
}

function describeWindow({ period, length }: Window): string {
  return period === "hours" ? `${length} hours from the first request` : `a ${period}`;
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
export function unitsIn(row: ForeignRow, column: string): number {
  const amount = Math.round(row.decimal(column) * QUOTA_PER_UNIT);
  if (Number.isSafeInteger(amount)) return amount;
  return row.refuse(column, `$${row.text(column)} is more than ${Number.MAX_SAFE_INTEGER} units`);
}
