import { keyHint, MAX_OLD_KEYS, type OldKey, type RotatedKey } from "@fairway/wire";
import type { Selectable, Transaction } from "kysely";
import { recordTokenEvent } from "../../events/token-event.ts";
import type { Database } from "../../storage/database.ts";
import { bump } from "../../storage/revisions.ts";
import { tokenKey } from "../../storage/secrets/sealed-locations.ts";
import { createTokenKey } from "../../storage/secrets/token-key-text.ts";
import type { TokenTable } from "../../storage/tables/schema-accounts.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { rawOn } from "../../storage/transaction.ts";
import type { Vault } from "../ports.ts";
import { calculateNextRotation } from "./plan-rotation.ts";

/** What a rotation reads of a token. */
export const ROTATION_COLUMNS = [
  "id",
  "name",
  "user_id",
  "member_id",
  "key_hash",
  "key_sealed",
  "created_time",
  "rotated_at",
  "rotate_days",
  "rotate_grace_seconds",
] as const satisfies readonly (keyof TokenTable)[];

export type RotationRow = Pick<Selectable<TokenTable>, (typeof ROTATION_COLUMNS)[number]>;

export interface KeyReplacement {
  readonly kind: Database["kind"];
  readonly vault: Vault;
  /** Epoch seconds. */
  readonly now: number;
  /** 0 = the replaced key ends at once. */
  readonly graceSeconds: number;
  /** Who replaces it, for the event: a username, or what does it by itself. */
  readonly by: string;
}

/** Gives a token a new key. The row must be locked, and the caller announces the change after the commit. */
export async function replaceKey(
  trx: Transaction<Schema>,
  row: RotationRow,
  { kind, vault, now, graceSeconds, by }: KeyReplacement,
): Promise<RotatedKey> {
  const key = createTokenKey();
  const hint = keyHint(key);
  await trx
    .insertInto("token_keys")
    .values({
      token_id: row.id,
      key_hash: row.key_hash,
      hint: keyHint(vault.open(row.key_sealed, tokenKey(row.id))),
      created_at: row.rotated_at === 0 ? row.created_time : row.rotated_at,
      replaced_at: now,
      expires_at: now + graceSeconds,
    })
    .execute();
  const old = await endSurplus(trx, await listWorkingKeys(trx, row.id, now), now);
  await trx
    .updateTable("tokens")
    .set({
      key_hash: vault.hashKey(key),
      key_sealed: vault.seal(key, tokenKey(row.id)),
      key_hint: hint,
      rotated_at: now,
      next_rotation_at: calculateNextRotation(row.rotate_days, now),
    })
    .where("id", "=", row.id)
    .execute();
  await noteOldKeys(trx, row.id, old);
  await recordTokenEvent(trx, row, {
    type: "token.rotated",
    atMs: now * 1000,
    about: row.key_hash,
    data: { hint, by },
  });
  await bump(rawOn(trx, kind), kind, "tokens");
  return { key, hint, old };
}

/** Returns the replaced keys of a token that work, newest first. */
export function listWorkingKeys(
  db: Pick<Transaction<Schema>, "selectFrom">,
  tokenId: number,
  now: number,
): Promise<OldKey[]> {
  return db
    .selectFrom("token_keys")
    .select(["id", "hint", "created_at", "expires_at", "last_used_at"])
    .where("token_id", "=", tokenId)
    .where("expires_at", ">", now)
    .orderBy("id", "desc")
    .execute();
}

/** Stores on the token until when a replaced key works, so that a lookup of the current key needs no second query. */
export async function noteOldKeys(trx: Transaction<Schema>, tokenId: number, old: readonly OldKey[]): Promise<void> {
  const old_keys_until = Math.max(0, ...old.map((key) => key.expires_at));
  await trx.updateTable("tokens").set({ old_keys_until }).where("id", "=", tokenId).execute();
}

/** Ends the oldest keys beyond the limit; returns those that still work. */
async function endSurplus(trx: Transaction<Schema>, old: OldKey[], now: number): Promise<OldKey[]> {
  const surplus = old.slice(MAX_OLD_KEYS).map(({ id }) => id);
  if (surplus.length > 0)
    await trx.updateTable("token_keys").set({ expires_at: now }).where("id", "in", surplus).execute();
  return old.slice(0, MAX_OLD_KEYS);
}
