import type { Quota } from "../billing/money/quota.ts";
import { AppError } from "../lib/app-error.ts";
import { reserveLong } from "../relay/reservation/deposit-reservation.ts";
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
  const { caller, requestId: id } = call;
  const tags = { text: row.tags, endUser: row.end_user };
  const { reservation, release } = await reserveLong(
    { id, caller, model, tags, target, amount: row.deposit as Quota },
    deps,
  );
  try {
    await reservation.deposit(target);
  } catch (error) {
    await release();
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
