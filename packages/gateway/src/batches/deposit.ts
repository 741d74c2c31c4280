import { isOverBudget, type BudgetHold } from "../billing/budgets/budget.ts";
import type { Quota } from "../billing/money/quota.ts";
import { AppError } from "../lib/app-error.ts";
import { overBudget } from "../relay/admission/over-budget.ts";
import { buildBudgetSubjects } from "../relay/admission/request-budgets.ts";
import { CallProgress } from "../relay/request/call-progress.ts";
import { Reservation } from "../relay/reservation/reservation.ts";
import type { BatchTarget } from "./choose-channel.ts";
import { refuseRow } from "./store.ts";
import type { BatchCall, BatchDeps, BatchRow } from "./types.ts";

interface Depositing {
  readonly row: BatchRow;
  readonly call: BatchCall;
  readonly target: BatchTarget;
  /** The model under which budgets count the batch. */
  readonly model: string;
}

/**
 * Takes the deposit of a batch from the balances and budgets of its owner. If it is refused, the row is refused too.
 * Throws `insufficient_user_quota`, `insufficient_token_quota` and `budget_exceeded`.
 */
export async function takeDeposit(depositing: Depositing, deps: BatchDeps): Promise<void> {
  const { row } = depositing;
  try {
    await deposit(depositing, deps);
  } catch (error) {
    await refuseBatch(row, AppError.from(error).code ?? "internal_error", deps);
    throw error;
  }
}

async function deposit({ row, call, target, model }: Depositing, deps: BatchDeps): Promise<void> {
  const { ledger, budgets, clock } = deps;
  const money = { ledger, budgets, now: () => clock.now() };
  const { caller, requestId } = call;
  const amount = row.deposit as Quota;
  const spender = { caller, spec: { model }, tags: { text: row.tags, endUser: row.end_user } };
  const subjects = buildBudgetSubjects(spender, target);
  const snapshot = deps.snapshots.current();
  const reservation = await Reservation.open(
    { ...spender, id: requestId, progress: new CallProgress() },
    { amount, isCharged: amount > 0 },
    { money, snapshot },
  );
  let held: BudgetHold | undefined;
  try {
    if (budgets.concerns({ subjects, held: undefined })) {
      const answer = await budgets.reserve({ requestId, subjects, held: undefined }, amount);
      if (isOverBudget(answer)) throw overBudget(answer);
      held = answer;
    }
    await reservation.deposit(target);
  } catch (error) {
    if (held) budgets.release({ requestId, subjects, held });
    await reservation.release();
    throw error;
  }
}

/** Ends a batch that never ran, and returns its deposit if it has one. Returns false if it was closed before. */
export function refuseBatch(
  row: Pick<BatchRow, "id" | "request_id" | "user_id" | "token_id">,
  reason: string,
  { ledger, clock }: Pick<BatchDeps, "ledger" | "clock">,
): Promise<boolean> {
  return ledger.closeDeposit({
    requestId: row.request_id,
    userId: row.user_id,
    tokenId: row.token_id,
    at: clock.now(),
    settlements: [],
    work: (tx) => refuseRow(tx, row.id, reason),
  });
}
