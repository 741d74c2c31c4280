import type { BUDGET_SCOPES } from "@fairway/wire";
import type { WindowRule, WindowState } from "./window.ts";
import type { Quota } from "../money/quota.ts";

export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** The token, user and other subjects whose budgets count a request. */
export interface BudgetSubjects {
  /** 0 = none (playground). */
  readonly tokenId: number;
  readonly userId: number;
  readonly group: string;
  readonly model: string;
  readonly channelId: number;
  /** Absent for keys of persons. */
  readonly team?: BudgetTeam | undefined;
  /** Absent if the call names nothing. */
  readonly tags?: BudgetTags | undefined;
}

/** What a call is for. */
export interface BudgetTags {
  /** `app=shop|env=prod`; "" = none. */
  readonly text: string;
  /** "" = unknown. */
  readonly endUser: string;
}

/** The team that pays, and who uses its key. */
export interface BudgetTeam {
  readonly id: number;
  /** The member (`u17`) or service account (`s3`); "" = neither. */
  readonly actor: string;
}

/** The members of a budget that an operator sets. */
export interface BudgetTerms extends WindowRule {
  readonly id: number;
  readonly scope: BudgetScope;
  /** Id or name. */
  readonly subject: string;
  /** The name of the subject when the budgets were read; "" for a deleted row. */
  readonly subject_name?: string;
  /** The model whose calls count, or the beginning of names and `*`; "" = all. */
  readonly filter_model: string;
  readonly quota_limit: number;
  /** 1 = the gateway refuses anything beyond the limit; 0 = it only reports it. */
  readonly is_hard: number;
}

/** A row of the database. */
export interface Budget extends BudgetTerms, WindowState {
  /** The lowest threshold below 100 percent; 0 = none. */
  readonly soft_percent: number;
  /** Percentages of the limit, such as `50,80`; "" = `soft_percent` and 100. */
  readonly thresholds: string;
  /** Reserved in the database. */
  readonly held: number;
  /** Epoch seconds at which counting began: with the budget, or with its last reset. */
  readonly created_at: number;
  /** Increases with each change of `window_start`, `used` and `held`. */
  readonly revision: number;
}

/** The reservation of a request in its budgets. */
export interface BudgetHold {
  readonly amount: Quota;
  /** Budgets that count the request. */
  readonly ids: ReadonlySet<number>;
  /** Budgets that may contain the reservation: all in which it was requested, even if the answer was lost. */
  readonly asked: ReadonlySet<number>;
}

/** A request, with the members that its budgets need. */
export interface BudgetUse {
  readonly requestId: string;
  readonly subjects: BudgetSubjects;
  readonly held: BudgetHold | undefined;
}

export interface BudgetRefusal {
  readonly budget: BudgetTerms;
  /** Epoch seconds at which the next window begins; 0 = there is no next one. */
  readonly endsAt: number;
}

/** Replaces what the request has reserved with `amount` in each of `wanted`: in all of them or in none. */
export interface Placing {
  readonly requestId: string;
  readonly userId: number;
  readonly wanted: readonly BudgetTerms[];
  readonly amount: Quota;
  /** Reserved instead of `amount` as far as the budgets allow: all of it, else a quarter, a sixteenth, and so on. */
  readonly wished: Quota | undefined;
  readonly held: BudgetHold | undefined;
  /** Budgets that may contain a reservation of the request, including those of `wanted`. */
  readonly asked: ReadonlySet<number>;
  /** Amounts that other requests have reserved in the other store than the one used for this request, by budget. */
  readonly elsewhere?: ReadonlyMap<number, number>;
}

/** Undefined if the request has ended; then nothing was changed. */
export type Placed = { readonly granted: Quota } | BudgetRefusal | undefined;

/** The store of budget reservations: the database or Redis. The ledger that books a charge closes its reservations. */
export interface BudgetReservations {
  /** Rejects when the store does not answer. */
  place(placing: Placing): Promise<Placed>;
  /**
   * Releases the reservation of a request without charging it, in the background. Does nothing if the request was
   * charged.
   */
  release(requestId: string): void;
  /**
   * Releases reservations whose process died between two steps and deletes final records; returns the number of
   * reservations.
   */
  reap(): Promise<number>;
  /** Amounts that are reserved outside of the database, by budget. */
  heldElsewhere(): Promise<ReadonlyMap<number, number>>;
  /** Reads the states of budgets again that were changed in the database by hand. */
  restate(ids: readonly number[]): Promise<void>;
  /** Resolves when no operation is pending, or after `ms`. */
  idle(ms: number): Promise<void>;
}

/** Columns of `BudgetTerms`. */
export const TERMS =
  "id, scope, subject, period, time_zone, length, anchor, ends_at, filter_model, quota_limit, is_hard";

export function isOverBudget(answer: BudgetHold | Placed): answer is BudgetRefusal {
  return answer !== undefined && "budget" in answer;
}

/** Divisor for the next amount to try if the budgets cannot cover the wished amount. */
export const SMALLER = 4;

/** Returns the largest share of `wished` that `fits`, and at least `amount`, whether that fits or not. */
export function calculateGrant(
  { amount, wished = amount }: Pick<Placing, "amount" | "wished">,
  fits: (amount: number) => boolean,
): Quota {
  for (let more: number = wished; more > amount; more = Math.floor(more / SMALLER))
    if (fits(more)) return more as Quota;
  return amount;
}
