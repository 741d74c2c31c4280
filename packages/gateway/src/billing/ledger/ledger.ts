import type { RawTransaction } from "../../storage/engines/raw.ts";
import type { Quota } from "../money/quota.ts";

/** Why a balance moved. One row per (request id, kind). */
export type LedgerKind =
  | "consume" // a settled request
  | "correct" // the difference of a settlement that came after its hold was reaped
  | "refund" // a task that failed later
  | "topup" // payment or redemption code
  | "gift" // registration and invitation
  | "transfer" // invitation rewards moved to the balance
  | "adjust"; // changed by an administrator, or a repair

/** Reserves `amount` of a user and, unless `tokenId` is 0 (playground), of a token. */
export interface HoldRequest {
  readonly requestId: string;
  readonly userId: number;
  readonly tokenId: number;
  readonly amount: Quota;
  /**
   * Reserved in place of `amount` as far as half of what is free carries it, so that calls at the same time find room
   * as well. What was granted stands in the answer.
   */
  readonly wished?: Quota;
  /** True when the call has a price: then even an `amount` of 0 needs a positive balance. */
  readonly isCharged: boolean;
  /**
   * What the token may use in its life, remaining and used together, where the caller knows it. Balances that live
   * outside the database follow changes of a token by it.
   */
  readonly grant?: Quota | "unlimited";
  /** The revision of tokens at which `grant` was read; an older one does not replace a newer one. Default 0. */
  readonly grantRevision?: number;
}

/** An admitted reservation. `leaseUntil` is epoch milliseconds; whoever holds it renews before then. */
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
};

/** The consumption log row of `contract-relay.md` section 5, written in the same transaction as its ledger row. */
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
  /** JSON text of the column `other`. */
  readonly other: string;
  readonly ip: string;
}

/** What a request really cost. `quota` is what is taken from the balance (never negative). */
export interface Settlement {
  readonly hold: Hold;
  readonly quota: Quota;
  readonly channelId: number;
  /** Epoch milliseconds of the settlement. */
  readonly at: number;
  /** Absent when consumption logging is off; money moves all the same. */
  readonly log?: LogDetail;
}

/** A change of a balance that no request made. Idempotent by (requestId, kind). */
export interface BalanceChange {
  readonly requestId: string;
  readonly kind: Exclude<LedgerKind, "consume" | "correct">;
  readonly userId: number;
  /** Set when a token's remaining quota moves with it (refunds of tasks). */
  readonly tokenId?: number;
  readonly channelId?: number;
  /** Signed: positive credits the user. */
  readonly quota: Quota;
  readonly detail?: string;
}

/**
 * The only way to move money. Balances change only together with a ledger row.
 * Implementations: `ledger-sql.ts` (embedded) and `ledger-redis.ts` (cluster); `ledger.contract.ts` tests both.
 */
export interface Ledger {
  /** Reserves atomically on user and token; never takes an available balance below zero. */
  hold(request: HoldRequest): Promise<Hold | HoldRefusal>;
  /**
   * Moves the lease and remembers what the request would cost if it died now; `amount` above the
   * held one extends the reservation. Answers false when the extension is refused or the hold is gone.
   */
  renew(hold: Hold, seen: Settlement, amount?: Quota): Promise<boolean>;
  /** Exactly once per request id. Resolves when the charge can no longer be lost by this process dying. */
  settle(settlement: Settlement): Promise<void>;
  /** Gives a reservation back whole; for requests that delivered nothing. Idempotent. */
  release(hold: Hold): Promise<void>;
  /** Applies a signed change; false when (requestId, kind) was applied before. */
  change(change: BalanceChange): Promise<boolean>;
  /**
   * Applies the change that `work` answers in the same transaction of the database of record as everything that `work`
   * writes; none when it answers undefined. A change that was applied before undoes what `work` wrote.
   * False when nothing was applied. `work` may run several times: it touches nothing but `tx`.
   */
  changeWith(work: (tx: RawTransaction) => Promise<BalanceChange | undefined>): Promise<boolean>;
  /** Settles holds whose lease ended at the usage last seen; answers how many. Safe to run anywhere, any time. */
  reap(): Promise<number>;
  /** Everything accepted so far is durable and visible in the database; rejects when it is not after `ms`. */
  flush(ms?: number): Promise<void>;
  /** Waiting settlements, for metrics and drain. */
  readonly pending: number;
}

/** What a reservation takes of `free`, which carries its `amount`. */
export function grantedOf({ amount, wished = amount }: Pick<HoldRequest, "amount" | "wished">, free: number): Quota {
  return Math.max(amount, Math.min(wished, Math.floor(free / 2))) as Quota;
}

export function isRefusal(answer: Hold | HoldRefusal): answer is HoldRefusal {
  return "refused" in answer;
}
