import type { Viewer } from "../objects/store.ts";
import { isObjectId } from "../objects/ids.ts";
import type { Database } from "../storage/database.ts";
import type { RawTransaction } from "../storage/engines/raw.ts";
import { forUpdate } from "../storage/statements.ts";
import { transact } from "../storage/transaction.ts";
import type { CacheDepositTable } from "../storage/tables/schema-caches.ts";
import type { CacheRow } from "./types.ts";

interface Stored {
  readonly database: Database;
}

export async function insertCache({ database }: Stored, row: CacheRow): Promise<void> {
  await database.db.insertInto("upstream_caches").values(row).execute();
}

/** Removes a cache that the upstream has refused, for which nothing is booked. */
export async function dropCreation({ database }: Stored, { id }: Pick<CacheRow, "id">): Promise<void> {
  await database.db.deleteFrom("upstream_caches").where("id", "=", id).where("phase", "=", "creating").execute();
}

type CacheChange = Partial<Pick<CacheRow, "phase" | "upstream_id" | "tokens" | "wire" | "ends_at" | "created_at">>;

/** Changes a cache that still is in the phase; returns false if it is not, or was closed. */
export async function changeCache(
  { database }: Stored,
  { id, phase }: Pick<CacheRow, "id" | "phase">,
  change: CacheChange,
): Promise<boolean> {
  const update = database.db.updateTable("upstream_caches").set(change);
  const { numUpdatedRows } = await update.where("id", "=", id).where("phase", "=", phase).executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Finds the open caches that the viewer may see, by their ids. */
export async function findOwnCaches(
  { database }: Stored,
  names: readonly string[],
  { userId, tokenId }: Viewer,
  now: number,
): Promise<CacheRow[]> {
  // Other texts than ids name nothing: some databases refuse to compare them.
  const ids = names.filter(isObjectId);
  if (ids.length === 0) return [];
  let rows = database.db
    .selectFrom("upstream_caches")
    .selectAll()
    .where("user_id", "=", userId)
    .where("id", "in", ids)
    .where("phase", "=", "open")
    .where("ends_at", ">", now);
  if (tokenId !== undefined) rows = rows.where("token_id", "=", tokenId);
  return rows.execute();
}

interface PageRequest {
  readonly limit: number;
  /** The last cache of the page before. */
  readonly after?: { readonly createdAt: number; readonly id: string } | undefined;
}

/** Returns a page of the open caches that the viewer may see, newest first, and one more if there is a further page. */
export function listOwnCaches(
  { database }: Stored,
  { userId, tokenId }: Viewer,
  { limit, after }: PageRequest,
  now: number,
): Promise<CacheRow[]> {
  let rows = database.db
    .selectFrom("upstream_caches")
    .selectAll()
    .where("user_id", "=", userId)
    .where("phase", "=", "open")
    .where("ends_at", ">", now);
  if (tokenId !== undefined) rows = rows.where("token_id", "=", tokenId);
  if (after)
    rows = rows.where((row) =>
      row.or([
        row("created_at", "<", after.createdAt),
        row.and([row("created_at", "=", after.createdAt), row("id", "<", after.id)]),
      ]),
    );
  return rows
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
}

/** A creation without an end after this long belongs to a process that died. */
const CREATING_SECONDS = 600;
/** The upstream may store a cache a little longer than it says. */
const GRACE_SECONDS = 60;

/** Returns caches that have ended, that never began, or whose channel or user no longer exists. */
export async function findClosable({ database }: Stored, now: number, limit: number): Promise<CacheRow[]> {
  const sql = `select id from upstream_caches c
    where (phase = 'creating' and created_at <= ?) or (phase = 'open' and ends_at <= ?)
      or not exists (select 1 from channels where channels.id = c.channel_id)
      or not exists (select 1 from users where users.id = c.user_id and users.deleted_at is null)
    order by ends_at, id limit ${limit}`;
  const found = await database.raw.rows<{ id: string }>(sql, [now - CREATING_SECONDS, now - GRACE_SECONDS]);
  if (found.length === 0) return [];
  const ids = found.map(({ id }) => id);
  return database.db.selectFrom("upstream_caches").selectAll().where("id", "in", ids).execute();
}

export function listDeposits({ database }: Stored, cacheId: string): Promise<CacheDepositTable[]> {
  return database.db.selectFrom("cache_deposits").selectAll().where("cache_id", "=", cacheId).execute();
}

/**
 * Remembers a deposit before it is booked, so that closing the cache returns it. `closed` = the cache no longer exists;
 * `taken` = another call books a deposit of the same id.
 */
export function rememberDeposit(
  { database }: Stored,
  { id, phase }: Pick<CacheRow, "id" | "phase">,
  deposit: CacheDepositTable,
): Promise<"remembered" | "closed" | "taken"> {
  return transact(database.db, async (trx) => {
    // The update locks the row, so that the cache is not closed in between.
    const same = trx.updateTable("upstream_caches").set((row) => ({ phase: row.ref("phase") }));
    await same.where("id", "=", id).execute();
    const cache = trx.selectFrom("upstream_caches").select("id").where("id", "=", id).where("phase", "=", phase);
    if (!(await cache.executeTakeFirst())) return "closed";
    const known = trx.selectFrom("cache_deposits").select("request_id").where("request_id", "=", deposit.request_id);
    if (await known.executeTakeFirst()) return "taken";
    await trx.insertInto("cache_deposits").values(deposit).execute();
    return "remembered";
  });
}

/** Marks a deposit as returned, in the transaction that returns it. Its id is not used again. */
export async function markReturned(tx: RawTransaction, requestId: string): Promise<void> {
  await tx.run("update cache_deposits set amount = 0 where request_id = ?", [requestId]);
}

/** Removes a cache in the transaction that closes its first deposit; returns false if another one is not returned. */
export async function removeCache(
  tx: RawTransaction,
  { id, request_id }: Pick<CacheRow, "id" | "request_id">,
  kind: Database["kind"],
): Promise<boolean> {
  await tx.run("delete from upstream_caches where id = ?", [id]);
  const sql = `select request_id from cache_deposits where cache_id = ? and request_id <> ? and amount > 0${forUpdate(kind)}`;
  if ((await tx.rows(sql, [id, buildStorageId(request_id, 1)])).length > 0) return false;
  await tx.run("delete from cache_deposits where cache_id = ?", [id]);
  return true;
}

/** Returns the id of the ledger rows of a deposit: the first one is `<id>.s`, the next `<id>.s2` and so on. */
export function buildStorageId(requestId: string, place: number): string {
  return place === 1 ? `${requestId}.s` : `${requestId}.s${place}`;
}
