import type { RawDatabase, RawTransaction, SqlValue } from "../storage/raw.ts";
import { inList, insertRows } from "./sql-text.ts";

/** A ledger row that live balances have not passed: they follow it in the order of these ids. */
export interface Movement {
  readonly ledgerId: number;
  readonly userId: number;
  /** 0 = no token moves. */
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

const OUTBOX = {
  table: "balance_outbox",
  columns: ["ledger_id", "user_id", "token_id", "quota", "created_at"],
} as const;

/** Ids of ledger rows that this transaction wrote, by request id and kind. */
export async function ledgerIds(
  tx: RawTransaction,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { marks, values } = inList(requestIds);
  const sql = `select id, request_id, kind from ledger where request_id in ${marks}`;
  const rows = await tx.rows<{ id: number; request_id: string; kind: string }>(sql, values);
  return new Map(rows.map(({ id, request_id, kind }) => [ledgerKey(request_id, kind), id]));
}

export function ledgerKey(requestId: string, kind: string): string {
  return `${kind} ${requestId}`;
}

/** In the transaction of the ledger rows, so that no movement is ever forgotten. */
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

/** Movements of these users that nobody applied yet, in order. */
export async function waitingMovements(database: RawTransaction, userIds: readonly number[]): Promise<Movement[]> {
  const { marks, values } = inList(userIds);
  const sql = `select ledger_id, user_id, token_id, quota from balance_outbox where user_id in ${marks} and applied_at = 0 order by ledger_id`;
  return (await database.rows<MovementRow>(sql, values)).map(movementOf);
}

/** Movements since `since`, applied or not, in order. */
export async function recentMovements(database: RawTransaction, since: number): Promise<Movement[]> {
  const sql = "select ledger_id, user_id, token_id, quota from balance_outbox where created_at >= ? order by ledger_id";
  return (await database.rows<MovementRow>(sql, [since])).map(movementOf);
}

/** Users with movements that nobody applied yet. */
export async function waitingUsers(database: RawTransaction, limit: number): Promise<number[]> {
  const sql = `select user_id from balance_outbox where applied_at = 0 group by user_id order by user_id limit ${limit}`;
  return (await database.rows<{ user_id: number }>(sql, [])).map(({ user_id }) => user_id);
}

export async function markApplied(database: RawTransaction, movements: readonly Movement[], at: number): Promise<void> {
  const { marks, values } = inList(movements.map(({ ledgerId }) => ledgerId));
  await database.run(`update balance_outbox set applied_at = ? where ledger_id in ${marks}`, [at, ...values]);
}

export function forgetApplied(database: RawTransaction, before: number): Promise<number> {
  return database.run("delete from balance_outbox where applied_at > 0 and applied_at < ?", [before]);
}

function movementOf({ ledger_id, user_id, token_id, quota }: MovementRow): Movement {
  return { ledgerId: ledger_id, userId: user_id, tokenId: token_id, quota };
}
