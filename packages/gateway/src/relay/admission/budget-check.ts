import {
  isOverBudget,
  type BudgetHold,
  type BudgetRefusal,
  type BudgetSubjects,
} from "../../billing/budgets/budget.ts";
import type { Budgets } from "../../billing/budgets/budgets.ts";
import { ZERO, type Quota } from "../../billing/money/quota.ts";
import type { Caller } from "../../identity/sessions/caller.ts";

/** A request as far as budgets know it. */
interface Spender {
  readonly id: string;
  readonly caller: Pick<Caller, "tokenId" | "userId">;
  readonly spec: { readonly model: string };
}

/** The channel that serves, for a group. */
interface Server {
  readonly channel: { readonly id: number };
  readonly group: string;
}

export function subjectsOf({ caller, spec }: Spender, { channel, group }: Server): BudgetSubjects {
  return { tokenId: caller.tokenId, userId: caller.userId, group, model: spec.model, channelId: channel.id };
}

/** The budget reservations of one request. If no budget concerns it, nothing is computed or queried. */
export class RequestBudgets {
  readonly #requestId: string;
  readonly #budgets: Budgets;
  #held: BudgetHold | undefined;
  #amount: () => Quota = () => ZERO;
  #extending: Promise<unknown> = Promise.resolve();
  #isEnded = false;

  constructor(requestId: string, budgets: Budgets) {
    this.#requestId = requestId;
    this.#budgets = budgets;
  }

  /** Reserves `amount`. Throws `budgets_unavailable`. */
  reserve(subjects: BudgetSubjects, amount: () => Quota): Promise<BudgetRefusal | undefined> | undefined {
    this.#amount = amount;
    return this.move(subjects);
  }

  /** Moves the reservation to other subjects, all or nothing. Throws `budgets_unavailable`. */
  move(subjects: BudgetSubjects): Promise<BudgetRefusal | undefined> | undefined {
    return this.#budgets.concerns({ subjects, held: this.#held }) ? this.#place(subjects) : undefined;
  }

  async #place(subjects: BudgetSubjects): Promise<BudgetRefusal | undefined> {
    const held = this.#held;
    const amount = held && held.amount > ZERO ? held.amount : this.#amount();
    const answer = await this.#budgets.reserve({ requestId: this.#requestId, subjects, held }, amount);
    if (isOverBudget(answer)) return answer;
    this.#held = answer;
    return undefined;
  }

  /** Raises the reservation of a running answer to `amount`; false when a hard budget cannot cover it. Never rejects. */
  extend(subjects: BudgetSubjects, amount: Quota): Promise<boolean> {
    const extending = this.#extending.then(() => this.#extendTo(subjects, amount));
    this.#extending = extending;
    return extending;
  }

  async #extendTo(subjects: BudgetSubjects, amount: Quota): Promise<boolean> {
    const use = { requestId: this.#requestId, subjects, held: this.#held };
    const isEnough = use.held !== undefined && amount <= use.held.amount;
    if (this.#isEnded || isEnough || !this.#budgets.concerns(use)) return true;
    const answer = await this.#budgets.extend(use, amount);
    if (isOverBudget(answer)) return false;
    this.#held = answer;
    return true;
  }

  async renew(): Promise<void> {
    if (this.#held) await this.#budgets.renew(this.#requestId);
  }

  /** Not awaited. */
  end(subjects: BudgetSubjects, charged: Quota, isRefundable: boolean): void {
    this.#isEnded = true;
    if (!this.#budgets.concerns({ subjects, held: this.#held })) return;
    void this.#extending.then(() =>
      this.#budgets.settle({ requestId: this.#requestId, subjects, held: this.#held }, charged, isRefundable),
    );
  }
}

/** Charges budgets that were created while a request without budgets ran. Not awaited. */
export function chargeNewBudgets(
  spender: Spender,
  server: Server | undefined,
  charged: Quota | undefined,
  { budgets, isRefundable }: { readonly budgets: Budgets; readonly isRefundable?: boolean },
): void {
  if (budgets.isEmpty || !server || !charged) return;
  const use = { requestId: spender.id, subjects: subjectsOf(spender, server), held: undefined };
  void budgets.settle(use, charged, isRefundable);
}
