import { LOG_TYPE } from "@fairway/wire";
import { createLogWriter } from "../../storage/log-rows.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";
import { inList } from "../ledger/sql/statements.ts";
import type { Difference } from "./audit.ts";

export interface LogAuditDeps {
  readonly database: RawDatabase;
  /** Where `logs` lives. */
  readonly logDatabase: RawDatabase;
  readonly isLogSeparate: boolean;
  readonly isRepairing: boolean;
  /** Epoch milliseconds; charges of the last minute may still be on their way. */
  readonly now: number;
}

interface LedgerRow {
  readonly id: number;
  readonly request_id: string;
  readonly user_id: number;
  readonly token_id: number;
  readonly channel_id: number;
  readonly quota: number;
  readonly created_at: number;
}

const AT_ONCE = 1_000;
const ON_ITS_WAY_MS = 60_000;
const CONTENT = "Restored from the ledger by an audit: the row of this request was lost.";

/**
 * Charges of the ledger that no log row tells of, by user and channel. Rows older than the oldest log row of a charge
 * were removed with their logs. Repaired, each charge has a row with what the ledger knows.
 */
export async function checkLogRows(deps: LogAuditDeps): Promise<Difference[]> {
  const since = await oldestLog(deps.logDatabase);
  if (since === undefined) return [];
  const missing = new Map<string, { found: number; expected: number }>();
  for await (const rows of charges(deps, since)) {
    const lost = await withoutRow(rows, deps);
    for (const row of lost) {
      const account = `user ${row.user_id}, channel ${row.channel_id}`;
      const sum = missing.get(account) ?? { found: 0, expected: 0 };
      missing.set(account, { found: 0, expected: sum.expected - Number(row.quota) });
    }
    if (deps.isRepairing && lost.length > 0) await restore(lost, deps);
  }
  return [...missing].map(([account, sums]) => ({ what: "log rows", account, ...sums }));
}

/** Milliseconds; undefined where charges leave no rows. */
async function oldestLog(logs: RawDatabase): Promise<number | undefined> {
  const sql = "select min(created_at) as since from logs where type = ?";
  const [row] = await logs.rows<{ since: number | null }>(sql, [LOG_TYPE.consume]);
  return row?.since === null || row === undefined ? undefined : (Number(row.since) + 1) * 1_000;
}

async function* charges({ database, now }: LogAuditDeps, since: number): AsyncGenerator<LedgerRow[]> {
  const sql = `select id, request_id, user_id, token_id, channel_id, quota, created_at from ledger
    where id > ? and kind = 'consume' order by id limit ${AT_ONCE}`;
  let after = 0;
  for (;;) {
    const rows = await database.rows<LedgerRow>(sql, [after]);
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
    yield rows.filter(
      ({ quota, created_at: at }) => quota !== 0 && Number(at) >= since && Number(at) < now - ON_ITS_WAY_MS,
    );
  }
}

async function withoutRow(rows: readonly LedgerRow[], deps: LogAuditDeps): Promise<LedgerRow[]> {
  if (rows.length === 0) return [];
  const { marks, values } = inList(rows.map(({ request_id }) => request_id));
  const known = async (database: RawDatabase, table: string) => {
    const sql = `select distinct request_id from ${table} where request_id in ${marks}`;
    return (await database.rows<{ request_id: string }>(sql, values)).map(({ request_id }) => request_id);
  };
  const waiting = deps.isLogSeparate ? await known(deps.database, "log_outbox") : [];
  const told = new Set([...(await known(deps.logDatabase, "logs")), ...waiting]);
  return rows.filter(({ request_id }) => !told.has(request_id));
}

/** In the main database, from where rows of a log database of its own are moved. */
async function restore(rows: readonly LedgerRow[], { database, isLogSeparate }: LogAuditDeps): Promise<void> {
  const write = createLogWriter(isLogSeparate);
  const { marks, values } = inList([...new Set(rows.map(({ user_id }) => user_id))]);
  const names = await database.rows<{ id: number; username: string }>(
    `select id, username from users where id in ${marks}`,
    values,
  );
  const nameOf = new Map(names.map(({ id, username }) => [id, username]));
  await database.transaction(async (tx) => {
    for (const { request_id, user_id, token_id, channel_id, quota, created_at } of rows)
      await write(tx, {
        user_id,
        username: nameOf.get(user_id) ?? "",
        created_at: Math.floor(Number(created_at) / 1_000),
        type: LOG_TYPE.consume,
        content: CONTENT,
        quota: 0 - Number(quota),
        channel_id,
        token_id,
        request_id,
        other: JSON.stringify({ restored: true }),
      });
  });
}
