import { PostgresDialect, type Dialect } from "kysely";
import { Pool, types, type PoolClient } from "pg";
import type { Logger } from "../observability/log.ts";
import { createStatementNames, numberPlaceholders } from "./placeholders.ts";
import type { RawDatabase, RawTransaction, SqlValue } from "./raw.ts";
import { retryTransient } from "./transaction.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 60_000;
/** Locks of a process that was stopped in the middle of a transaction end after this. */
const TRANSACTION_IDLE_MS = 60_000;
const OID_INT8 = 20;
const OID_NUMERIC = 1700;
const OID_TIMESTAMP = 1114;

export interface PostgresParts {
  readonly dialect: Dialect;
  readonly raw: RawDatabase;
  close(): Promise<void>;
}

export function openPostgres(url: string, connections: number, log: Logger): PostgresParts {
  const pool = new Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    idle_in_transaction_session_timeout: TRANSACTION_IDLE_MS,
    application_name: "fairway",
    types: { getTypeParser: (oid, format): unknown => parserOf(oid) ?? types.getTypeParser(oid, format) },
  });
  // An idle connection that the server closes is replaced by the pool; without a listener the process would end.
  pool.on("error", (error) => log.warn("idle database connection lost", { error }));
  // The pool listens to idle connections only; who uses one learns of its end by the statement that fails.
  pool.on("connect", (client) => client.on("error", (error) => log.debug("database connection lost", { error })));
  return { dialect: new PostgresDialect({ pool }), raw: postgresRaw(pool), close: () => pool.end() };
}

function parserOf(oid: number): ((text: string) => number | string) | undefined {
  if (oid === OID_INT8) return safeInteger;
  // Only other gateways have these columns. Without a zone they are UTC, and not in the zone of this process.
  if (oid === OID_TIMESTAMP) return String;
  // sum() of BIGINT is NUMERIC; no column is.
  return oid === OID_NUMERIC ? Number : undefined;
}

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`a BIGINT beyond 2^53 cannot be read: ${text}`);
  return value;
}

function postgresRaw(pool: Pool): RawDatabase {
  const nameOf = createStatementNames();
  const on = (target: Pool | PoolClient): RawTransaction => {
    const send = (sql: string, values: readonly SqlValue[]) => {
      const name = nameOf(sql);
      return target.query({
        text: numberPlaceholders(sql),
        values: [...values],
        ...(name === undefined ? {} : { name }),
      });
    };
    return {
      run: async (sql, values) => (await send(sql, values)).rowCount ?? 0,
      rows: async <Row>(sql: string, values: readonly SqlValue[]) => (await send(sql, values)).rows as Row[],
    };
  };
  return {
    kind: "postgres",
    ...on(pool),
    transaction: (work) => retryTransient(() => inTransaction(pool, (client) => work(on(client)))),
  };
}

async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const result = await work(client);
    const end = await client.query("commit");
    // The server answers ROLLBACK to a commit after an error that `work` swallowed.
    if (end.command === "ROLLBACK") throw new Error("the transaction was rolled back because a statement in it failed");
    client.release();
    return result;
  } catch (error) {
    await client.query("rollback").then(
      () => client.release(),
      () => client.release(true),
    );
    throw error;
  }
}
