import { DatabaseSync } from "node:sqlite";
import mysql from "mysql2/promise";
import pg from "pg";

/** A server that answers nothing fails the test that reads it, in words, before the limit of the test does. */
const STATEMENT_LIMIT_MS = 120_000;

export type SqlRow = Readonly<Record<string, unknown>>;

/** Runs one statement on a database of any kind over a connection of its own; for inspection, not for load. */
export async function runSql(url: string, sql: string): Promise<SqlRow[]> {
  if (url.startsWith("sqlite:")) return onSqlite(url.slice("sqlite:".length), sql);
  return url.startsWith("mysql:") ? onMysql(url, sql) : onPostgres(url, sql);
}

function onSqlite(file: string, sql: string): SqlRow[] {
  const database = new DatabaseSync(file);
  try {
    database.exec("pragma busy_timeout = 5000");
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

async function onMysql(url: string, sql: string): Promise<SqlRow[]> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: STATEMENT_LIMIT_MS });
  try {
    const [rows] = await connection.query({ sql, timeout: STATEMENT_LIMIT_MS });
    return Array.isArray(rows) ? (rows as SqlRow[]) : [];
  } finally {
    connection.destroy();
  }
}

async function onPostgres(url: string, sql: string): Promise<SqlRow[]> {
  const client = new pg.Client({ connectionString: url, query_timeout: STATEMENT_LIMIT_MS });
  await client.connect();
  try {
    return (await client.query<SqlRow>(sql)).rows;
  } finally {
    await client.end();
  }
}
