import type { Transaction } from "kysely";
import type { Schema } from "../schema/schema.ts";

/** Gives a new row its sealed key, which is bound to the id that the insert made. */
export async function storeKey(
  trx: Transaction<Schema>,
  table: "channels" | "tokens",
  id: number,
  sealed: string,
): Promise<void> {
  await trx.updateTable(table).set({ key_sealed: sealed }).where("id", "=", id).execute();
}
