import type { Transaction } from "kysely";
import type { Schema } from "../tables/schema.ts";

/** Stores the sealed key of a new row, which is bound to its generated id. */
export async function storeKey(
  trx: Transaction<Schema>,
  table: "channels" | "tokens",
  id: number,
  sealed: string,
): Promise<void> {
  await trx.updateTable(table).set({ key_sealed: sealed }).where("id", "=", id).execute();
}
