import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { MysqlDialect, type Dialect, type MysqlPool } from "kysely";
import mysql2, { createPool, type Pool, type PoolConnection, type PoolOptions, type ResultSetHeader } from "mysql2";
import { ANSWER_MS, currentLimit } from "../../lib/async/time-limit.ts";
import type { Logger } from "../../observability/log.ts";
import { endAll, lend, shares } from "./reserved-pool.ts";
import { trackStaleConnections, type StaleConnections } from "./stale-connections.ts";
import { createStatementNames } from "./placeholders.ts";
import type { RawDatabase, RawTransaction, SqlValue } from "./raw.ts";
import { retryTransient } from "../retry-transient.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 60_000;
/** Keepalive, which detects an idle connection to a lost host. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/**
 * Every connection gets the same settings, whatever the server's defaults are: double quotes name columns as in the two
 * other databases, values that do not fit are refused, and locks cover rows instead of gaps. MariaDB ends the
 * transaction of a process that is stopped within it; MySQL cannot.
 */
const SESSION = [
  "set session sql_mode = 'ANSI_QUOTES,STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', innodb_lock_wait_timeout = 10 /*M!100300 , idle_transaction_timeout = 60 */",
  "set session transaction isolation level read committed",
];

export interface MysqlParts {
  readonly dialect: Dialect;
  readonly raw: RawDatabase;
  close(): Promise<void>;
}

export function openMysql(url: string, connections: number, log: Logger): MysqlParts {
  const { lane, rest } = shares(connections);
  const pool = openPool(poolOptions(url, rest), log);
  const limited = openPool({ ...poolOptions(url, lane), connectTimeout: ANSWER_MS }, log);
  const staleConnections = trackStaleConnections();
  follow(pool, staleConnections);
  limited.on("release", (connection) => getSocket(connection).destroyed || staleConnections.answered());
  const borrow = lender(limited, staleConnections);
  return {
    dialect: new MysqlDialect({ pool: poolByLimit(pool, borrow) }),
    raw: mysqlRaw(pool, borrow),
    close: () => endAll([() => endPool(pool), () => endPool(limited)]),
  };
}

function follow(pool: Pool, staleConnections: StaleConnections): void {
  pool.on("connection", (connection) => {
    const stream = getSocket(connection);
    stream.once("close", () => staleConnections.returned(stream));
  });
  pool.on("acquire", (connection) => staleConnections.taken(getSocket(connection)));
  pool.on("release", (connection) => staleConnections.returned(getSocket(connection)));
}

function openPool(options: PoolOptions, log: Logger): Pool {
  const pool = createPool(options);
  pool.on("connection", (connection) => {
    // Commands of one connection run in order, so these come before the query that opened it.
    for (const sql of SESSION) {
      connection.query(sql, (error) => {
        if (!error) return;
        log.error("database session not set up", { error });
        connection.destroy();
      });
    }
  });
  return pool;
}

/** Returns the pool of the query builder; work with a time limit uses the reserved pool. */
function poolByLimit(pool: Pool, borrow: Borrow): MysqlPool {
  return {
    getConnection(callback) {
      const limit = currentLimit();
      if (limit) borrow(limit, callback);
      else pool.getConnection(callback);
    },
    end: (callback) => pool.end(callback),
  };
}

/** Like the driver's own `getConnection`: with an error there is no connection. */
type Borrow = (limit: AbortSignal, done: Connected) => void;

function lender(lane: Pool, staleConnections: StaleConnections): Borrow {
  /**
   * The driver's own method waits until the other side has closed too. Here, running statements fail and the pool drops
   * the connection.
   */
  const breakOff = (connection: PoolConnection) => {
    staleConnections.missed();
    getSocket(connection).destroy(new Error("the statement took too long"));
  };
  return (limit, done) => {
    lane.getConnection((error, connection) => {
      if (error || lend(connection, limit, breakOff)) return done(error, connection);
      connection.destroy();
      done(limit.reason, connection);
    });
  };
}

function getSocket(connection: PoolConnection): Socket {
  return (connection as unknown as { readonly stream: Socket }).stream;
}

type Connected = (error: unknown, connection: PoolConnection) => void;

function connected(open: (done: Connected) => void): Promise<PoolConnection> {
  return new Promise((resolve, reject) => {
    open((error, connection) => (error ? reject(error) : resolve(connection)));
  });
}

/** Parses a `mysql://` URL; `ssl-mode` and `ssl-ca` have the same meaning as in the server's own tools. */
export function poolOptions(url: string, connections: number): PoolOptions {
  const at = new URL(url);
  const ssl = tls(at.searchParams);
  return {
    host: decodeURIComponent(at.hostname.replace(/^\[|\]$/g, "")),
    port: at.port === "" ? 3306 : Number(at.port),
    user: decodeURIComponent(at.username),
    password: decodeURIComponent(at.password),
    database: decodeURIComponent(at.pathname.slice(1)),
    ...(at.searchParams.has("socket") ? { socketPath: at.searchParams.get("socket") ?? "" } : {}),
    ...(ssl ? { ssl } : {}),
    charset: "utf8mb4",
    connectionLimit: connections,
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableKeepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_AFTER_MS,
    idleTimeout: IDLE_TIMEOUT_MS,
    maxPreparedStatements: 400,
    // An update that matches a row counts as one even if it changes nothing. The server may not read local files.
    flags: ["+FOUND_ROWS", "-LOCAL_FILES"],
    supportBigNumbers: true,
    // The result of sum() of BIGINT is DECIMAL.
    decimalNumbers: true,
    dateStrings: true,
    // Without values there is nothing to search for in the text, which may be long.
    queryFormat: (sql: string, values: SqlValue[]) => (values.length === 0 ? sql : mysql2.format(sql, values)),
  };
}

function tls(parameters: URLSearchParams): PoolOptions["ssl"] {
  const path = parameters.get("ssl-ca");
  const mode = (parameters.get("ssl-mode") ?? (path === null ? "disabled" : "verify-ca"))
    .toLowerCase()
    .replace("_", "-");
  const ca = path === null ? {} : { ca: readFileSync(path) };
  switch (mode) {
    case "disabled":
      return undefined;
    case "required":
      return { ...ca, rejectUnauthorized: false };
    case "verify-ca":
      return { ...ca, verifyIdentity: false };
    case "verify-identity":
      return { ...ca, verifyIdentity: true };
    default:
      throw new Error(`ssl-mode=${mode} is not known; use disabled, required, verify-ca or verify-identity`);
  }
}

type Answer = ResultSetHeader | readonly unknown[];

function mysqlRaw(pool: Pool, borrow: Borrow): RawDatabase {
  const nameStatement = createStatementNames();
  const on = (target: Pool | PoolConnection): RawTransaction => {
    const send = (sql: string, values: readonly SqlValue[]) =>
      new Promise<Answer>((resolve, reject) => {
        const done = (error: unknown, answer: unknown) => (error ? reject(error) : resolve(answer as Answer));
        if (nameStatement(sql) === undefined) target.query(sql, [...values], done);
        else target.execute(sql, values.map(typed), done);
      });
    /** A statement with inlined values has a different text each time, so preparing it is useless. */
    const sendText = (sql: string) =>
      new Promise<Answer>((resolve, reject) => {
        target.query(sql, (error: unknown, answer: unknown) => (error ? reject(error) : resolve(answer as Answer)));
      });
    return {
      async run(sql, values) {
        const answer = await (values.length === 0 ? sendText(sql) : send(sql, values));
        return "affectedRows" in answer ? answer.affectedRows : 0;
      },
      async rows<Row>(sql: string, values: readonly SqlValue[]) {
        return (await send(sql, values)) as Row[];
      },
    };
  };
  const poolTransaction = on(pool);
  const route = async <T>(work: (target: RawTransaction) => Promise<T>): Promise<T> => {
    const limit = currentLimit();
    if (!limit) return work(poolTransaction);
    const connection = await connected((done) => borrow(limit, done));
    try {
      const answer = await work(on(connection));
      connection.release();
      return answer;
    } catch (error) {
      // For example, the server may have become a replica: the next statement uses another connection.
      connection.destroy();
      throw error;
    }
  };
  return {
    kind: "mysql",
    run: (sql, values) => route((target) => target.run(sql, values)),
    rows: (sql, values) => route((target) => target.rows(sql, values)),
    transaction: (work) => retryTransient(() => inTransaction(pool, (connection) => work(on(connection)))),
  };
}

/**
 * Converts a value: numbers would be sent as DOUBLE, which MySQL refuses in some places and which prevents the use of
 * an index.
 */
function typed(value: SqlValue) {
  if (typeof value === "bigint" || Number.isInteger(value))
    return mysql2.TypedParameter.LONGLONG(value as number | bigint);
  return value instanceof Uint8Array ? Buffer.from(value) : value;
}

async function inTransaction<T>(pool: Pool, work: (connection: PoolConnection) => Promise<T>): Promise<T> {
  const connection = await connected((done) => pool.getConnection(done));
  try {
    await command(connection, "begin");
    const result = await work(connection);
    await command(connection, "commit");
    connection.release();
    return result;
  } catch (error) {
    await command(connection, "rollback").then(
      () => connection.release(),
      () => connection.destroy(),
    );
    throw error;
  }
}

function command(connection: PoolConnection, sql: string): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.query(sql, (error) => (error ? reject(error) : resolve()));
  });
}

function endPool(pool: Pool): Promise<void> {
  return new Promise((resolve, reject) => {
    pool.end((error) => (error ? reject(error) : resolve()));
  });
}
