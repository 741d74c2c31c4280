import { setTimeout as pause } from "node:timers/promises";
import { LOG_TYPE } from "@fairway/wire";
import type { Logger } from "../../observability/log.ts";
import type { ClickhouseLog } from "../../storage/clickhouse/open.ts";
import { LOG_COLUMNS, toRowValues } from "../../storage/log-rows.ts";
import type { RawDatabase, RawTransaction } from "../../storage/engines/raw.ts";
import { forUpdate, inList, InsertColumns, insertRows } from "../../storage/statements.ts";
import { createBatchMover, ROWS_PER_BATCH } from "./log-batches.ts";
import { selectNew, type MovedRow, type RowKey } from "./moved-rows.ts";

/** A database for the log alone. */
export type SeparateLog = RawDatabase | ClickhouseLog;

/** Moves log rows from the main database, where they are written with the money, to the log database. */
export interface LogOutbox {
  /** Starts moving rows unless it is already running. */
  kick(): void;
  /** Resolves when the outbox is empty or the log database has failed. */
  drained(): Promise<void>;
}

export interface LogOutboxDeps {
  readonly database: RawDatabase;
  readonly logDatabase: SeparateLog;
  readonly log: Logger;
}

const AT_ONCE = 256;
const RETRY_MS = 2_000;
/** ClickHouse makes files of each insert, so rows are collected for this long. */
const COLLECT_MS = 1_000;

/** How rows leave the outbox. */
interface Mover {
  /** Returns the number of moved rows. */
  readonly move: () => Promise<number>;
  /** The most rows of one move; after fewer, the outbox is empty. */
  readonly atOnce: number;
  readonly collectMs: number;
}

function chooseMover({ database, logDatabase }: LogOutboxDeps): Mover {
  if (logDatabase.kind !== "clickhouse")
    return { move: () => moveSome(database, logDatabase), atOnce: AT_ONCE, collectMs: 0 };
  return { move: createBatchMover({ database, logs: logDatabase }), atOnce: ROWS_PER_BATCH, collectMs: COLLECT_MS };
}

export function createLogOutbox(deps: LogOutboxDeps): LogOutbox {
  const { move, atOnce, collectMs } = chooseMover(deps);
  let running: Promise<void> | undefined;
  let isKicked = false;
  let refused = Promise.withResolvers<void>();
  let drains = 0;
  let hurry = () => {};

  const collect = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, collectMs);
      hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const run = async () => {
    do {
      if (collectMs > 0 && drains === 0) await collect();
      isKicked = false;
      try {
        while ((await move()) === atOnce);
      } catch (error) {
        deps.log.error("log rows could not be moved to the log database and stay in the outbox", { error });
        refused.resolve();
        refused = Promise.withResolvers();
        await pause(RETRY_MS);
      }
    } while (isKicked);
    running = undefined;
  };

  const kick = () => {
    isKicked = true;
    running ??= run();
  };

  return {
    kick,
    async drained() {
      drains += 1;
      hurry();
      kick();
      await Promise.race([running, refused.promise]);
      drains -= 1;
    },
  };
}

interface OutboxRow {
  readonly id: number;
  readonly row: string;
}

/** Rows stay locked until they are deleted, so two replicas never move the same rows. */
function moveSome(database: RawDatabase, logDatabase: RawDatabase): Promise<number> {
  const { kind } = database;
  const move = async (tx: RawTransaction) => {
    const sql = `select id, "row" from log_outbox order by id limit ${AT_ONCE}${forUpdate(kind)}`;
    const rows = await tx.rows<OutboxRow>(sql, []);
    if (rows.length === 0) return 0;
    const moved = rows.map(({ row }) => JSON.parse(row) as MovedRow);
    await logDatabase.transaction((logs) => insertNew(logs, logDatabase.kind, moved));
    const { marks, values } = inList(rows.map(({ id }) => id));
    await tx.run(`delete from log_outbox where id in ${marks}`, values);
    return rows.length;
  };
  // SQLite has one process and no row locks: an open transaction would block every other query.
  return kind === "sqlite" ? move(database) : database.transaction(move);
}

/** Inserts only new rows, because a crash between the two commits moves the same rows a second time. */
async function insertNew(tx: RawTransaction, kind: RawDatabase["kind"], moved: readonly MovedRow[]): Promise<void> {
  const ids = [...new Set(moved.map(({ request_id }) => request_id))].filter((id) => id !== "");
  const { fresh, replaced } = selectNew(moved, ids.length === 0 ? [] : await knownRows(tx, ids, moved));
  for (const requestId of replaced)
    await tx.run("delete from logs where request_id = ? and type = ?", [requestId, LOG_TYPE.consume]);
  await insertRows(tx, kind, LOGS, fresh.map(toRowValues));
}

const LOGS = new InsertColumns("logs", LOG_COLUMNS);

/** Returns the known rows. The times limit the search to partitions that may contain these rows. */
function knownRows(tx: RawTransaction, ids: readonly string[], moved: readonly MovedRow[]): Promise<RowKey[]> {
  const { marks, values } = inList(ids);
  const times = moved.map((row) => row.created_at);
  return tx.rows<RowKey>(
    `select request_id, user_id, type, quota, content from logs
      where request_id in ${marks} and created_at >= ? and created_at <= ?`,
    [...values, Math.min(...times), Math.max(...times)],
  );
}
