import type { BudgetPeriod } from "./window.ts";
import type { Quota } from "../money/quota.ts";

export const BUDGET_SCOPES = ["token", "user", "group", "model", "channel"] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** Whom a request counts for. */
export interface BudgetSubjects {
  /** 0 = none (playground). */
  readonly tokenId: number;
  readonly userId: number;
  readonly group: string;
  readonly model: string;
  readonly channelId: number;
}

export interface Budget {
  readonly id: number;
  readonly scope: BudgetScope;
  /** Id or name. */
  readonly subject: string;
  readonly period: BudgetPeriod;
  readonly time_zone: string;
  readonly quota_limit: number;
  /** Share of the limit at which a notice is sent; 0 = never. */
  readonly soft_percent: number;
  /** 1 = nothing beyond the limit is let through; 0 = it is only reported. */
  readonly is_hard: number;
  readonly window_start: number;
  readonly used: number;
  readonly held: number;
}

/** What a request has reserved. */
export interface BudgetHold {
  readonly amount: Quota;
  /** Budgets that it belongs to. */
  readonly ids: ReadonlySet<number>;
  /** Budgets in which it may stand: all that were asked for it, also where the answer was lost. */
  readonly asked: ReadonlySet<number>;
}

/** A request as its budgets see it. */
export interface BudgetUse {
  readonly requestId: string;
  readonly subjects: BudgetSubjects;
  readonly held: BudgetHold | undefined;
}

export interface BudgetRefusal {
  readonly budget: Budget;
  /** Seconds at which the next window begins. */
  readonly endsAt: number;
}

export function isOverBudget(answer: BudgetHold | BudgetRefusal | undefined): answer is BudgetRefusal {
  return answer !== undefined && "budget" in answer;
}
