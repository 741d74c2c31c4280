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

/** What an operator has set. */
export interface BudgetTerms {
  readonly id: number;
  readonly scope: BudgetScope;
  /** Id or name. */
  readonly subject: string;
  /** Its name when the budgets were read; "" for a deleted row. */
  readonly subject_name?: string;
  readonly period: BudgetPeriod;
  readonly time_zone: string;
  readonly quota_limit: number;
  /** 1 = nothing beyond the limit is let through; 0 = it is only reported. */
  readonly is_hard: number;
}

/** A row of the database. */
export interface Budget extends BudgetTerms {
  /** Share of the limit at which a notice is sent; 0 = never. */
  readonly soft_percent: number;
  readonly window_start: number;
  readonly used: number;
  /** Reserved in the database. */
  readonly held: number;
  /** Counts the changes of the three above. */
  readonly revision: number;
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
  readonly budget: BudgetTerms;
  /** Seconds at which the next window begins. */
  readonly endsAt: number;
}

/** Puts `amount` in each of `wanted` in the place of what the request has reserved, all or nothing. */
export interface Placing {
  readonly requestId: string;
  readonly userId: number;
  readonly wanted: readonly BudgetTerms[];
  readonly amount: Quota;
  /** Reserved instead of `amount` as far as budgets carry it: all of it, a quarter of it, a sixteenth, and so on. */
  readonly wished: Quota | undefined;
  readonly held: BudgetHold | undefined;
  /** Budgets in which the request may stand, with those of `wanted`. */
  readonly asked: ReadonlySet<number>;
  /** What other requests have reserved that is not where this one is placed, by budget. */
  readonly elsewhere?: ReadonlyMap<number, number>;
}

/** Undefined: the request has ended, nothing was changed. */
export type Placed = { readonly granted: Quota } | BudgetRefusal | undefined;

/** Where budgets are reserved: in the database, or in Redis. The ledger that books charges closes what they reserved. */
export interface BudgetReservations {
  /** Rejects when it cannot be asked. */
  place(placing: Placing): Promise<Placed>;
  /** Returns what a request reserved that is not charged. In the background; does nothing for one that was charged. */
  release(requestId: string): void;
  /** Returns what died between two steps, and forgets what is final; returns how many reservations. */
  reap(): Promise<number>;
  /** What is reserved outside of the database, by budget. */
  heldElsewhere(): Promise<ReadonlyMap<number, number>>;
  /** Resolves when nothing is on its way, or after `ms`. */
  idle(ms: number): Promise<void>;
}

export function isOverBudget(answer: BudgetHold | Placed): answer is BudgetRefusal {
  return answer !== undefined && "budget" in answer;
}

/** Divisor of the amount that is tried next where budgets do not carry what is wished. */
export const SMALLER = 4;

/** Most of `wished` that `fits`; `amount` at least, whether it fits or not. */
export function calculateGrant(
  { amount, wished = amount }: Pick<Placing, "amount" | "wished">,
  fits: (amount: number) => boolean,
): Quota {
  for (let more: number = wished; more > amount; more = Math.floor(more / SMALLER))
    if (fits(more)) return more as Quota;
  return amount;
}
