import type { Insertable, Transaction } from "kysely";
import { FIRST_BALANCE, firstBalanceId } from "../../lib/first-balance.ts";
import { insertRow } from "../../storage/inserts.ts";
import type { UserTable } from "../../storage/tables/schema-accounts.ts";
import type { Schema } from "../../storage/tables/schema.ts";

/** Inserts the first account with its balance and the ledger row of that balance. */
export async function insertFirstAccount(
  trx: Transaction<Schema>,
  row: Omit<Insertable<UserTable>, "quota">,
): Promise<void> {
  const id = await insertRow(trx, "users", { ...row, quota: FIRST_BALANCE });
  await trx
    .insertInto("ledger")
    .values({
      request_id: firstBalanceId(id),
      kind: "gift",
      user_id: id,
      token_id: 0,
      channel_id: 0,
      quota: FIRST_BALANCE,
      detail: "first balance",
      created_at: row.created_at * 1000,
    })
    .execute();
}
