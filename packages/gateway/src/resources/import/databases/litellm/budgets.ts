import { findWindow, type BudgetPeriod } from "../../../../billing/budgets/window.ts";
import { seconds } from "../../../../lib/clock.ts";
import { upsertSql } from "../../../../storage/inserts.ts";
import type { RawTransaction } from "../../../../storage/engines/raw.ts";
import type { DatabaseImport } from "./context.ts";
import type { Spending } from "./spending.ts";

interface Budgeted {
  readonly scope: "user" | "token" | "team" | "member" | "tag" | "end_user";
  /** Id, `TEAM:USER` of a member, or `PAYER/VALUE` of a tag and an end user. */
  readonly subject: string | number;
  readonly spending: Pick<Spending, "max" | "window" | "spent" | "softPercent">;
  /** The only model that it counts. */
  readonly model?: string;
  /** True: a budget without a window counts for good. Otherwise it is the balance of its owner. */
  readonly isForGood?: boolean;
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
    "created_at",
    "used",
    "held",
  ],
  key: ["scope", "subject", "period", "length", "filter_model", "managed_by"],
} as const;
const SOFT_PERCENT = 80;

/** Turns a renewing budget into one of its window, which starts with the amount already spent. */
export async function keepBudget(
  { clock, target }: DatabaseImport,
  tx: RawTransaction,
  { scope, subject, spending, model = "", isForGood = false }: Budgeted,
): Promise<void> {
  const { max, window = isForGood ? FOR_GOOD : undefined, spent, softPercent } = spending;
  if (max === undefined || max < 1 || window === undefined) return;
  const { period, length } = window;
  const now = period === "total" ? seconds(clock) : 0;
  const rule = { period, length, time_zone: "UTC", anchor: "", ends_at: 0, window_start: now };
  const { start } = findWindow(rule, clock.now());
  // The next request opens a window of hours, in which nothing is used.
  const used = period === "hours" ? 0 : spent;
  const soft = softPercent === 0 ? SOFT_PERCENT : softPercent;
  const identity = [scope, String(subject), period, length, model, "admin"];
  await tx.run(upsertSql(target.kind, BUDGET), [...identity, "UTC", max, soft, 1, start, now, used, 0]);
}

const FOR_GOOD: { readonly period: BudgetPeriod; readonly length: number } = { period: "total", length: 0 };
