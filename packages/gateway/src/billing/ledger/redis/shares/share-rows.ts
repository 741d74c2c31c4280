import type { RawDatabase, RawTransaction, SqlValue } from "../../../../storage/engines/raw.ts";
import { inList, InsertColumns, insertRows } from "../../../../storage/statements.ts";
import { quota } from "../../../money/quota.ts";
import type { LeaseTime } from "../../../reservations/lease-time.ts";
import type { HoldRequest } from "../../ledger.ts";

/** A row of `balance_shares`. */
export interface ShareRow {
  readonly request_id: string;
  readonly user_id: number;
  readonly token_id: number;
  readonly wanted: number;
  readonly wished: number;
  readonly is_charged: number;
  readonly token_limit: string;
  readonly limit_revision: number;
  /** -1 = not granted. */
  readonly granted: number;
  readonly answer: string;
}

export const GRANTED = "granted";
/** The largest `granted` of a share that has no reservation. */
export const NOTHING = -1;

const COLUMNS = [
  "request_id",
  "user_id",
  "token_id",
  "wanted",
  "wished",
  "is_charged",
  "token_limit",
  "limit_revision",
  "granted",
  "answer",
] as const;
const LIST = COLUMNS.map((name) => `s.${name}`).join(", ");
const SHARES = new InsertColumns("balance_shares", [...COLUMNS, "asked_at"]);
const AT_ONCE = 256;

export async function insertShares(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  requests: readonly HoldRequest[],
  now: number,
): Promise<void> {
  const rows = requests.map((request): SqlValue[] => {
    const { requestId, userId, tokenId, amount, wished = NOTHING, isCharged, grant, grantRevision = 0 } = request;
    const limit = grant === undefined ? "" : grant === "unlimited" ? "u" : String(grant);
    return [requestId, userId, tokenId, amount, wished, isCharged ? 1 : 0, limit, grantRevision, NOTHING, "", now];
  });
  await insertRows(tx, kind, SHARES, rows);
}

/** Returns the request of a share, to reserve in Redis under another id. */
export function toHoldRequest(row: ShareRow, requestId: string): HoldRequest {
  const { token_limit: limit } = row;
  return {
    requestId,
    userId: row.user_id,
    tokenId: row.token_id,
    amount: quota(row.wanted),
    ...(row.wished === NOTHING ? {} : { wished: quota(row.wished) }),
    isCharged: row.is_charged === 1,
    ...(limit === "" ? {} : { grant: limit === "u" ? "unlimited" : quota(Number(limit)) }),
    grantRevision: row.limit_revision,
  };
}

/**
 * Returns shares that wait for an answer, shares whose request has ended, and refused ones that are unread since
 * `staleMs`.
 */
export function readDue(database: RawTransaction, time: LeaseTime, staleMs: number): Promise<ShareRow[]> {
  const stale = time.at(0 - staleMs);
  const sql = `select ${LIST} from balance_shares s left join holds h on h.request_id = s.request_id where s.answer = '' or (h.request_id is null and (s.granted > ${NOTHING} or s.asked_at < ${stale.sql})) order by s.asked_at limit ${AT_ONCE}`;
  return database.rows<ShareRow>(sql, stale.values);
}

/** Returns the shares after `after` whose requests run, by rising id, at most `AT_ONCE`. */
export function readOpen(database: RawTransaction, after: string): Promise<ShareRow[]> {
  const sql = `select ${LIST} from balance_shares s join holds h on h.request_id = s.request_id where s.granted > ${NOTHING} and s.request_id > ? order by s.request_id limit ${AT_ONCE}`;
  return database.rows<ShareRow>(sql, [after]);
}

/** Makes a share of each reservation that was made in the database while no replica had Redis. */
export async function adoptHolds(database: RawDatabase): Promise<void> {
  // Several replicas may do so at once.
  const isMysql = database.kind === "mysql";
  const into = `insert ${isMysql ? "ignore " : ""}into balance_shares (${COLUMNS.join(", ")}, asked_at)`;
  const sql = `${into} select h.request_id, h.user_id, h.token_id, h.amount, ${NOTHING}, 1, '', 0, h.amount, '${GRANTED}', 0 from holds h left join balance_shares s on s.request_id = h.request_id where s.request_id is null`;
  await database.run(isMysql ? sql : `${sql} on conflict (request_id) do nothing`, []);
}

/** Returns the answers that have arrived. */
export async function readAnswers(database: RawTransaction, requestIds: readonly string[]): Promise<ShareRow[]> {
  const { marks, values } = inList(requestIds);
  return database.rows<ShareRow>(
    `select ${LIST} from balance_shares s where s.request_id in ${marks} and s.answer <> ''`,
    values,
  );
}

export async function deleteShares(database: RawTransaction, requestIds: readonly string[]): Promise<void> {
  if (requestIds.length === 0) return;
  const { marks, values } = inList(requestIds);
  await database.run(`delete from balance_shares where request_id in ${marks}`, values);
}

/** Withdraws a question; returns false if it is answered already. */
export async function withdraw(database: RawTransaction, requestId: string): Promise<boolean> {
  const isWaiting = "request_id = ? and answer = ''";
  const asked = `delete from balance_shares where ${isWaiting} and granted = ${NOTHING}`;
  if ((await database.run(asked, [requestId])) > 0) return true;
  const raised = `update balance_shares set wanted = granted, answer = '${GRANTED}' where ${isWaiting}`;
  return (await database.run(raised, [requestId])) > 0;
}

/** Requests a larger amount; returns false if there is no such share, or it covers the amount. */
export async function askForMore(database: RawTransaction, requestId: string, amount: number): Promise<boolean> {
  const sql = `update balance_shares set wanted = ?, answer = '' where request_id = ? and granted > ${NOTHING} and granted < ?`;
  return (await database.run(sql, [amount, requestId, amount])) > 0;
}
