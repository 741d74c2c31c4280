import { isRefusal, type Hold, type HoldRequest, type Ledger, type Settlement } from "../../billing/ledger/ledger.ts";
import { quota as toQuota, type Quota } from "../../billing/money/quota.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Caller } from "../../identity/authentication/caller.ts";
import type { Snapshot } from "../../snapshot/types.ts";

export interface ReservationRequest extends Pick<HoldRequest, "requestId" | "amount" | "wished" | "isCharged"> {
  readonly caller: Caller;
}

interface ReservationDeps {
  readonly ledger: Ledger;
  readonly snapshot: Snapshot;
}

/**
 * The amount that a request, a realtime session or a task has reserved in the ledger. It is charged or released exactly
 * once: later calls change nothing.
 */
export class Reservation {
  readonly hold: Hold;
  readonly #ledger: Ledger;
  #amount: Quota;
  #isClosed = false;

  private constructor(hold: Hold, ledger: Ledger) {
    this.hold = hold;
    this.#ledger = ledger;
    this.#amount = hold.amount;
  }

  /** Throws `insufficient_user_quota` or `insufficient_token_quota`. */
  static async open(
    { caller, ...wanted }: ReservationRequest,
    { ledger, snapshot }: ReservationDeps,
  ): Promise<Reservation> {
    const { userId, tokenId } = caller;
    const hold = await ledger.hold({ ...wanted, userId, tokenId, ...toGrant(caller) });
    if (!isRefusal(hold)) return new Reservation(hold, ledger);
    throw new AppError(hold.refused === "user" ? "insufficient_user_quota" : "insufficient_token_quota", {
      values: { need: display(hold.needed, snapshot), have: display(hold.available, snapshot) },
    });
  }

  get amount(): Quota {
    return this.#amount;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Extends the lease and stores what to charge if this process dies. */
  async renew(soFar: Settlement): Promise<void> {
    if (!this.#isClosed) await this.#ledger.renew(this.hold, soFar);
  }

  /** The same with `amount` reserved in all; false if the balance does not cover it. */
  async raise(soFar: Settlement, amount: Quota): Promise<boolean> {
    const isRaised = await this.#ledger.renew(this.hold, soFar, amount);
    if (isRaised) this.#amount = amount;
    return isRaised;
  }

  /**
   * Charges the result of `compute` and returns it when the charge cannot be lost. Undefined if the reservation was
   * closed before.
   */
  async settle<C extends { readonly settlement: Settlement }>(compute: () => C | Promise<C>): Promise<C | undefined> {
    if (this.#isClosed) return undefined;
    this.#isClosed = true;
    const charged = await compute();
    await this.#ledger.settle(charged.settlement);
    return charged;
  }

  async release(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#ledger.release(this.hold);
  }
}

/** The token record has the token's limit; the ledger knows only how much was used. */
function toGrant(caller: Caller): Pick<HoldRequest, "grant" | "grantRevision"> {
  const { tokenId, isUnlimited, tokenGrant, tokenRevision: grantRevision = 0 } = caller;
  if (tokenId === 0) return {};
  if (isUnlimited) return { grant: "unlimited", grantRevision };
  return tokenGrant === undefined ? {} : { grant: toQuota(tokenGrant), grantRevision };
}

function display(amount: Quota, snapshot: Snapshot): string {
  const { DisplayInCurrencyEnabled, QuotaPerUnit } = snapshot.options;
  return DisplayInCurrencyEnabled ? `$${(amount / Number(QuotaPerUnit)).toFixed(6)}` : String(amount);
}

/**
 * Returns the result of `compute`, or the reserved amount if it throws: a ratio of the operator can make a charge
 * larger than any balance. The request was admitted for its reservation, and every answer is paid.
 */
export function chargeOrReserved(reserved: Quota, compute: () => Quota, onFailure?: (error: unknown) => void): Quota {
  try {
    return compute();
  } catch (error) {
    onFailure?.(error);
    return reserved;
  }
}
