import type { RawTransaction } from "../../storage/engines/raw.ts";
import type { BudgetReservations } from "../budgets/budget.ts";
import type { Quota } from "../money/quota.ts";

/** Why a balance moved. One row per (request id, kind). */
export type LedgerKind =
  | "consume" // a settled request
  | "correct" // the difference of a settlement that arrived after its hold was reaped
  | "refund" // a task that failed later
  | "topup" // payment or redemption code
  | "gift" // registration and invitation
  | "transfer" // invitation rewards moved to the balance, or money moved between a person and a team
  | "adjust" // changed by an administrator, or a repair
  | "deposit" // the reservation of a batch, booked because it outlives the process that made it
  | "return"; // a deposit that was closed; its charges are rows of their own

/** Reserves `amount` from a user and, unless `tokenId` is 0 (playground), from a token. */
export interface HoldRequest {
  readonly requestId: string;
  readonly userId: number;
  readonly tokenId: number;
  readonly amount: Quota;
  /**
   * Reserved instead of `amount`, up to half of the available balance, so that concurrent calls still fit. The returned
   * hold has the granted amount.
   */
  readonly wished?: Quota | undefined;
  /** True if the call has a price: then even an `amount` of 0 requires a positive balance. */
  readonly isCharged: boolean;
  /**
   * The lifetime limit of the token (remaining plus used), if the caller knows it. Balances outside the database take
   * changed limits from here.
   */
  readonly grant?: Quota | "unlimited" | undefined;
  /** The tokens revision at which `grant` was read; an older `grant` never replaces a newer one. Default 0. */
  readonly grantRevision?: number | undefined;
}

/** An admitted reservation. Its holder renews it before `leaseUntil` (epoch milliseconds). */
export interface Hold {
  readonly requestId: string;
  readonly userId: number;
  readonly tokenId: number;
  readonly amount: Quota;
  readonly leaseUntil: number;
}

export type HoldRefusal = {
  readonly refused: "user" | "token";
  readonly needed: Quota;
  readonly available: Quota;
  /** The amount that other requests have reserved, if it may be released at any moment. */
  readonly held?: Quota;
};

/** The log row of a consumption, written in the same transaction as its ledger row. */
export interface LogDetail {
  readonly username: string;
  readonly tokenName: string;
  readonly modelName: string;
  readonly channelId: number;
  readonly group: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly useTimeSeconds: number;
  readonly isStream: boolean;
  readonly content: string;
  /** JSON text for the column `other`. */
  readonly other: string;
  readonly ip: string;
  /** Who used a key of a team, "" if neither a member nor a service account; absent for keys of persons. */
  readonly actor?: string;
  /** The tags that a policy names, as the row stores them; absent if there are none. */
  readonly tags?: string;
  /** The customer of the client; absent if unknown. */
  readonly endUser?: string;
}

/** The actual cost of a request. `quota` is deducted from the balance and never negative. */
export interface Settlement {
  readonly hold: Hold;
  readonly quota: Quota;
  readonly channelId: number;
  /** Time of the settlement, epoch milliseconds. */
  readonly at: number;
  /** Budgets that count the charge, in ascending id order; absent if there are none. */
  readonly budgets?: readonly number[] | undefined;
  /** The charge may be refunded later (a task). */
  readonly isRefundable?: boolean;
  /** Absent when consumption logging is off; the charge is booked regardless. */
  readonly log?: LogDetail | undefined;
}

/** What a hold becomes that has to outlive its process. */
export interface DepositTerms {
  /** At most the amount of the hold, which is the default. */
  readonly amount?: Quota;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Budgets that count the deposit, in ascending id order; absent if there are none. */
  readonly budgets?: readonly number[];
}

/** The charge of a part of a deposit, such as all requests of a batch for one model. */
export interface DepositSettlement {
  /** 0 books no ledger row. */
  readonly quota: Quota;
  /** Requests that this charge stands for. */
  readonly items: number;
  readonly channelId: number;
  /** Absent when consumption logging is off; the charge is booked regardless. */
  readonly log?: LogDetail;
}

/** The end of a deposit. */
export interface DepositClose {
  readonly requestId: string;
  readonly userId: number;
  /** 0 = none (playground). */
  readonly tokenId: number;
  /** Epoch milliseconds. */
  readonly at: number;
  /** The first one has the id of the request, the others `<id>.2`, `<id>.3` and so on. */
  readonly settlements: readonly DepositSettlement[];
  /** Writes in the same transaction. May run several times and must touch nothing but `tx`. */
  readonly work?: (tx: RawTransaction) => Promise<unknown>;
}

/** A balance change outside of a request. Idempotent by (requestId, kind). */
export interface BalanceChange {
  readonly requestId: string;
  readonly kind: Exclude<LedgerKind, "consume" | "correct" | "deposit" | "return">;
  readonly userId: number;
  /** Set if the remaining quota of a token changes as well (refunds of tasks). */
  readonly tokenId?: number;
  readonly channelId?: number;
  /** Signed: positive credits the user. */
  readonly quota: Quota;
  readonly detail?: string;
}

/**
 * The only way to change a balance, always together with a ledger row. Implementations: `sql/sql-ledger.ts` (one
 * database) and `redis/redis-ledger.ts` (cluster); `ledger.contract.ts` tests both.
 */
export interface Ledger {
  /** Reserves atomically from user and token; never takes an available balance below zero. */
  hold(request: HoldRequest): Promise<Hold | HoldRefusal>;
  /**
   * Extends the lease and records what the request costs if its process dies now. An `amount` above the held one
   * extends the reservation. Returns false if the extension is refused or the hold no longer exists.
   */
  renew(hold: Hold, seen: Settlement, amount?: Quota): Promise<boolean>;
  /** Charges exactly once per request id. Resolves when a crash of this process can no longer lose the charge. */
  settle(settlement: Settlement): Promise<void>;
  /** Releases the whole reservation of a request that delivered nothing. Idempotent. */
  release(hold: Hold): Promise<void>;
  /** Applies a signed change; returns false if (requestId, kind) was applied before. */
  change(change: BalanceChange): Promise<boolean>;
  /**
   * Applies the change that `work` returns, in the same database transaction as everything `work` writes. `undefined`
   * applies nothing. When the change was applied before, everything `work` wrote is rolled back. Returns false when
   * nothing was applied. `work` may run several times and must touch nothing but `tx`.
   */
  changeWith(work: (tx: RawTransaction) => Promise<BalanceChange | undefined>): Promise<boolean>;
  /** The same for several changes: all are applied or none. An empty list applies nothing. */
  changeAllWith(work: (tx: RawTransaction) => Promise<readonly BalanceChange[]>): Promise<boolean>;
  /**
   * Turns a hold into a booked debit of user, token and budgets, once per request id; the rest of the hold is released.
   * Usage, channels and logs are untouched. Resolves when no crash can lose it. Throws `balances_unavailable` if the
   * hold has expired.
   */
  deposit(hold: Hold, terms: DepositTerms): Promise<void>;
  /**
   * Returns the deposit and charges the settlements instead, in the same database transaction as everything `work`
   * writes. Returns false and changes nothing if it was closed before. Without a deposit, nothing is returned, and a
   * deposit that arrives later is refused.
   */
  closeDeposit(close: DepositClose): Promise<boolean>;
  /**
   * Returns what requests have used and reserved of a token, as far as its row does not show it yet; 0 if the row shows
   * everything. Throws `balances_unavailable`.
   */
  claimed(userId: number, tokenId: number): Promise<number>;
  /** Settles expired holds at their last reported usage; returns how many. Safe to run concurrently on any replica. */
  reap(): Promise<number>;
  /** Resolves when everything accepted so far is committed to the database; rejects after `ms`. */
  flush(ms?: number): Promise<void>;
  /** Reserves in budgets, in the same event loop turn as the hold; `settle` and `release` close the reservations. */
  readonly budgets: BudgetReservations;
  /** Settlements that are not booked yet, for metrics and drain. */
  readonly pending: number;
}

/** Returns the amount to reserve from `free`, which is at least `amount`. */
export function calculateGrant(
  { amount, wished = amount }: Pick<HoldRequest, "amount" | "wished">,
  free: number,
): Quota {
  return Math.max(amount, Math.min(wished, Math.floor(free / 2))) as Quota;
}

export function isRefusal(answer: Hold | HoldRefusal): answer is HoldRefusal {
  return "refused" in answer;
}
