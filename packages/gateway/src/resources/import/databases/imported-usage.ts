import { insertLedger } from "../../../billing/ledger/booking/booking.ts";
import { openCounter } from "../../../billing/ledger/booking/opening-counter.ts";
import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";

export interface CarriedUsage {
  /** The request id of the balance that is imported with it. */
  readonly requestId: string;
  readonly userId: number;
  /** The account's `used_quota`. */
  readonly used: number;
  /** The account's `request_count`. */
  readonly requests: number;
  readonly detail: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/**
 * Records the usage from before the import, which `used_quota` already includes, and credits the balance by the same
 * amount.
 */
export async function bookCarriedUsage(
  tx: RawTransaction,
  dialect: RawDatabase["kind"],
  usage: CarriedUsage,
): Promise<void> {
  const { requestId, userId, used, requests, detail, at } = usage;
  // The ledger row of the usage counts as one more request.
  const amount = used === 0 ? requests : requests - 1;
  await openCounter(tx, dialect, { counter: "requests", id: userId, amount });
  if (used === 0) return;
  await tx.run("update users set quota = quota - ? where id = ?", [used, userId]);
  const row = { requestId, userId, tokenId: 0, channelId: 0, quota: 0 - used, detail, at };
  await insertLedger(tx, { ...row, kind: "consume" });
}
