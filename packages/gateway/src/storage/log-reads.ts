import { Kysely, type CompiledQuery, type DatabaseConnection, type Dialect, type QueryResult } from "kysely";
import { TookTooLong } from "../lib/async/time-limit.ts";
import { isLogAway } from "./clickhouse/errors.ts";
import type { ClickhouseLog } from "./clickhouse/open.ts";
import type { Database } from "./database.ts";
import type { RawTransaction, SqlValue } from "./engines/raw.ts";
import { isFull, isLoginRefused, isNoDatabase, isPassing, isReadOnly } from "./errors.ts";
import type { LogDatabase } from "./log-database.ts";
import type { Schema } from "./tables/schema.ts";

/** The database of the log did not answer a reader. Calls do not need it: their rows wait in the main database. */
export class LogUnreachable extends Error {
  override readonly name = "LogUnreachable";

  constructor(cause: unknown) {
    super("the log database cannot be reached", { cause });
  }
}

/**
 * Returns a separate log database for readers, whose statements throw LogUnreachable while it is away. Its writers need
 * the errors of the driver, which say whether a row is at fault, so they have the database itself.
 */
export function guardReads(logs: LogDatabase): LogDatabase {
  return logs.kind === "clickhouse" ? guardClickhouse(logs) : guardDatabase(logs);
}

function guardClickhouse(logs: ClickhouseLog): ClickhouseLog {
  const guarded = createGuard(isLogAway);
  return { ...logs, db: guardBuilder(logs.db, guarded), raw: guardStatements(logs.raw, guarded) };
}

function guardDatabase(logs: Database): Database {
  const guarded = createGuard(isDatabaseAway);
  return {
    ...logs,
    db: guardBuilder(logs.db, guarded),
    raw: {
      kind: logs.raw.kind,
      ...guardStatements(logs.raw, guarded),
      transaction: (work) => guarded(() => logs.raw.transaction(work)),
    },
  };
}

/** A full disk and a server that takes no writes have refusals of their own. */
function isDatabaseAway(error: unknown): boolean {
  if (isFull(error) || isReadOnly(error)) return false;
  return isPassing(error) || isLoginRefused(error) || isNoDatabase(error) || error instanceof TookTooLong;
}

type Guard = <T>(work: () => Promise<T>) => Promise<T>;

function createGuard(isAway: (error: unknown) => boolean): Guard {
  return async (work) => {
    try {
      return await work();
    } catch (error) {
      throw isAway(error) ? new LogUnreachable(error) : error;
    }
  };
}

type Statements = Pick<RawTransaction, "rows" | "run">;

function guardStatements(raw: Statements, guarded: Guard): Statements {
  return {
    rows: <Row>(sql: string, values: readonly SqlValue[]) => guarded(() => raw.rows<Row>(sql, values)),
    run: (sql, values) => guarded(() => raw.run(sql, values)),
  };
}

/** Builds the same statements and runs them on the connections of `db`. */
function guardBuilder(db: Kysely<Schema>, guarded: Guard): Kysely<Schema> {
  const inner = db.getExecutor();
  const connection: DatabaseConnection = {
    executeQuery: <Row>(query: CompiledQuery): Promise<QueryResult<Row>> =>
      guarded(() => inner.executeQuery<Row>(query as CompiledQuery<Row>)),
    streamQuery() {
      throw new Error("rows of the log are read by statements with a limit");
    },
  };
  const refuse = () => Promise.reject(new Error("readers of the log have no transactions"));
  const dialect: Dialect = {
    createDriver: () => ({
      init: () => Promise.resolve(),
      acquireConnection: () => Promise.resolve(connection),
      beginTransaction: refuse,
      commitTransaction: refuse,
      rollbackTransaction: refuse,
      releaseConnection: () => Promise.resolve(),
      destroy: () => Promise.resolve(),
    }),
    createQueryCompiler: () => ({ compileQuery: (node, id) => inner.compileQuery(node, id) }),
    createAdapter: () => inner.adapter,
    createIntrospector: () => db.introspection,
  };
  return new Kysely<Schema>({ dialect });
}
