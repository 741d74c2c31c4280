import { LOG_TYPE } from "@fairway/wire";
import { inChunks } from "../../lib/chunks.ts";
import { withinTime } from "../../lib/async/time-limit.ts";
import type { ClickhouseLog } from "../../storage/clickhouse/open.ts";
import { storeRows } from "../../storage/clickhouse/rows.ts";
import type { RawDatabase, RawTransaction } from "../../storage/engines/raw.ts";
import { upsertSql } from "../../storage/inserts.ts";
import { forUpdate, inList } from "../../storage/statements.ts";
import { buildRowKey, selectNew, type MovedRow, type RowKey } from "./moved-rows.ts";

interface LogBatchDeps {
  readonly database: RawDatabase;
  readonly logs: ClickhouseLog;
}

/** Rows of a batch: ClickHouse wants few large inserts. A batch takes a few megabytes of memory. */
export const ROWS_PER_BATCH = 2_000;
const IDS_PER_STATEMENT = 1_000;
/** Less than other replicas wait for the lock of the batch, ten seconds. */
const SEND_MS = 8_000;
/** Row of `revisions` with the id of the last log row that was put in a batch. Its lock lets one replica send. */
export const LOG_IDS = "log-ids";
const COUNTER = { table: "revisions", columns: ["topic", "revision"], key: ["topic"] } as const;

/**
 * Moves one batch from the outbox to ClickHouse, which has no transactions and gives no ids. The rows of a batch and its
 * first id are committed before it is sent, so it is sent again with the same rows and ids until its rows have left the
 * outbox. Returns the number of rows that left it.
 */
async function moveBatch(deps: LogBatchDeps): Promise<number> {
  const { database } = deps;
  const { kind } = database;
  if (!(await database.transaction((tx) => planBatch(tx, kind)))) return 0;
  // SQLite has one process and no row locks: an open transaction would block every other query.
  if (kind === "sqlite") return sendBatch(database, deps);
  return database.transaction((tx) => sendBatch(tx, deps));
}

/** Returns a function that moves a batch. The table may have been out of reach when the process started. */
export function createBatchMover(deps: LogBatchDeps): () => Promise<number> {
  let isPrepared = false;
  return async () => {
    if (!isPrepared) {
      if ((await deps.database.rows("select id from log_outbox limit 1", [])).length === 0) return 0;
      await deps.logs.prepare();
      if ((await readCounter(deps.database, "")) === undefined) await startCounter(deps);
      isPrepared = true;
    }
    return moveBatch(deps);
  };
}

async function readCounter(tx: RawTransaction, lock: string): Promise<number | undefined> {
  const sql = `select revision from revisions where topic = ?${lock}`;
  const [row] = await tx.rows<{ revision: number }>(sql, [LOG_IDS]);
  return row && Number(row.revision);
}

/**
 * Starts above all ids that a log of this installation had: sums and exports know their place by ids. Times and marks
 * are in the same table as these places, and a number that is too high does no harm.
 */
async function startCounter({ database, logs }: LogBatchDeps): Promise<void> {
  const highest = async (from: Pick<RawTransaction, "rows">, sql: string) => {
    const [row] = await from.rows<{ id: number | null }>(sql, []);
    return Number(row?.id ?? 0);
  };
  const first = Math.max(
    await highest(logs.raw, "select max(id) as id from logs"),
    await highest(database, "select max(id) as id from logs"),
    await highest(database, "select max(revision) as id from revisions"),
  );
  await database.run(upsertSql(database.kind, COUNTER), [LOG_IDS, first]);
}

/** Returns false if there is nothing to send. A batch that was not confirmed stays the next one. */
async function planBatch(tx: RawTransaction, kind: RawDatabase["kind"]): Promise<boolean> {
  const last = (await readCounter(tx, forUpdate(kind))) ?? 0;
  if ((await tx.rows("select id from log_outbox where batch > 0 limit 1", [])).length > 0) return true;
  const sql = `select id from log_outbox order by id limit ${ROWS_PER_BATCH}`;
  const rows = await tx.rows<{ id: number }>(sql, []);
  if (rows.length === 0) return false;
  for (const some of inChunks(rows, IDS_PER_STATEMENT)) {
    const { marks, values } = inList(some.map(({ id }) => id));
    await tx.run(`update log_outbox set batch = ? where id in ${marks}`, [last + 1, ...values]);
  }
  await tx.run("update revisions set revision = ? where topic = ?", [last + rows.length, LOG_IDS]);
  return true;
}

interface WaitingRow {
  readonly id: number;
  readonly row: string;
  readonly batch: number;
}

/** Sends the batch while it holds the lock, and removes its rows from the outbox. */
async function sendBatch(tx: RawTransaction, { database, logs }: LogBatchDeps): Promise<number> {
  await readCounter(tx, forUpdate(database.kind));
  const waiting = await tx.rows<WaitingRow>('select id, "row", batch from log_outbox where batch > 0 order by id', []);
  const [first] = waiting;
  if (!first) return 0;
  const rows = waiting.map(({ row, batch }, at) => ({ ...(JSON.parse(row) as MovedRow), id: Number(batch) + at }));
  if (!(await withinTime(SEND_MS, () => storeBatch(logs, rows)))) {
    await renumber(tx, logs);
    return 0;
  }
  for (const some of inChunks(waiting, IDS_PER_STATEMENT)) {
    const { marks, values } = inList(some.map(({ id }) => id));
    await tx.run(`delete from log_outbox where id in ${marks}`, values);
  }
  return waiting.length;
}

/** The main database went back, and with it the counter: the batch gets new ids. */
async function renumber(tx: RawTransaction, logs: ClickhouseLog): Promise<void> {
  const [row] = await logs.raw.rows<{ id: number | null }>("select max(id) as id from logs", []);
  await tx.run("update log_outbox set batch = 0 where batch > 0", []);
  await tx.run("update revisions set revision = ? where topic = ?", [Number(row?.id ?? 0), LOG_IDS]);
}

type NumberedRow = MovedRow & { readonly id: number };

/**
 * Stores the rows that are not there yet. Returns false if other rows have their ids. Rows may be there because an
 * earlier insert was not confirmed, or because a database that went back books charges again.
 */
async function storeBatch(logs: ClickhouseLog, rows: readonly NumberedRow[]): Promise<boolean> {
  const known = await findKnown(logs, rows);
  const rowById = new Map(rows.map((row) => [row.id, row]));
  const isSame = ({ id, ...key }: KnownRow) => {
    const row = rowById.get(id);
    return row === undefined || buildRowKey(row) === buildRowKey(key);
  };
  if (!known.every(isSame)) return false;
  const here = new Set(known.map(({ id }) => id));
  const { fresh, replaced } = selectNew(
    rows.filter(({ id }) => !here.has(id)),
    known.filter(({ request_id }) => request_id !== ""),
  );
  if (replaced.length > 0) await removeReplaced(logs, replaced);
  await storeRows(logs, fresh);
  return true;
}

type KnownRow = RowKey & { readonly id: number };

/** Finds rows with these ids, whatever their time, and rows of these requests near their time. */
async function findKnown({ raw }: ClickhouseLog, rows: readonly NumberedRow[]): Promise<KnownRow[]> {
  const columns = "id, request_id, user_id, type, quota, content";
  const ids = rows.map(({ id }) => id);
  const byId = `select ${columns} from logs where id >= ? and id <= ?`;
  const known = await raw.rows<KnownRow>(byId, [Math.min(...ids), Math.max(...ids)]);
  const requests = [...new Set(rows.map(({ request_id }) => request_id))].filter((id) => id !== "");
  if (requests.length === 0) return known;
  const times = rows.map((row) => row.created_at);
  const { marks, values } = inList(requests);
  const byRequest = `select ${columns} from logs where created_at >= ? and created_at <= ? and request_id in ${marks}`;
  return [...known, ...(await raw.rows<KnownRow>(byRequest, [Math.min(...times), Math.max(...times), ...values]))];
}

/** A correction takes the place of the row of its charge, wherever that is. */
async function removeReplaced({ client, raw }: ClickhouseLog, replaced: readonly string[]): Promise<void> {
  const { marks, values } = inList(replaced);
  const sql = `select id from logs where type = ? and request_id in ${marks}`;
  const found = await raw.rows<{ id: number }>(sql, [LOG_TYPE.consume, ...values]);
  if (found.length > 0) await client.command(`delete from logs where id in (${found.map(({ id }) => id).join()})`);
}
