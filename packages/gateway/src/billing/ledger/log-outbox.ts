import { setTimeout as pause } from "node:timers/promises";
import { LOG_TYPE } from "@fairway/wire";
import type { Logger } from "../../observability/log.ts";
import { LOG_COLUMNS, type LogRowInput, toRowValues } from "../../storage/log-rows.ts";
import type { RawDatabase, RawTransaction } from "../../storage/engines/raw.ts";
import { forUpdate, inList, InsertColumns, insertRows } from "../../storage/statements.ts";

/** Moves log rows from the main database, where they are written with the money, to the log database. */
export interface LogOutbox {
  /** Starts moving rows unless it is already running. */
  kick(): void;
  /** Resolves when the outbox is empty or the log database has failed. */
  drained(): Promise<void>;
}

export interface LogOutboxDeps {
  readonly database: RawDatabase;
  readonly logDatabase: RawDatabase;
  readonly log: Logger;
}

const AT_ONCE = 256;
const RETRY_MS = 2_000;

export function createLogOutbox(deps: LogOutboxDeps): LogOutbox {
  let running: Promise<void> | undefined;
  let isKicked = false;
  let refused = Promise.withResolvers<void>();

  const run = async () => {
    do {
      isKicked = false;
      try {
        while ((await moveSome(deps)) === AT_ONCE);
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
      kick();
      await Promise.race([running, refused.promise]);
    },
  };
}

interface OutboxRow {
  readonly id: number;
  readonly row: string;
}

type Moved = LogRowInput & { readonly replaces?: true };

/** Rows stay locked until they are deleted, so two replicas never move the same rows. */
function moveSome({ database, logDatabase }: LogOutboxDeps): Promise<number> {
  const { kind } = database;
  const move = async (tx: RawTransaction) => {
    const sql = `select id, "row" from log_outbox order by id limit ${AT_ONCE}${forUpdate(kind)}`;
    const rows = await tx.rows<OutboxRow>(sql, []);
    if (rows.length === 0) return 0;
    const moved = rows.map(({ row }) => JSON.parse(row) as Moved);
    await logDatabase.transaction((logs) => insertNew(logs, logDatabase.kind, moved));
    const { marks, values } = inList(rows.map(({ id }) => id));
    await tx.run(`delete from log_outbox where id in ${marks}`, values);
    return rows.length;
  };
  // SQLite has one process and no row locks: an open transaction would block every other query.
  return kind === "sqlite" ? move(database) : database.transaction(move);
}

/** Inserts only new rows, because a crash between the two commits moves the same rows a second time. */
async function insertNew(tx: RawTransaction, kind: RawDatabase["kind"], moved: readonly Moved[]): Promise<void> {
  const ids = [...new Set(moved.map(({ request_id }) => request_id))].filter((id) => id !== "");
  const known = new Set(ids.length === 0 ? [] : (await knownRows(tx, ids, moved)).map(buildRowKey));
  const fresh: LogRowInput[] = [];
  for (const { replaces, ...row } of moved) {
    if (known.has(buildRowKey(row))) continue;
    if (replaces) {
      await tx.run("delete from logs where request_id = ? and type = ?", [row.request_id, LOG_TYPE.consume]);
      const earlier = fresh.findIndex((other) => other.request_id === row.request_id && other.type === row.type);
      if (earlier >= 0) fresh.splice(earlier, 1);
    }
    fresh.push(row);
  }
  await insertRows(tx, kind, LOGS, fresh.map(toRowValues));
}

const LOGS = new InsertColumns("logs", LOG_COLUMNS);

type Key = Pick<LogRowInput, "request_id" | "user_id" | "type" | "quota" | "content">;

/** Returns the known rows. The times limit the search to partitions that may contain these rows. */
function knownRows(tx: RawTransaction, ids: readonly string[], moved: readonly Moved[]): Promise<Key[]> {
  const { marks, values } = inList(ids);
  const times = moved.map((row) => row.created_at);
  return tx.rows<Key>(
    `select request_id, user_id, type, quota, content from logs
      where request_id in ${marks} and created_at >= ? and created_at <= ?`,
    [...values, Math.min(...times), Math.max(...times)],
  );
}

/** Rows written by one management API call share its request id and differ in the other columns. */
function buildRowKey({ request_id, user_id, type, quota, content }: Key): string {
  return JSON.stringify([request_id, user_id, type, quota, content]);
}
