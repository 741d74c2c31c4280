import type { BudgetTags } from "../../billing/budgets/budget.ts";
import type { Budgets } from "../../billing/budgets/budgets.ts";
import {
  isRefusal,
  type Hold,
  type HoldRefusal,
  type HoldRequest,
  type Ledger,
  type LogDetail,
  type Settlement,
} from "../../billing/ledger/ledger.ts";
import { quota as toQuota, ZERO, type Quota } from "../../billing/money/quota.ts";
import { AppError } from "../../lib/app-error.ts";
import { toTeamEntity } from "../../identity/authentication/team-rights.ts";
import type { Caller } from "../../identity/authentication/caller.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { buildBudgetSubjects, type ServingChannel } from "../admission/request-budgets.ts";
import type { CallProgress } from "../request/call-progress.ts";

/** The call that is paid: a request, a realtime session or a task. */
export interface PaidCall {
  readonly id: string;
  readonly caller: Caller;
  /** The model whose budgets count the charge. */
  readonly spec: { readonly model: string };
  /** What the call is for; undefined if it names nothing. */
  readonly tags?: BudgetTags | undefined;
  readonly progress: Pick<CallProgress, "exhausted">;
}

/** Where money is reserved and booked. */
export interface Money {
  readonly ledger: Pick<Ledger, "hold" | "renew" | "settle" | "deposit" | "release">;
  readonly budgets: Pick<Budgets, "counting">;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** The hard budgets of a call, whose admission raises them. */
export interface BudgetLimits {
  /** False if a hard budget does not cover the amount. Never rejects. */
  extend(amount: Quota): Promise<boolean>;
  /** Returns what is reserved beyond the amount. */
  shrink(amount: Quota): void;
}

/** The amounts that open a reservation. */
export type Reserved = Pick<HoldRequest, "amount" | "wished" | "isCharged">;

/** What a call owes: so far, or in all. */
export interface Bill {
  readonly quota: Quota;
  /** The channel that serves; undefined while none does. */
  readonly target?: ServingChannel | undefined;
  readonly log?: LogDetail | undefined;
  /** True if the charge may be refunded later. */
  readonly isRefundable?: boolean;
}

/** What a call owes that has delivered nothing. */
export const NOTHING_OWED: Bill = { quota: ZERO };

/** What does not cover a call, or no more of it. */
export type Shortage = "balance" | "budget";

/**
 * The amount that a request, a realtime session, a task or a batch has reserved in the ledger. All of them open, raise,
 * renew, charge and release it here. It is charged or released exactly once: later calls change nothing.
 */
export class Reservation {
  readonly #hold: Hold;
  readonly #money: Money;
  #call: PaidCall;
  #limits: BudgetLimits | undefined;
  #amount: Quota;
  /** What the call owed at the last renewal: each one replaces what the ledger would charge if this process died. */
  #owed: Bill = NOTHING_OWED;
  #isClosed = false;

  private constructor(hold: Hold, call: PaidCall, money: Money, limits: BudgetLimits | undefined) {
    this.#hold = hold;
    this.#call = call;
    this.#money = money;
    this.#limits = limits;
    this.#amount = hold.amount;
  }

  /**
   * Throws `insufficient_user_quota`, `insufficient_team_quota` or `insufficient_token_quota`. The budgets of `limits`
   * are raised with the reservation; what it opens with is reserved there by the admission of the call.
   */
  static async open(
    call: PaidCall,
    { amount, wished, isCharged }: Reserved,
    {
      money,
      snapshot,
      limits,
    }: { readonly money: Money; readonly snapshot: Snapshot; readonly limits?: BudgetLimits | undefined },
  ): Promise<Reservation> {
    const { id: requestId, caller } = call;
    const { userId, tokenId, tokenRevision: grantRevision } = caller;
    const grant = findGrant(caller);
    const hold = await money.ledger.hold({
      requestId,
      userId,
      tokenId,
      amount,
      wished,
      isCharged,
      grant,
      grantRevision,
    });
    if (isRefusal(hold)) throw describeShortage(hold, caller, snapshot);
    return new Reservation(hold, call, money, limits);
  }

  get amount(): Quota {
    return this.#amount;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The same reservation continues for another model, whose budgets count what is owed from here on. */
  changeModel(call: PaidCall, limits: BudgetLimits | undefined): void {
    this.#call = call;
    this.#limits = limits;
  }

  /** Extends the lease and stores what to charge if this process dies; without a bill, what was stored before. */
  async renew(soFar: Bill = this.#owed): Promise<void> {
    this.#owed = soFar;
    if (!this.#isClosed) await this.#money.ledger.renew(this.#hold, this.#toSettlement(soFar));
  }

  /** The same with `amount` reserved in all; returns what does not cover it. */
  async raise(amount: Quota, soFar: Bill = this.#owed): Promise<Shortage | undefined> {
    if (this.#limits && !(await this.#limits.extend(amount))) return "budget";
    if (await this.raiseBalance(amount, soFar)) return undefined;
    this.#call.progress.exhausted("balance");
    return "balance";
  }

  /** The same for a call whose budgets are raised elsewhere; false if the balance does not cover it. */
  async raiseBalance(amount: Quota, soFar: Bill = this.#owed): Promise<boolean> {
    this.#owed = soFar;
    const isRaised = await this.#money.ledger.renew(this.#hold, this.#toSettlement(soFar), amount);
    if (isRaised) this.#amount = amount;
    return isRaised;
  }

  /** Returns what budgets have reserved beyond the amount. Not awaited. */
  shrinkBudgets(): void {
    this.#limits?.shrink(this.#amount);
  }

  /**
   * Charges the result of `compute` and returns it when the charge cannot be lost. Undefined if the reservation was
   * closed before.
   */
  async settle<B extends Bill>(compute: () => B | Promise<B>): Promise<B | undefined> {
    if (this.#isClosed) return undefined;
    this.#isClosed = true;
    const bill = await compute();
    await this.#money.ledger.settle(this.#toSettlement(bill));
    return bill;
  }

  /** Books the amount, or less of it, as a deposit on this channel, which outlives this process. */
  async deposit(target: ServingChannel, amount: Quota = this.#amount): Promise<void> {
    const { ledger, now } = this.#money;
    await ledger.deposit(this.#hold, { amount, at: now(), ...this.#findBudgets(target) });
    this.#isClosed = true;
  }

  async release(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#money.ledger.release(this.#hold);
  }

  #toSettlement({ quota, target, log, isRefundable }: Bill): Settlement {
    const at = this.#money.now();
    const budgets = target && this.#findBudgets(target).budgets;
    const settlement = { hold: this.#hold, quota, channelId: target?.channel.id ?? 0, at, budgets, log };
    return isRefundable === true ? { ...settlement, isRefundable } : settlement;
  }

  #findBudgets(target: ServingChannel): { readonly budgets?: readonly number[] } {
    return this.#money.budgets.counting(buildBudgetSubjects(this.#call, target));
  }
}

function describeShortage({ refused, needed, available }: HoldRefusal, { team }: Caller, snapshot: Snapshot): AppError {
  const values = { need: display(needed, snapshot), have: display(available, snapshot) };
  if (refused === "token") return new AppError("insufficient_token_quota", { values });
  if (!team) return new AppError("insufficient_user_quota", { values });
  const entity = toTeamEntity(team);
  return new AppError("insufficient_team_quota", { values: { ...values, team: team.name }, entity });
}

/** The token record has the token's limit; the ledger knows only how much was used. */
function findGrant({ tokenId, isUnlimited, tokenGrant }: Caller): HoldRequest["grant"] {
  if (tokenId === 0) return undefined;
  if (isUnlimited) return "unlimited";
  return tokenGrant === undefined ? undefined : toQuota(tokenGrant);
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
