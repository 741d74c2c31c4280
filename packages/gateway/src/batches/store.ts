import type { Insertable, Transaction, UpdateObject } from "kysely";
import { isObjectId } from "../objects/ids.ts";
import type { Database } from "../storage/database.ts";
import type { RawTransaction } from "../storage/engines/raw.ts";
import { transact } from "../storage/transaction.ts";
import type { BatchPhase, BatchTable } from "../storage/tables/schema-batches.ts";
import type { Schema } from "../storage/tables/schema.ts";
import type { PageRequest } from "./protocols/protocol.ts";
import type { BatchDeps, BatchRow } from "./types.ts";

type Stored = Pick<BatchDeps, "database">;

/** Whose batches, in which protocol. */
export interface BatchOwner {
  readonly userId: number;
  readonly dialect: string;
}

/** Phases in which money is reserved for a batch. */
export const UNSETTLED: readonly BatchPhase[] = ["creating", "open", "ended", "stuck"];
/** Phases of batches that an upstream has taken. */
const SHOWN: readonly BatchPhase[] = ["open", "ended", "settled", "stuck"];

/** Inserts a batch with the hashes of its custom ids. `admit` throws if its user or its channel may not have one more. */
export async function insertBatch(
  { database }: Stored,
  row: Insertable<BatchTable>,
  hashes?: string,
  admit?: (trx: Transaction<Schema>) => Promise<void>,
): Promise<void> {
  await transact(database.db, async (trx) => {
    await admit?.(trx);
    await trx.insertInto("batches").values(row).execute();
    if (hashes === undefined) return;
    await trx.insertInto("batch_ids").values({ batch_id: row.id, hashes }).execute();
  });
}

/** Clients see batches that were refused for their lines. */
const LINE_ERRORS = "line_errors";

/** Finds a batch of any user, in any phase. */
export function findBatch({ database }: Stored, id: string): Promise<BatchRow | undefined> {
  return database.db.selectFrom("batches").selectAll().where("id", "=", id).executeTakeFirst();
}

/** Finds a batch that the client may know. Other texts than ids name nothing: some databases refuse to compare them. */
export async function findOwnBatch({ database }: Stored, { userId, dialect }: BatchOwner, id: string) {
  if (!isObjectId(id)) return undefined;
  return database.db
    .selectFrom("batches")
    .selectAll()
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .where("dialect", "=", dialect)
    .where((row) => row.or([row("phase", "in", SHOWN), row("error", "=", LINE_ERRORS)]))
    .where("deleted_at", "=", 0)
    .executeTakeFirst();
}

export function findBatchByKey({ database }: Stored, userId: number, key: string): Promise<BatchRow | undefined> {
  return database.db
    .selectFrom("batches")
    .selectAll()
    .where("user_id", "=", userId)
    .where("idempotency_key", "=", key)
    .executeTakeFirst();
}

/** Returns a page of a user's batches, newest first, and one row more if there is a further page. */
export async function listOwnBatches(
  { database }: Stored,
  { userId, dialect }: BatchOwner,
  { limit }: Pick<PageRequest, "limit">,
  edge: { readonly row: Pick<BatchRow, "created_at" | "id">; readonly side: "after" | "before" } | undefined,
): Promise<BatchRow[]> {
  const isBack = edge?.side === "before";
  const [order, sign] = isBack ? (["asc", ">"] as const) : (["desc", "<"] as const);
  let query = database.db
    .selectFrom("batches")
    .selectAll()
    .where("user_id", "=", userId)
    .where("dialect", "=", dialect)
    .where((row) => row.or([row("phase", "in", SHOWN), row("error", "=", LINE_ERRORS)]))
    .where("deleted_at", "=", 0);
  if (edge) {
    const { created_at: at, id } = edge.row;
    query = query.where((row) =>
      row.or([row("created_at", sign, at), row.and([row("created_at", "=", at), row("id", sign, id)])]),
    );
  }
  return query
    .orderBy("created_at", order)
    .orderBy("id", order)
    .limit(limit + 1)
    .execute();
}

export async function countOpenBatches(
  { database }: { readonly database: Pick<Database, "db"> },
  userId: number,
): Promise<number> {
  const row = await database.db
    .selectFrom("batches")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("user_id", "=", userId)
    .where("phase", "in", ["creating", "open"])
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Returns due rows of a phase, those first that have waited longest. */
export function findDueBatches({ database }: Stored, phase: BatchPhase, now: number, limit: number) {
  return database.db
    .selectFrom("batches")
    .selectAll()
    .where("phase", "=", phase)
    .where("next_poll_at", "<=", now)
    .orderBy("next_poll_at")
    .limit(limit)
    .execute();
}

/** Returns the open batches of channels. */
export function findOpenAt(
  { database }: Stored,
  channels: readonly number[],
  keyMark: string | undefined,
): Promise<BatchRow[]> {
  if (channels.length === 0) return Promise.resolve([]);
  const open = database.db
    .selectFrom("batches")
    .selectAll()
    .where("channel_id", "in", channels)
    .where("phase", "=", "open");
  return (keyMark === undefined ? open : open.where("key_mark", "=", keyMark)).execute();
}

/** Takes the next poll of a row for this process; false if another one was faster. */
export async function claimPoll({ database }: Stored, row: BatchRow, now: number, next: number): Promise<boolean> {
  const claimed = await database.db
    .updateTable("batches")
    .set({ next_poll_at: next, polled_at: now })
    .where("id", "=", row.id)
    .where("phase", "=", row.phase)
    .where("next_poll_at", "=", row.next_poll_at)
    .executeTakeFirst();
  return Number(claimed.numUpdatedRows) > 0;
}

export type BatchPatch = Omit<UpdateObject<Schema, "batches">, "id" | "revision">;

/** Changes a row that is still in one of the phases; returns false if it is not. */
export async function updateBatch(
  { database }: Stored,
  id: string,
  phases: readonly BatchPhase[],
  patch: BatchPatch,
): Promise<boolean> {
  const changed = await database.db
    .updateTable("batches")
    .set((eb) => ({ ...patch, revision: eb("revision", "+", 1) }))
    .where("id", "=", id)
    .where("phase", "in", phases)
    .executeTakeFirst();
  return Number(changed.numUpdatedRows) > 0;
}

/** Ends a batch that never ran, in the transaction that returns its deposit. */
export async function refuseRow(tx: RawTransaction, id: string, error: string): Promise<void> {
  await tx.run(
    "update batches set phase = 'refused', error = ?, idempotency_key = null, deposit = 0, revision = revision + 1 where id = ? and phase = 'creating'",
    [error, id],
  );
}
