import type { BudgetPeriod } from "../../billing/budgets/window.ts";
import { readAnchor } from "../../billing/budgets/anchor.ts";
import { isTimeZone } from "../../billing/budgets/time-zones.ts";
import { replaceSoftPercent } from "../../billing/budgets/thresholds.ts";
import { Refusal } from "../../lib/refusal.ts";

/** The members of a budget that its maker may change. */
export interface ChangeableTerms {
  readonly time_zone: string;
  readonly length: number;
  readonly anchor: string;
  readonly ends_at: number;
  readonly quota_limit: number;
  readonly thresholds: readonly number[];
  readonly forecast: boolean;
  readonly is_hard: boolean;
}

/** What a caller wants to set. */
export interface WantedTerms {
  readonly time_zone?: string | undefined;
  readonly length?: number | undefined;
  readonly anchor?: string | number | undefined;
  readonly ends_at?: number | undefined;
  readonly quota_limit?: number | undefined;
  readonly thresholds?: readonly number[] | undefined;
  readonly soft_percent?: number | undefined;
  readonly forecast?: boolean | undefined;
  readonly is_hard?: boolean | undefined;
}

/** Terms of a new budget that says nothing else. */
export const BUDGET_DEFAULTS: Omit<ChangeableTerms, "quota_limit"> = {
  time_zone: "UTC",
  length: 0,
  anchor: "",
  ends_at: 0,
  thresholds: [80, 100],
  forecast: false,
  is_hard: true,
};

/** Returns `current` with what is wanted. Throws a refusal if the period has no such windows. */
export function applyTerms(
  period: BudgetPeriod,
  current: ChangeableTerms,
  wanted: WantedTerms,
  nowSeconds: number,
): ChangeableTerms {
  const { soft_percent: soft, thresholds = current.thresholds, anchor = current.anchor } = wanted;
  const ordered = [...new Set(thresholds)].sort((a, b) => a - b);
  const terms = {
    time_zone: wanted.time_zone ?? current.time_zone,
    length: wanted.length ?? current.length,
    anchor: String(anchor),
    ends_at: wanted.ends_at ?? current.ends_at,
    quota_limit: wanted.quota_limit ?? current.quota_limit,
    thresholds: soft === undefined ? ordered : replaceSoftPercent(ordered, soft),
    forecast: wanted.forecast ?? current.forecast,
    is_hard: wanted.is_hard ?? current.is_hard,
  };
  checkWindows(period, terms, wanted.ends_at === undefined ? 0 : nowSeconds);
  return terms;
}

function checkWindows(period: BudgetPeriod, terms: ChangeableTerms, nowSeconds: number): void {
  const { time_zone: zone, length, anchor, ends_at: end } = terms;
  if (!isTimeZone(zone))
    throw new Refusal("time_zone_unknown", { field: "time_zone", values: { zone: zone.slice(0, 64) } });
  if (length > 0 !== (period === "hours")) throw new Refusal("budget_length_wrong", { field: "length" });
  if (!readAnchor(period, anchor))
    throw new Refusal("budget_anchor_wrong", { field: "anchor", values: { period, anchor: anchor.slice(0, 16) } });
  if (end > 0 && (period !== "total" || end <= nowSeconds)) throw new Refusal("budget_end_wrong", { field: "ends_at" });
}
