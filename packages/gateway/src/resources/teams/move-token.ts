import type { Selectable, Transaction } from "kysely";
import type { Ledger } from "../../billing/ledger/ledger.ts";
import { recordTokenEvent } from "../../events/token-event.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Database } from "../../storage/database.ts";
import { insertRow } from "../../storage/inserts.ts";
import { bump, noteLimitChange } from "../../storage/revisions.ts";
import { tokenKey } from "../../storage/secrets/sealed-locations.ts";
import { storeKey } from "../../storage/secrets/store-key.ts";
import type { TokenTable } from "../../storage/tables/schema-accounts.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { lockUser, rawOn } from "../../storage/transaction.ts";
import type { Vault } from "../ports.ts";

export interface MoveDeps {
  readonly kind: Database["kind"];
  readonly vault: Vault;
  readonly ledger: Pick<Ledger, "claimed">;
  /** Epoch seconds. */
  readonly now: number;
  /** Name of the caller. */
  readonly by: string;
}

export interface Move {
  /** The token and its owner when the move was checked. */
  readonly id: number;
  readonly from: number;
  /** The new owner. */
  readonly to: number;
  /** The member who holds it there; 0 = none. */
  readonly memberId: number;
  /** Throws to refuse; gets the row, with the new owner locked. */
  check(row: TokenRow, trx: Transaction<Schema>): Promise<unknown>;
}

type TokenRow = Selectable<TokenTable>;

export interface Moved {
  readonly id: number;
  readonly remainQuota: number;
  readonly held: number;
  /** True if it has budgets, which count its calls under the new id now. */
  readonly hasBudgets: boolean;
}

/**
 * Moves a key to another account. The key is found under its hash before and after the commit, so no call misses it.
 * The old row stays without it: calls that run are charged there, to the old owner. Of the limit of a key, the free
 * part moves; what running calls have reserved stays with the old row.
 */
export async function moveToken(trx: Transaction<Schema>, move: Move, deps: MoveDeps): Promise<Moved> {
  const { kind, vault, ledger, now } = deps;
  const tx = rawOn(trx, kind);
  if (!(await lockUser(trx, move.to))) throw new Refusal("account_deleted");
  await tx.run("update tokens set status = status where id = ?", [move.id]);
  const living = trx.selectFrom("tokens").selectAll().where("id", "=", move.id).where("deleted_at", "is", null);
  const row = await living.where("user_id", "=", move.from).executeTakeFirst();
  if (!row) throw new Refusal("token_not_found");
  await move.check(row, trx);
  const { free, held } = splitLimit(row, await ledger.claimed(row.user_id, row.id));
  const left = { key_hash: `moved-${row.id}`, deleted_at: now, remain_quota: row.remain_quota - free };
  await trx.updateTable("tokens").set(left).where("id", "=", row.id).execute();
  const { id: _id, limit_revision: _revision, ...copied } = row;
  const id = await insertRow(trx, "tokens", {
    ...copied,
    user_id: move.to,
    member_id: move.memberId,
    service_account_id: 0,
    remain_quota: free,
    held: 0,
    used_quota: 0,
    key_sealed: "",
  });
  await storeKey(trx, "tokens", id, vault.seal(vault.open(row.key_sealed, tokenKey(row.id)), tokenKey(id)));
  await trx.updateTable("token_keys").set({ token_id: id }).where("token_id", "=", row.id).execute();
  await recordMove(trx, row, { id, userId: move.to, memberId: move.memberId }, deps);
  const hasBudgets = await moveBudgets(trx, kind, { from: row.id, to: id });
  await bump(tx, kind, "tokens");
  await noteLimitChange(tx, row.id);
  return { id, remainQuota: row.unlimited_quota === 1 ? 0 : free, held, hasBudgets };
}

/** Returns the part of a limit that no call has used or reserved. */
function splitLimit(row: TokenRow, claimedLive: number): { readonly free: number; readonly held: number } {
  const claimed = Math.max(claimedLive, row.used_quota + row.held);
  const free = Math.max(0, row.remain_quota + row.used_quota - claimed);
  return row.unlimited_quota === 1
    ? { free: row.remain_quota, held: 0 }
    : { free, held: Math.max(0, row.remain_quota - free) };
}

interface Renumbering {
  readonly from: number;
  readonly to: number;
}

interface NewPlace {
  readonly id: number;
  readonly userId: number;
  readonly memberId: number;
}

/** Both owners hear of it, each with the id that the token has for them. */
async function recordMove(
  trx: Transaction<Schema>,
  row: TokenRow,
  { id, userId, memberId }: NewPlace,
  { now, by }: MoveDeps,
): Promise<void> {
  const accounts = trx.selectFrom("users").select(["id", "username"]).where("id", "in", [row.user_id, userId]);
  const names = new Map((await accounts.execute()).map((one) => [one.id, one.username]));
  const data = { hint: row.key_hint, from: names.get(row.user_id), to: names.get(userId), by };
  const event = { type: "token.moved", atMs: now * 1000, about: row.key_hash, data } as const;
  await recordTokenEvent(trx, row, event);
  await recordTokenEvent(trx, { id, name: row.name, user_id: userId, member_id: memberId }, event);
}

/**
 * Budgets of the key go with it, with what they have used and hold. The revision comes first: it makes the move and a
 * budget that is being made wait for each other, so that none stays with the row that no call finds.
 */
async function moveBudgets(
  trx: Transaction<Schema>,
  kind: Database["kind"],
  { from, to }: Renumbering,
): Promise<boolean> {
  await bump(rawOn(trx, kind), kind, "options");
  const own = trx
    .updateTable("budgets")
    .set({ subject: String(to) })
    .where("scope", "=", "token");
  const { numUpdatedRows } = await own.where("subject", "=", String(from)).executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}
