import type { Transaction } from "kysely";
import type { Schema } from "../tables/schema.ts";
import { SECRET_COLUMNS, sealTexts, type SecretTexts } from "./channel-texts.ts";
import { channelKey } from "./sealed-locations.ts";
import type { Vault } from "./secrets.ts";

/** Stores the sealed columns of a new channel, which are bound to its generated id. */
export async function storeSecrets(
  trx: Transaction<Schema>,
  vault: Pick<Vault, "seal">,
  id: number,
  { key, texts }: { readonly key: string; readonly texts: SecretTexts },
): Promise<void> {
  const sealed = sealTexts(texts, id, vault);
  const columns = Object.fromEntries(SECRET_COLUMNS.map((column) => [column, sealed[column] ?? null]));
  await trx
    .updateTable("channels")
    .set({ key_sealed: vault.seal(key, channelKey(id)), ...columns })
    .where("id", "=", id)
    .execute();
}
