import {
  isOverBudget,
  type BudgetHold,
  type BudgetRefusal,
  type BudgetSubjects,
  type BudgetTags,
  type BudgetTerms,
} from "../../billing/budgets/budget.ts";
import type { Budgets } from "../../billing/budgets/budgets.ts";
import { listedName } from "../../billing/pricing/listed-name.ts";
import { ZERO, type Quota } from "../../billing/money/quota.ts";
import type { Caller } from "../../identity/authentication/caller.ts";

/** The parts of a request that budgets use. */
interface Spender {
  readonly caller: Pick<Caller, "tokenId" | "userId" | "team">;
  readonly spec: { readonly model: string };
  readonly tags?: BudgetTags | undefined;
}

/** The channel that serves, and for which group. */
export interface ServingChannel {
  readonly channel: { readonly id: number };
  readonly group: string;
}

/** Returns everything whose budget may concern the request on this channel. */
export function buildBudgetSubjects(
  { caller, spec, tags }: Spender,
  { channel, group }: ServingChannel,
): BudgetSubjects {
  return {
    tokenId: caller.tokenId,
    userId: caller.userId,
    group,
    model: listedName(spec.model),
    channelId: channel.id,
    team: caller.team,
    tags,
  };
}

/** The amounts that a request wants to reserve in budgets. */
export interface BudgetAmounts {
  readonly amount: Quota;
  /** Reserved instead of `amount` as far as budgets cover it. */
  readonly wished?: Quota;
}

/** The budget reservations of one request. If no budget concerns it, nothing is computed or queried. */
export class RequestBudgets {
  readonly #requestId: string;
  readonly #budgets: Budgets;
  #held: BudgetHold | undefined;
  #amounts: () => BudgetAmounts = () => ({ amount: ZERO });
  #extending: Promise<unknown> = Promise.resolve();
  #isEnded = false;
  /** The budget that refused the last extension. */
  usedUp: BudgetTerms | undefined;

  constructor(requestId: string, budgets: Budgets) {
    this.#requestId = requestId;
    this.#budgets = budgets;
  }

  /** How much of the request the budgets cover; undefined if nothing is reserved. */
  get carried(): Quota | undefined {
    return this.#held && this.#held.ids.size > 0 ? this.#held.amount : undefined;
  }

  /** Reserves; undefined if no budget concerns the request. Rejects with `budgets_unavailable`. */
  reserve(subjects: BudgetSubjects, amounts: () => BudgetAmounts): Promise<BudgetRefusal | undefined> | undefined {
    this.#amounts = amounts;
    return this.#budgets.concerns({ subjects, held: this.#held }) ? this.#place(subjects, amounts()) : undefined;
  }

  /** Moves the reservation to other subjects, all or nothing. Rejects with `budgets_unavailable`. */
  move(subjects: BudgetSubjects): Promise<BudgetRefusal | undefined> | undefined {
    return this.#budgets.concerns({ subjects, held: this.#held })
      ? this.#place(subjects, this.#calculateHeld())
      : undefined;
  }

  #calculateHeld(): BudgetAmounts {
    return this.#held && this.#held.amount > ZERO ? { amount: this.#held.amount } : this.#amounts();
  }

  async #place(subjects: BudgetSubjects, { amount, wished }: BudgetAmounts): Promise<BudgetRefusal | undefined> {
    const held = this.#held;
    const answer = await this.#budgets.reserve({ requestId: this.#requestId, subjects, held }, amount, wished);
    if (isOverBudget(answer)) return answer;
    this.#held = answer;
    return undefined;
  }

  /** Raises the reservation of a running answer to `amount`; false if a hard budget cannot cover it. Never rejects. */
  extend(subjects: BudgetSubjects, amount: Quota): Promise<boolean> {
    return this.#change(subjects, (held) => (held !== undefined && amount <= held ? undefined : amount));
  }

  /** Returns what is reserved beyond `amount`. Not awaited. */
  shrink(subjects: BudgetSubjects, amount: Quota): void {
    void this.#change(subjects, (held) => (held !== undefined && amount < held ? amount : undefined));
  }

  #change(subjects: BudgetSubjects, calculateAmount: (held: Quota | undefined) => Quota | undefined): Promise<boolean> {
    const changing = this.#extending.then(() => this.#changeTo(subjects, calculateAmount(this.#held?.amount)));
    this.#extending = changing;
    return changing;
  }

  async #changeTo(subjects: BudgetSubjects, amount: Quota | undefined): Promise<boolean> {
    const use = { requestId: this.#requestId, subjects, held: this.#held };
    if (this.#isEnded || amount === undefined || !this.#budgets.concerns(use)) return true;
    const answer = await this.#budgets.extend(use, amount);
    if (isOverBudget(answer)) {
      this.usedUp = answer.budget;
      return false;
    }
    this.#held = answer;
    return true;
  }

  /** Returns what was reserved, unless the ledger has closed it with its charge. Not awaited. */
  end(subjects: BudgetSubjects): void {
    this.#isEnded = true;
    void this.#extending.then(() => {
      this.#budgets.release({ requestId: this.#requestId, subjects, held: this.#held });
    });
  }
}
