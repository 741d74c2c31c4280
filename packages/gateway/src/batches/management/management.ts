import type { BatchItem } from "@fairway/wire";
import { ZERO } from "../../billing/money/quota.ts";
import { AppError } from "../../lib/app-error.ts";
import { seconds } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { isObjectId } from "../../objects/ids.ts";
import type { BatchPhase } from "../../storage/tables/schema-batches.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { findAccount } from "../accounts.ts";
import { cancelBatch } from "../cancel.ts";
import { followAgain } from "../lost.ts";
import { refreshBatch } from "../poll.ts";
import { ABANDONED, recordBatchEnd } from "../record-end.ts";
import { toClientError } from "../results.ts";
import type { SettleDeps } from "../settle.ts";
import { findBatch, findOpenAt, updateBatch } from "../store.ts";
import type { BatchRow } from "../types.ts";
import { findItem } from "./find-item.ts";

/** What people do with batches, besides the clients that create them. */
export interface BatchManagement {
  /** Undefined if there is no such batch; also finds batches that their clients have deleted. */
  find(id: string): Promise<BatchRow | undefined>;
  /** Returns the batch as the upstream has it now, or as it was if it was asked a moment ago or does not answer. */
  refresh(row: BatchRow): Promise<BatchRow>;
  /** Asks the upstream to end an open batch early. */
  cancel(row: BatchRow): Promise<BatchRow>;
  /** Asks the providers to end the open batches of channels, as far as they answer. */
  cancelAll(channels: readonly number[], keyMark?: string): Promise<void>;
  /** Has the leader read the results within seconds. Nothing is booked here. */
  settle(row: BatchRow): Promise<BatchRow>;
  /** Ends a stuck batch without a charge and returns its deposit. */
  abandon(row: BatchRow): Promise<BatchRow>;
  /** Returns what one item used and costs. */
  readItem(row: BatchRow, customId: string): Promise<BatchItem>;
}

const ITEM_TIMEOUT_MS = 120_000;
const CANCELS_AT_ONCE = 4;
const READABLE: readonly BatchPhase[] = ["ended", "settled", "stuck"];
const NO_ANSWERS = { succeeded: 0, failed: 0, expired: 0, cancelled: 0, quota: ZERO };

/** All calls but `find` throw Refusal. */
export function createBatchManagement(deps: SettleDeps): BatchManagement {
  const again = async (row: BatchRow) => (await findBatch(deps, row.id)) ?? row;
  return {
    find: async (id) => (isObjectId(id) ? findBatch(deps, id) : undefined),
    refresh: (row) => refreshBatch(row, deps),
    async cancel(row) {
      requirePhase(row, ["open"]);
      try {
        return await cancelBatch(row, deps);
      } catch (error) {
        throw toRefusal("batch_not_cancelled", error);
      }
    },
    async cancelAll(channels, keyMark) {
      const waiting = await findOpenAt(deps, channels, keyMark);
      const worker = async () => {
        for (let row = waiting.pop(); row; row = waiting.pop()) await tryCancel(row, deps);
      };
      await Promise.all(Array.from({ length: CANCELS_AT_ONCE }, worker));
    },
    async settle(row) {
      requirePhase(row, ["ended", "stuck"]);
      if (!findAccount(row, deps)) throw new Refusal("batch_account_lost");
      if (row.ended_at > 0) await updateBatch(deps, row.id, [row.phase], { next_poll_at: deps.clock.now() });
      else await followAgain(row, deps);
      return again(row);
    },
    async abandon(row) {
      requirePhase(row, ["stuck"]);
      const { request_id: requestId, user_id: userId, token_id: tokenId } = row;
      const work = (tx: RawTransaction) => markAbandoned(tx, row, deps);
      const close = { requestId, userId, tokenId, at: deps.clock.now(), settlements: [], work };
      if (!(await deps.ledger.closeDeposit(close))) throw refusePhase(await again(row), ["stuck"]);
      return again(row);
    },
    readItem: (row, customId) => readItem(row, customId, deps),
  };
}

async function tryCancel(row: BatchRow, deps: SettleDeps): Promise<void> {
  try {
    await cancelBatch(row, deps);
  } catch (error) {
    deps.log.warn("a provider did not cancel a batch whose channel or key is deleted", { batch: row.id, error });
  }
}

function requirePhase(row: BatchRow, phases: readonly BatchPhase[]): void {
  if (!phases.includes(row.phase)) throw refusePhase(row, phases);
}

function refusePhase({ phase }: BatchRow, phases: readonly BatchPhase[]): Refusal {
  return new Refusal("batch_not_ready", { values: { phase, needed: phases.join(" or ") } });
}

async function markAbandoned(tx: RawTransaction, row: BatchRow, deps: SettleDeps): Promise<void> {
  const sql =
    "update batches set phase = 'settled', charged = 0, settled_at = ?, error = ?, revision = revision + 1 where id = ? and phase = 'stuck'";
  if ((await tx.run(sql, [seconds(deps.clock), ABANDONED, row.id])) !== 1) throw refusePhase(row, ["stuck"]);
  await recordBatchEnd(tx, { row, counts: NO_ANSWERS, type: "batch.failed" }, deps);
}

async function readItem(row: BatchRow, customId: string, deps: SettleDeps): Promise<BatchItem> {
  requirePhase(row, READABLE);
  if (!findAccount(row, deps)) throw new Refusal("batch_account_lost");
  let item: BatchItem | undefined;
  try {
    item = await findItem(row, customId, deps, AbortSignal.timeout(ITEM_TIMEOUT_MS));
  } catch (error) {
    throw toRefusal("batch_results_unreadable", error);
  }
  if (!item) throw new Refusal("batch_item_not_found", { values: { custom_id: customId.slice(0, 128) } });
  return item;
}

/** Faults of the upstream have a text for clients; others are faults of the gateway. */
function toRefusal(key: "batch_not_cancelled" | "batch_results_unreadable", error: unknown): Refusal {
  const cause = toClientError(error);
  return new Refusal(key, { values: { reason: AppError.from(cause).message }, cause });
}
