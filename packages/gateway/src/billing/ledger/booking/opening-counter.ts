import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";
import { upsertSql } from "../../../storage/inserts.ts";

/** Counters that the rows of the ledger add up to, together with what no row explains. */
export type Counter = "token_used" | "channel_used" | "requests";

const OPENING = {
  table: "opening_counters",
  columns: ["counter", "id", "amount"],
  key: ["counter", "id"],
  add: ["amount"],
} as const;

/**
 * Adds to the part of a counter that ledger rows do not explain: what it had before the ledger counted it, and the
 * requests of a batch beyond one per row.
 */
export async function openCounter(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  { counter, id, amount }: { readonly counter: Counter; readonly id: number; readonly amount: number },
): Promise<void> {
  if (amount !== 0) await tx.run(upsertSql(kind, OPENING), [counter, id, amount]);
}
