import { createHash, randomBytes } from "node:crypto";
import {
  MAX_SERVICE_ACCOUNTS,
  MAX_SERVICE_TOKENS,
  SERVICE_ACCOUNT_STATUS,
  SERVICE_TOKEN_PREFIX,
  type ServiceAccount,
  type ServiceToken,
} from "@fairway/wire";
import { sql, type Kysely, type Updateable } from "kysely";
import { Refusal } from "../lib/refusal.ts";
import { isDuplicate } from "../storage/errors.ts";
import { insertRow } from "../storage/inserts.ts";
import type { ServiceAccountTable } from "../storage/tables/schema-teams.ts";
import type { Schema } from "../storage/tables/schema.ts";

type Db = Kysely<Schema>;

const SECRET_BYTES = 32;
const HINT_CHARS = 9;

/** Returns the living service accounts of a team, or one of them, by name. */
export async function readServiceAccounts(
  db: Db,
  teamId: number,
  { id, now }: { readonly id?: number; readonly now: number },
): Promise<ServiceAccount[]> {
  let living = db.selectFrom("service_accounts").selectAll().where("deleted_at", "is", null);
  if (id !== undefined) living = living.where("id", "=", id);
  const rows = await living.where("team_id", "=", teamId).orderBy("name").orderBy("id").execute();
  const ids = rows.map((row) => row.id);
  const [keys, tokens] = [await countKeys(db, ids), await countTokens(db, ids, now)];
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    description: row.description,
    status: row.status,
    keys: keys.get(row.id)?.count ?? 0,
    access_tokens: tokens.get(row.id) ?? 0,
    created_by: row.created_by,
    created_at: row.created_at,
    last_used_at: Math.max(row.last_used_at, keys.get(row.id)?.lastUsedAt ?? 0),
  }));
}

async function countKeys(db: Db, ids: readonly number[]) {
  if (ids.length === 0) return new Map<number, { readonly count: number; readonly lastUsedAt: number }>();
  const rows = await db
    .selectFrom("tokens")
    .select(["service_account_id", sql<number>`count(*)`.as("keys")])
    .select(sql<number>`max(case when used_quota > 0 then accessed_time else 0 end)`.as("used"))
    .where("service_account_id", "in", ids)
    .where("deleted_at", "is", null)
    .groupBy("service_account_id")
    .execute();
  return new Map(
    rows.map((row) => [row.service_account_id, { count: Number(row.keys), lastUsedAt: Number(row.used) }]),
  );
}

async function countTokens(db: Db, ids: readonly number[], now: number): Promise<ReadonlyMap<number, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("service_tokens")
    .select(["service_account_id", sql<number>`count(*)`.as("count")])
    .where("service_account_id", "in", ids)
    .where("expires_at", ">", now)
    .groupBy("service_account_id")
    .execute();
  return new Map(rows.map((row) => [row.service_account_id, Number(row.count)]));
}

export interface NewServiceAccount {
  readonly teamId: number;
  readonly name: string;
  readonly description: string;
  readonly createdBy: number;
  readonly now: number;
}

/** Throws `service_account_exists` or `team_limit_reached`; the caller has locked the team. */
export async function createServiceAccount(trx: Db, account: NewServiceAccount): Promise<number> {
  const { teamId, name, description, createdBy, now } = account;
  const living = trx.selectFrom("service_accounts").where("team_id", "=", teamId).where("deleted_at", "is", null);
  const { count } = await living.select((eb) => eb.fn.countAll<number>().as("count")).executeTakeFirstOrThrow();
  if (Number(count) >= MAX_SERVICE_ACCOUNTS)
    throw new Refusal("team_limit_reached", { values: { n: MAX_SERVICE_ACCOUNTS } });
  return namedOnce(() =>
    insertRow(trx, "service_accounts", {
      team_id: teamId,
      name,
      name_key: buildNameKey(name),
      description,
      status: SERVICE_ACCOUNT_STATUS.on,
      created_by: createdBy,
      created_at: now,
      last_used_at: 0,
      deleted_at: null,
    }),
  );
}

export interface ServiceAccountChange {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly status?: number | undefined;
}

/** Throws `service_account_not_found` or `service_account_exists`. */
export async function updateServiceAccount(
  trx: Db,
  place: ServicePlace,
  { name, description, status }: ServiceAccountChange,
): Promise<void> {
  await requireServiceAccount(trx, place);
  const columns: Updateable<ServiceAccountTable> = {
    ...(name !== undefined && { name, name_key: buildNameKey(name) }),
    ...(description !== undefined && { description }),
    ...(status !== undefined && { status }),
  };
  if (Object.keys(columns).length === 0) return;
  await namedOnce(() => trx.updateTable("service_accounts").set(columns).where("id", "=", place.id).execute());
}

/** Ends a service account with its access tokens; its keys are refused from then on. */
export async function deleteServiceAccount(trx: Db, place: ServicePlace, now: number): Promise<void> {
  const { name } = await requireServiceAccount(trx, place);
  await trx
    .updateTable("service_accounts")
    .set({ deleted_at: now, name_key: `${buildNameKey(name)}:${place.id}` })
    .where("id", "=", place.id)
    .execute();
  await trx.deleteFrom("service_tokens").where("service_account_id", "=", place.id).execute();
}

export interface ServicePlace {
  readonly teamId: number;
  readonly id: number;
}

export async function requireServiceAccount(db: Db, { teamId, id }: ServicePlace): Promise<{ readonly name: string }> {
  const living = db.selectFrom("service_accounts").select("name").where("deleted_at", "is", null);
  const found = await living.where("id", "=", id).where("team_id", "=", teamId).executeTakeFirst();
  if (!found) throw new Refusal("service_account_not_found");
  return found;
}

function buildNameKey(name: string): string {
  return name.toLowerCase();
}

async function namedOnce<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    throw isDuplicate(cause) ? new Refusal("service_account_exists", { field: "name", cause }) : cause;
  }
}

export interface NewServiceToken {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
  /** Seconds for which tokens of the same name still work. */
  readonly graceSeconds: number;
  readonly createdBy: number;
  readonly now: number;
}

/** Makes an access token, whose hash alone is stored; those of its name end after the grace. */
export async function createServiceToken(
  trx: Db,
  place: ServicePlace,
  token: NewServiceToken,
): Promise<{ readonly id: number; readonly text: string }> {
  const { name, scopes, expiresAt, graceSeconds, createdBy, now } = token;
  await requireServiceAccount(trx, place);
  // Of two calls at the same time, the second ends the token of the first.
  const locked = trx.updateTable("service_accounts").set((eb) => ({ status: eb.ref("status") }));
  await locked.where("id", "=", place.id).execute();
  const own = trx.deleteFrom("service_tokens").where("service_account_id", "=", place.id);
  await own.where("expires_at", "<=", now).execute();
  const named = trx.updateTable("service_tokens").set({ expires_at: now + graceSeconds });
  await named
    .where("service_account_id", "=", place.id)
    .where("name", "=", name)
    .where("expires_at", ">", now + graceSeconds)
    .execute();
  const count = (await countTokens(trx, [place.id], now)).get(place.id) ?? 0;
  if (count >= MAX_SERVICE_TOKENS) throw new Refusal("team_limit_reached", { values: { n: MAX_SERVICE_TOKENS } });
  const text = SERVICE_TOKEN_PREFIX + randomBytes(SECRET_BYTES).toString("base64url");
  const id = await insertRow(trx, "service_tokens", {
    service_account_id: place.id,
    name,
    token_hash: hashToken(text),
    hint: text.slice(0, HINT_CHARS),
    scopes: scopes.join(" "),
    created_by: createdBy,
    created_at: now,
    last_used_at: 0,
    expires_at: expiresAt,
  });
  return { id, text };
}

export async function listServiceTokens(db: Db, serviceId: number, now: number): Promise<ServiceToken[]> {
  const rows = await db
    .selectFrom("service_tokens")
    .select(["id", "name", "hint", "scopes", "created_at", "last_used_at", "expires_at"])
    .where("service_account_id", "=", serviceId)
    .where("expires_at", ">", now)
    .orderBy("name")
    .orderBy("id")
    .execute();
  return rows.map((row) => ({ ...row, scopes: row.scopes.split(" ") }));
}

/** Throws `service_token_not_found`. */
export async function deleteServiceToken(db: Db, serviceId: number, id: number): Promise<void> {
  const own = db.deleteFrom("service_tokens").where("service_account_id", "=", serviceId).where("id", "=", id);
  const { numDeletedRows } = await own.executeTakeFirstOrThrow();
  if (numDeletedRows === 0n) throw new Refusal("service_token_not_found");
}

function hashToken(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
