import { keyHint, type LeakReport } from "@fairway/wire";
import type { Transaction } from "kysely";
import { seconds } from "../../lib/clock.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { bump } from "../../storage/revisions.ts";
import { rawOn, transact } from "../../storage/transaction.ts";
import { recordTokenEvent } from "../../events/token-event.ts";
import { createAuditStore } from "../audit/store.ts";
import { keyForms } from "../tokens/key-forms.ts";
import { listWorkingKeys, noteOldKeys, replaceKey, ROTATION_COLUMNS, type RotationRow } from "../tokens/replace-key.ts";
import type { TokenStoreDeps } from "../tokens/store.ts";

export type LeakAction = "disable" | "rotate" | "notify";
type Leak = LeakReport[number];

/** What `rotate` leaves the owner to move. */
const ROTATE_GRACE_SECONDS = 3_600;
const BY = "leak report";

/** Does with a leaked key what the operator chose; returns whether it is, or was, a key of a token. */
export async function actOnLeak(deps: TokenStoreDeps, leak: Leak, action: LeakAction): Promise<boolean> {
  const { database, vault, tokens, announce } = deps;
  const hashes = keyForms(leak.token).map((form) => vault.hashKey(form));
  const id = await findToken(database.db, hashes);
  if (id === undefined) return false;
  const isChanged = await transact(database.db, async (trx) => {
    await rawOn(trx, database.kind).run("update tokens set status = status where id = ?", [id]);
    const rows = trx.selectFrom("tokens").select(ROTATION_COLUMNS).where("id", "=", id);
    const row = await rows.where("deleted_at", "is", null).executeTakeFirst();
    return row !== undefined && endKey(trx, deps, { row, hashes, leak, action });
  });
  if (isChanged) {
    tokens.dropToken(id);
    await announce("tokens");
  }
  return true;
}

async function findToken(db: TokenStoreDeps["database"]["db"], hashes: readonly string[]): Promise<number | undefined> {
  const current = db.selectFrom("tokens").select("id").where("key_hash", "in", hashes).where("deleted_at", "is", null);
  const found = await current.executeTakeFirst();
  if (found) return found.id;
  const old = db.selectFrom("token_keys").select("token_id").where("key_hash", "in", hashes);
  return (await old.executeTakeFirst())?.token_id;
}

interface Leaked {
  readonly row: RotationRow;
  readonly hashes: readonly string[];
  readonly leak: Leak;
  readonly action: LeakAction;
}

/** Returns true if a key changed. A key that has ended already does no harm: there is nothing to do or to say. */
async function endKey(trx: Transaction<Schema>, deps: TokenStoreDeps, leaked: Leaked): Promise<boolean> {
  const { row, hashes, action } = leaked;
  const now = seconds(deps.clock);
  const graceSeconds = action === "rotate" ? ROTATE_GRACE_SECONDS : 0;
  if (hashes.includes(row.key_hash)) {
    await recordLeak(trx, deps, leaked, row.key_hash);
    if (action === "notify") return false;
    const { kind } = deps.database;
    await replaceKey(trx, row, { kind, vault: deps.vault, now, graceSeconds, by: BY });
    await recordChange(trx, deps, leaked);
    return true;
  }
  const olds = trx.selectFrom("token_keys").select(["id", "key_hash", "expires_at"]).where("token_id", "=", row.id);
  const old = await olds.where("key_hash", "in", hashes).where("expires_at", ">", now).executeTakeFirst();
  if (!old) return false;
  await recordLeak(trx, deps, leaked, old.key_hash);
  const endsAt = now + graceSeconds;
  if (action === "notify" || old.expires_at <= endsAt) return false;
  await trx.updateTable("token_keys").set({ expires_at: endsAt }).where("id", "=", old.id).execute();
  await noteOldKeys(trx, row.id, await listWorkingKeys(trx, row.id, now));
  await bump(rawOn(trx, deps.database.kind), deps.database.kind, "tokens");
  await recordChange(trx, deps, leaked);
  return true;
}

/** One event for each key, however often it is reported. It names the key by its hint. */
function recordLeak(
  trx: Transaction<Schema>,
  { clock }: TokenStoreDeps,
  { row, leak, action }: Leaked,
  keyHash: string,
): Promise<void> {
  const data = { hint: readHint(leak), source: leak.source ?? "", url: leak.url ?? "", action };
  return recordTokenEvent(trx, row, { type: "token.leaked", atMs: clock.now(), about: keyHash, data });
}

async function recordChange(
  trx: Transaction<Schema>,
  { database, clock }: TokenStoreDeps,
  { row, leak, action }: Leaked,
): Promise<void> {
  await createAuditStore({ database: { ...database, db: trx }, clock }).add({
    user_id: 0,
    username: BY,
    ip: "",
    action: "leakReport",
    target: `token ${row.id}`,
    old_value: null,
    new_value: JSON.stringify({ name: row.name, key: readHint(leak), url: leak.url ?? "", leak_action: action }),
  });
}

function readHint({ token }: Leak): string {
  return keyHint(
    token
      .trim()
      .replace(/^Bearer\s+/i, "")
      .replace(/^sk-/, "")
      .slice(0, 48),
  );
}
