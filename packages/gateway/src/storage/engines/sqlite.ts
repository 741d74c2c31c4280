import { closeSync, mkdirSync, openSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import {
  type CompiledQuery,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from "kysely";
import type { Logger } from "../../observability/log.ts";
import { isFull, isTransient } from "../errors.ts";
import { Mutex } from "./mutex.ts";
import type { RawDatabase, RawTransaction, SqlValue } from "./raw.ts";

const MAX_PREPARED = 500;
/**
 * Pages between checkpoints. A log row touches ten pages; moving pages to the file four times less often than by
 * default makes rows a third cheaper.
 */
const CHECKPOINT_PAGES = 4_000;
/** Cache for pages of the file in this process; the kernel caches the others (docs/performance/stream-memory.md). */
const CACHE_KIB = 16 * 1024;
/** Without statistics the planner picks either of two indexes, even one that finds nearly every row. */
const OPTIMIZE = "pragma optimize";
const OPTIMIZE_EVERY_MS = 3_600_000;

/** SQLite blocks the whole process while it waits for another process, so it waits briefly and this code retries. */
const BUSY_TIMEOUT_MS = 50;
const BUSY_RETRY_MS = 20;
const BUSY_GIVE_UP_MS = 10_000;

/** Locks the whole file, or fails at once if another process writes; the caller decides how long to retry. */
export const TAKE_FILE = "begin exclusive";

export interface SqliteParts {
  readonly dialect: Dialect;
  readonly raw: RawDatabase;
  /** Rejects when the last write failed because the disk is full, until a write succeeds. */
  checkDiskSpace(): Promise<void>;
  close(): void;
}

/** Opens one connection for the query builder and the raw statements, which share one lock. */
export function openSqlite(path: string, sync: "normal" | "full", log: Logger): SqliteParts {
  const connection = new SqliteConnection(openFile(path, sync));
  const raw = sqliteRaw(connection);
  const notRenewed = (error: unknown) => log.warn("table statistics were not renewed", { error });
  const tuning = setInterval(() => {
    raw.run(OPTIMIZE, []).catch(notRenewed);
  }, OPTIMIZE_EVERY_MS).unref();
  return {
    dialect: sqliteDialect(connection),
    raw,
    async checkDiskSpace() {
      const { full } = connection;
      if (!full) return;
      const [{ user_version = 0 } = {}] = await raw.rows<{ user_version?: number }>("pragma user_version", []);
      await raw.run(`pragma user_version = ${user_version}`, []);
      connection.full = undefined;
      throw full;
    },
    close() {
      clearInterval(tuning);
      try {
        connection.run(OPTIMIZE, []);
      } catch (error) {
        notRenewed(error);
      }
      connection.close();
    },
  };
}

function openFile(path: string, sync: "normal" | "full"): DatabaseSync {
  if (path !== ":memory:") createPrivately(path);
  const handle = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: false });
  handle.exec(`pragma journal_mode = wal; pragma synchronous = ${sync}; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES};
    pragma journal_size_limit = 67108864; pragma temp_store = memory; pragma cache_size = -${CACHE_KIB};
    pragma case_sensitive_like = on; pragma analysis_limit = 1000; pragma optimize = 0x10002`);
  return handle;
}

/**
 * Creates the file for its owner only, because it contains keys and password hashes; its companions (-wal, -shm) get
 * the same mode.
 */
function createPrivately(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "a", 0o600));
}

const OWNER_GIVE_UP_MS = 5_000;

/**
 * Locks the file for the serving process, until `release` or the end of the process; undefined if another process
 * already holds it. Commands and backups can still read and write.
 */
export async function ownFile(path: string): Promise<(() => void) | undefined> {
  if (path === ":memory:") return () => {};
  const owner = `${realpathSync(path)}-owner`;
  createPrivately(owner);
  const handle = new DatabaseSync(owner, { timeout: 0 });
  const giveUpAt = performance.now() + OWNER_GIVE_UP_MS;
  for (;;) {
    try {
      handle.exec(TAKE_FILE);
      return () => handle.close();
    } catch (error) {
      if (isTransient(error) && performance.now() < giveUpAt) {
        await pause(BUSY_RETRY_MS);
        continue;
      }
      handle.close();
      if (isTransient(error)) return undefined;
      throw error;
    }
  }
}

interface Prepared {
  readonly statement: StatementSync;
  readonly isReader: boolean;
}

class SqliteConnection implements DatabaseConnection {
  readonly lock = new Mutex();
  /** The error of the last write on a full disk, until a write succeeds. */
  full: Error | undefined;
  readonly #handle: DatabaseSync;
  readonly #prepared = new Map<string, Prepared>();

  constructor(handle: DatabaseSync) {
    this.#handle = handle;
  }

  run(sql: string, values: readonly SqlValue[]): number {
    try {
      return Number(this.#prepare(sql).statement.run(...values).changes);
    } catch (error) {
      throw this.#withStorageFault(error);
    }
  }

  rows<Row>(sql: string, values: readonly SqlValue[]): Row[] {
    return this.#prepare(sql).statement.all(...values) as Row[];
  }

  executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const values = parameters as SQLInputValue[];
    const execute = () => {
      try {
        return this.#execute<Row>(sql, values);
      } catch (error) {
        throw this.#withStorageFault(error);
      }
    };
    return sql === TAKE_FILE ? Promise.try(execute) : whenFree(execute);
  }

  #execute<Row>(sql: string, values: SQLInputValue[]): QueryResult<Row> {
    const { statement, isReader } = this.#prepare(sql);
    if (isReader) return { rows: statement.all(...values) as Row[] };
    const { changes, lastInsertRowid } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  #withStorageFault(error: unknown): unknown {
    if (error instanceof Error && isFull(error)) this.full = error;
    return error;
  }

  async *streamQuery<Row>({ sql, parameters }: CompiledQuery): AsyncIterableIterator<QueryResult<Row>> {
    for (const row of this.#prepare(sql).statement.iterate(...(parameters as SQLInputValue[])))
      yield { rows: [row as Row] };
  }

  /**
   * Rolls back. After some failures SQLite has already rolled back, and the error of a second rollback would hide the
   * first error.
   */
  rollback(): void {
    if (this.#handle.isTransaction) this.run("rollback", []);
  }

  close(): void {
    this.#prepared.clear();
    this.#handle.close();
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql);
    if (known) return known;
    // Statements prepared before a table changed have the old columns.
    if (/^\s*(create|alter|drop)\b/i.test(sql)) this.#prepared.clear();
    const statement = this.#handle.prepare(sql);
    const prepared = { statement, isReader: statement.columns().length > 0 };
    if (this.#prepared.size >= MAX_PREPARED) this.#forgetOldest();
    this.#prepared.set(sql, prepared);
    return prepared;
  }

  #forgetOldest(): void {
    for (const sql of this.#prepared.keys()) {
      this.#prepared.delete(sql);
      return;
    }
  }
}

/** Runs a statement, waiting for the write lock of another process, such as a backup or a command. */
async function whenFree<T>(statement: () => T): Promise<T> {
  const giveUpAt = performance.now() + BUSY_GIVE_UP_MS;
  for (;;) {
    try {
      return statement();
    } catch (error) {
      if (!isTransient(error) || performance.now() > giveUpAt) throw error;
      await pause(BUSY_RETRY_MS);
    }
  }
}

function sqliteRaw(connection: SqliteConnection): RawDatabase {
  const { lock } = connection;
  const exclusively = async <T>(work: () => Promise<T>): Promise<T> => {
    const wait = lock.take();
    if (wait) await wait;
    try {
      return await work();
    } finally {
      lock.release();
    }
  };
  // A single statement runs synchronously, so it only waits for an open transaction.
  const alone = <T>(statement: () => T) => (lock.isHeld ? exclusively(() => whenFree(statement)) : whenFree(statement));
  const undos: (() => void)[] = [];
  const inside: RawTransaction = {
    onRollback: (undo) => void undos.push(undo),
    run: async (sql, values) => connection.run(sql, values),
    rows: async <Row>(sql: string, values: readonly SqlValue[]) => connection.rows<Row>(sql, values),
  };
  return {
    kind: "sqlite",
    run: (sql, values) => alone(() => connection.run(sql, values)),
    rows: <Row>(sql: string, values: readonly SqlValue[]) => alone(() => connection.rows<Row>(sql, values)),
    transaction: (work) => exclusively(() => inTransaction(connection, undos, () => work(inside))),
  };
}

/** Runs a transaction. It needs no retry, because it takes the write lock at the start and readers do not block it. */
async function inTransaction<T>(
  connection: SqliteConnection,
  undos: (() => void)[],
  work: () => Promise<T>,
): Promise<T> {
  await whenFree(() => connection.run("begin immediate", []));
  undos.length = 0;
  try {
    const result = await work();
    connection.run("commit", []);
    return result;
  } catch (error) {
    for (const undo of undos.toReversed()) undo();
    connection.rollback();
    throw error;
  }
}

/** Replaces the query builder's own lock with the one shared with `raw`. */
class SharedAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

function sqliteDialect(connection: SqliteConnection): Dialect {
  return {
    createAdapter: () => new SharedAdapter(),
    createDriver: () => sqliteDriver(connection),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

function sqliteDriver(connection: SqliteConnection): Driver {
  const execute = async (sql: string) => void (await whenFree(() => connection.run(sql, [])));
  return {
    init: async () => {},
    async acquireConnection() {
      await connection.lock.take();
      return connection;
    },
    releaseConnection: async () => connection.lock.release(),
    // A deferred transaction that begins with a read cannot always upgrade to a writer.
    beginTransaction: (_, settings) => execute(settings.accessMode === "read only" ? "begin" : "begin immediate"),
    commitTransaction: () => execute("commit"),
    rollbackTransaction: async () => connection.rollback(),
    destroy: async () => {},
  };
}
