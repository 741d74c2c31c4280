import { isOverBudget, type BudgetHold, type BudgetTags } from "../../billing/budgets/budget.ts";
import type { Budgets } from "../../billing/budgets/budgets.ts";
import type { Ledger } from "../../billing/ledger/ledger.ts";
import type { Quota } from "../../billing/money/quota.ts";
import type { Caller } from "../../identity/authentication/caller.ts";
import type { Clock } from "../../lib/clock.ts";
import type { SnapshotStore } from "../../snapshot/types.ts";
import { overBudget } from "../admission/over-budget.ts";
import { buildBudgetSubjects, type ServingChannel } from "../admission/request-budgets.ts";
import { CallProgress } from "../request/call-progress.ts";
import { Reservation } from "./reservation.ts";

/** What a client leaves at an upstream for longer than its call: a batch or a cache. */
export interface LongPurchase {
  /** The ledger rows have this id. */
  readonly id: string;
  readonly caller: Caller;
  /** The model under which budgets count it. */
  readonly model: string;
  readonly tags: BudgetTags | undefined;
  readonly target: ServingChannel;
  readonly amount: Quota;
}

export interface LongMoney {
  readonly ledger: Ledger;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly snapshots: Pick<SnapshotStore, "current">;
}

/** A reservation in balances and budgets that becomes a charge or a deposit. */
export interface LongReservation {
  readonly reservation: Reservation;
  /** Releases what is reserved, unless it was booked. */
  release(): Promise<void>;
}

/**
 * Reserves the amount in the balances and budgets of its owner. Throws `insufficient_user_quota`,
 * `insufficient_team_quota`, `insufficient_token_quota` and `budget_exceeded`.
 */
export async function reserveLong(
  { id, caller, model, tags, target, amount }: LongPurchase,
  { ledger, budgets, clock, snapshots }: LongMoney,
): Promise<LongReservation> {
  const spender = { caller, spec: { model }, tags };
  const subjects = buildBudgetSubjects(spender, target);
  const reservation = await Reservation.open(
    { ...spender, id, progress: new CallProgress() },
    { amount, isCharged: amount > 0 },
    { money: { ledger, budgets, now: () => clock.now() }, snapshot: snapshots.current() },
  );
  let held: BudgetHold | undefined;
  const release = async () => {
    if (held && !reservation.isClosed) budgets.release({ requestId: id, subjects, held });
    await reservation.release();
  };
  try {
    if (budgets.concerns({ subjects, held: undefined })) {
      const answer = await budgets.reserve({ requestId: id, subjects, held: undefined }, amount);
      if (isOverBudget(answer)) throw overBudget(answer);
      held = answer;
    }
    return { reservation, release };
  } catch (error) {
    await release();
    throw error;
  }
}
