import { DatabaseSync } from "node:sqlite";
import mysql from "mysql2/promise";
import pg from "pg";

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
  const connection = await mysql.createConnection(url);
  try {
    const [rows] = await connection.query(sql);
    return Array.isArray(rows) ? (rows as SqlRow[]) : [];
  } finally {
    await connection.end();
  }
}

async function onPostgres(url: string, sql: string): Promise<SqlRow[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<SqlRow>(sql)).rows;
  } finally {
    await client.end();
  }
}
