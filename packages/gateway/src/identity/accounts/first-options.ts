import type { Transaction } from "kysely";
import type { RawDatabase } from "../../storage/engines/raw.ts";
import { bump } from "../../storage/revisions.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { rawOn } from "../../storage/transaction.ts";

export interface FirstOptions {
  readonly retries: number;
  /** In seconds. */
  readonly createdAt: number;
}

const RETRIES = "RetryTimes";

/**
 * Stores the options that a new database starts with, in the transaction of its first account. They are rows, not
 * defaults of the program, so that databases with accounts keep their behaviour and operators see and change the value.
 * An option that an import has stored before the first start stays.
 */
export async function insertFirstOptions(
  trx: Transaction<Schema>,
  kind: RawDatabase["kind"],
  { retries, createdAt }: FirstOptions,
): Promise<void> {
  if (retries === 0) return;
  await bump(rawOn(trx, kind), kind, "options");
  if (await trx.selectFrom("options").select("key").where("key", "=", RETRIES).executeTakeFirst()) return;
  const value = String(retries);
  await trx.insertInto("options").values({ key: RETRIES, value }).execute();
  await trx
    .insertInto("option_history")
    .values({ key: RETRIES, old_value: null, new_value: value, user_id: 0, created_at: createdAt })
    .execute();
}
