import mysql from "mysql2/promise";
import pg from "pg";

/** A row that a transaction of the test holds: other writers wait. */
export interface RowLock {
  release(): Promise<void>;
}

/** Locks a row of a server's database. */
export async function lockRow(
  url: string,
  table: "tokens" | "batches" | "upstream_caches",
  id: number | string,
): Promise<RowLock> {
  const sql = `select id from ${table} where id = ${typeof id === "number" ? id : `'${id}'`} for update`;
  return url.startsWith("mysql:") ? lockOnMysql(url, sql) : lockOnPostgres(url, sql);
}

async function lockOnMysql(url: string, sql: string): Promise<RowLock> {
  const connection = await mysql.createConnection(url);
  await connection.query("start transaction");
  await connection.query(sql);
  return {
    async release() {
      await connection.query("rollback");
      await connection.end();
    },
  };
}

async function lockOnPostgres(url: string, sql: string): Promise<RowLock> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("begin");
  await client.query(sql);
  return {
    async release() {
      await client.query("rollback");
      await client.end();
    },
  };
}
