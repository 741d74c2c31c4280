import { insertLedger } from "../billing/ledger/sql/booking.ts";
import type { RawTransaction } from "../storage/engines/raw.ts";

export interface CarriedUsage {
  /** The same as that of the balance that is imported with it. */
  readonly requestId: string;
  readonly userId: number;
  /** The account's `used_quota`. */
  readonly used: number;
  readonly detail: string;
  /** Milliseconds. */
  readonly at: number;
}

/**
 * Charges an imported account what it had used before, as its `used_quota` says already; the balance that is imported
 * with it is larger by as much.
 */
export async function bookCarriedUsage(tx: RawTransaction, usage: CarriedUsage): Promise<void> {
  const { requestId, userId, used, detail, at } = usage;
  if (used === 0) return;
  await tx.run("update users set quota = quota - ? where id = ?", [used, userId]);
  const row = { requestId, userId, tokenId: 0, channelId: 0, quota: 0 - used, detail, at };
  await insertLedger(tx, { ...row, kind: "consume" });
}
