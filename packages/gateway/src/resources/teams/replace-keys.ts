import type { Transaction } from "kysely";
import type { Database } from "../../storage/database.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import type { Vault } from "../ports.ts";
import { replaceKey, ROTATION_COLUMNS } from "../tokens/replace-key.ts";

/** Named by the event of each new key. */
const BY = "removal of a member";

interface Replacing {
  readonly kind: Database["kind"];
  readonly vault: Vault;
  /** Epoch seconds. */
  readonly now: number;
}

/** Gives tokens new keys and ends every key that they had, those that were replaced before included. */
export async function replaceKeys(
  trx: Transaction<Schema>,
  ids: readonly number[],
  { kind, vault, now }: Replacing,
): Promise<void> {
  for (const id of ids) {
    const row = await trx.selectFrom("tokens").select(ROTATION_COLUMNS).where("id", "=", id).executeTakeFirstOrThrow();
    await trx
      .updateTable("token_keys")
      .set({ expires_at: now })
      .where("token_id", "=", id)
      .where("expires_at", ">", now)
      .execute();
    await replaceKey(trx, row, { kind, vault, now, graceSeconds: 0, by: BY });
  }
}
