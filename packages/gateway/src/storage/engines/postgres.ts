import type { Socket } from "node:net";
import { PostgresDialect, type Dialect, type PostgresPool } from "kysely";
import { Pool, types, type PoolClient, type PoolConfig } from "pg";
import { ANSWER_MS, currentLimit } from "../../lib/async/time-limit.ts";
import type { Logger } from "../../observability/log.ts";
import { endAll, lend, shares } from "./reserved-pool.ts";
import { trackStaleConnections, type StaleConnections } from "./stale-connections.ts";
import { createStatementNames, numberPlaceholders } from "./placeholders.ts";
import type { RawDatabase, RawTransaction, SqlValue } from "./raw.ts";
import { retryTransient } from "../retry-transient.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 60_000;
/** Keepalive, which detects an idle connection to a lost host. */
const KEEP_ALIVE_AFTER_MS = 10_000;
/** The server ends transactions of a paused process after this time, which releases their locks. */
const TRANSACTION_IDLE_MS = 60_000;
const OID_INT8 = 20;
const OID_NUMERIC = 1700;
const OID_TIMESTAMP = 1114;

export interface PostgresParts {
  readonly dialect: Dialect;
  readonly raw: RawDatabase;
  close(): Promise<void>;
}

/** With `isForeign`, numbers that are too large come as texts, so that the reader can name their place. */
export function openPostgres(url: string, connections: number, log: Logger, isForeign = false): PostgresParts {
  const { lane, rest } = shares(connections);
  const parsers = parsersWith(isForeign ? numberOrText : safeInteger);
  const pool = openPool(
    { connectionString: url, max: rest, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, types: parsers },
    log,
  );
  const limited = openPool(
    { connectionString: url, max: lane, connectionTimeoutMillis: ANSWER_MS, types: parsers },
    log,
  );
  const staleConnections = trackStaleConnections();
  follow(pool, staleConnections);
  limited.on("release", (error, client) => error || getSocket(client).destroyed || staleConnections.answered());
  const borrow = lender(limited, staleConnections);
  return {
    dialect: new PostgresDialect({ pool: poolByLimit(pool, borrow) }),
    raw: postgresRaw(pool, borrow),
    close: () => endAll([() => pool.end(), () => limited.end()]),
  };
}

function follow(pool: Pool, staleConnections: StaleConnections): void {
  pool.on("connect", (client) => {
    const stream = getSocket(client);
    stream.once("close", () => staleConnections.returned(stream));
  });
  pool.on("acquire", (client) => staleConnections.taken(getSocket(client)));
  pool.on("release", (_error, client) => staleConnections.returned(getSocket(client)));
}

function openPool(settings: PoolConfig, log: Logger): Pool {
  const pool = new Pool({
    ...settings,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    idle_in_transaction_session_timeout: TRANSACTION_IDLE_MS,
    application_name: "fairway",
  });
  // The pool replaces an idle connection that the server closes; without a listener the process would exit.
  pool.on("error", (error) => log.warn("idle database connection lost", { error }));
  // The pool handles errors of idle connections only; on a used one the running statement fails.
  pool.on("connect", (client) => client.on("error", (error) => log.debug("database connection lost", { error })));
  return pool;
}

/** Returns the pool of the query builder; work with a time limit uses the reserved pool. */
function poolByLimit(pool: Pool, borrow: Borrow): PostgresPool {
  return {
    options: pool.options,
    connect() {
      const limit = currentLimit();
      return limit ? borrow(limit) : pool.connect();
    },
    end: () => pool.end(),
  };
}

type Borrow = (limit: AbortSignal) => Promise<PoolClient>;

function lender(lane: Pool, staleConnections: StaleConnections): Borrow {
  /** Running statements fail, and the pool drops the connection. */
  const breakOff = (client: PoolClient) => {
    staleConnections.missed();
    getSocket(client).destroy();
  };
  return async (limit) => {
    const client = await lane.connect();
    if (lend(client, limit, breakOff)) return client;
    client.release(true);
    throw limit.reason;
  };
}

function getSocket(client: PoolClient): Socket {
  return client.connection.stream as Socket;
}

type Parser = (text: string) => number | string;

function parsersWith(integers: Parser): NonNullable<PoolConfig["types"]> {
  return { getTypeParser: (oid, format): unknown => findParser(oid, integers) ?? types.getTypeParser(oid, format) };
}

function findParser(oid: number, integers: Parser): Parser | undefined {
  if (oid === OID_INT8) return integers;
  // Only databases of other gateways have these columns. Without a zone they are in UTC, not in the zone of this
  // process.
  if (oid === OID_TIMESTAMP) return String;
  // The result of sum() of BIGINT is NUMERIC; no column has this type.
  return oid === OID_NUMERIC ? Number : undefined;
}

function numberOrText(text: string): number | string {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
}

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`a BIGINT beyond 2^53 cannot be read: ${text}`);
  return value;
}

function postgresRaw(pool: Pool, borrow: Borrow): RawDatabase {
  const nameStatement = createStatementNames();
  const on = (target: Pool | PoolClient): RawTransaction => {
    const send = (sql: string, values: readonly SqlValue[]) => {
      const name = nameStatement(sql);
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
  const poolTransaction = on(pool);
  const route = async <T>(work: (target: RawTransaction) => Promise<T>): Promise<T> => {
    const limit = currentLimit();
    if (!limit) return work(poolTransaction);
    const client = await borrow(limit);
    try {
      const answer = await work(on(client));
      client.release();
      return answer;
    } catch (error) {
      client.release(true);
      throw error;
    }
  };
  return {
    kind: "postgres",
    run: (sql, values) => route((target) => target.run(sql, values)),
    rows: (sql, values) => route((target) => target.rows(sql, values)),
    transaction: (work) => retryTransient(() => inTransaction(pool, (client) => work(on(client)))),
  };
}

async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const result = await work(client);
    const end = await client.query("commit");
    // The server answers a commit with ROLLBACK after an error that `work` swallowed.
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
