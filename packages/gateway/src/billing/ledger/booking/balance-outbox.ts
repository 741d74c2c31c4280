import type { RawDatabase, RawTransaction, SqlValue } from "../../../storage/engines/raw.ts";
import type { LeaseTime } from "../../reservations/lease-time.ts";
import { inList, InsertColumns, insertRows } from "../../../storage/statements.ts";

/** A ledger row to apply to the live balances, in the order of these ids. */
export interface Movement {
  readonly ledgerId: number;
  readonly userId: number;
  /** 0 = no token changes. */
  readonly tokenId: number;
  /** Signed. */
  readonly quota: number;
}

interface MovementRow {
  readonly ledger_id: number;
  readonly user_id: number;
  readonly token_id: number;
  readonly quota: number;
}

const OUTBOX = new InsertColumns("balance_outbox", ["ledger_id", "user_id", "token_id", "quota", "created_at"]);

/** Returns the ids of the ledger rows of these requests, by request id and kind. */
export async function ledgerIds(
  tx: RawTransaction,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { marks, values } = inList(requestIds);
  const sql = `select id, request_id, kind from ledger where request_id in ${marks}`;
  const rows = await tx.rows<{ id: number; request_id: string; kind: string }>(sql, values);
  return new Map(rows.map(({ id, request_id, kind }) => [ledgerKey(request_id, kind), id]));
}

/** Returns the key of a ledger row: its request id and kind are unique together. */
export function ledgerKey(requestId: string, kind: string): string {
  return `${kind} ${requestId}`;
}

/** Inserts movements in the transaction of their ledger rows, so that none is lost. */
export async function insertMovements(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  movements: readonly Movement[],
  at: number,
): Promise<void> {
  const rows = movements.map(({ ledgerId, userId, tokenId, quota }): SqlValue[] => [
    ledgerId,
    userId,
    tokenId,
    quota,
    at,
  ]);
  await insertRows(tx, kind, OUTBOX, rows);
}

/**
 * At most `limit` movements above ledger id `after`, up to `until`. A caller that reads several ranges must not change
 * `until`: a transaction that commits in between may have lower ids than the ranges already read, and applying its
 * higher ids would make live balances skip the lower ones.
 */
export interface MovementRange {
  readonly after: number;
  readonly until: number;
  readonly limit: number;
}

const EVERYTHING: MovementRange = { after: 0, until: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER };

/** Returns the ledger id of the newest movement; 0 if there is none. */
export async function newestMovement(database: RawTransaction): Promise<number> {
  const [row] = await database.rows<{ id: number | null }>("select max(ledger_id) as id from balance_outbox", []);
  return row?.id ?? 0;
}

/** Returns the unapplied movements of these users, in order. */
export async function unappliedMovements(
  database: RawTransaction,
  userIds: readonly number[],
  range = EVERYTHING,
): Promise<Movement[]> {
  const { marks, values } = inList(userIds);
  return readMovements(database, { sql: `user_id in ${marks} and applied_at = 0`, values }, range);
}

/** Returns movements that are unapplied, or were applied since `since`, in order. */
export async function recentMovements(
  database: RawTransaction,
  since: ReturnType<LeaseTime["at"]>,
  range: MovementRange,
): Promise<Movement[]> {
  return readMovements(
    database,
    { sql: `(applied_at = 0 or applied_at >= ${since.sql})`, values: since.values },
    range,
  );
}

async function readMovements(
  database: RawTransaction,
  where: { readonly sql: string; readonly values: readonly SqlValue[] },
  { after, until, limit }: MovementRange,
): Promise<Movement[]> {
  const sql = `select ledger_id, user_id, token_id, quota from balance_outbox where ${where.sql} and ledger_id > ? and ledger_id <= ? order by ledger_id limit ${limit}`;
  return (await database.rows<MovementRow>(sql, [...where.values, after, until])).map(toMovement);
}

/** Returns users with unapplied movements and an id above `after`, in order. */
export async function usersWithUnappliedMovements(
  database: RawTransaction,
  after: number,
  limit: number,
): Promise<number[]> {
  const sql = `select user_id from balance_outbox where applied_at = 0 and user_id > ? group by user_id order by user_id limit ${limit}`;
  return (await database.rows<{ user_id: number }>(sql, [after])).map(({ user_id }) => user_id);
}

/** Marks movements as applied. Pass one range at most, because the statement lists every id. */
export async function markApplied(
  database: RawTransaction,
  movements: readonly Movement[],
  leaseTime: LeaseTime,
): Promise<void> {
  const now = leaseTime.at();
  const { marks, values } = inList(movements.map(({ ledgerId }) => ledgerId));
  await database.run(`update balance_outbox set applied_at = ${now.sql} where ledger_id in ${marks}`, [
    ...now.values,
    ...values,
  ]);
}

/** Deletes rows that Redis applied before a moment; returns their number. */
export function forgetApplied(database: RawTransaction, before: ReturnType<LeaseTime["at"]>): Promise<number> {
  return database.run(`delete from balance_outbox where applied_at > 0 and applied_at < ${before.sql}`, before.values);
}

function toMovement({ ledger_id, user_id, token_id, quota }: MovementRow): Movement {
  return { ledgerId: ledger_id, userId: user_id, tokenId: token_id, quota };
}
