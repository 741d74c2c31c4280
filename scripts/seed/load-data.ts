import { Readable } from "node:stream";
import { createPool, type Pool, type ResultSetHeader } from "mysql2";
import { poolOptions } from "../../packages/gateway/src/storage/engines/mysql.ts";
import type { SqlValue } from "../../packages/gateway/src/storage/engines/raw.ts";
import type { BulkTable, Columns, PrepareBulk } from "./bulk.ts";

const CONNECTIONS = 2;

export interface Loader {
  readonly prepare: PrepareBulk;
  close(): Promise<void>;
}

/**
 * Sends rows as the lines of a file, which MySQL and MariaDB load in a quarter of the time that they need for the same
 * rows in statements. Undefined if the server's operator does not let clients send files.
 */
export async function openLoader(url: string): Promise<Loader | undefined> {
  const pool = createPool({ ...poolOptions(url, CONNECTIONS), flags: ["+LOCAL_FILES"] });
  const close = async () => void (await new Promise((resolve) => pool.end(resolve)));
  const [row] = (await ask(pool, "select @@local_infile as allowed")) as unknown as { allowed: number }[];
  if (row?.allowed === 1) return { prepare: (table, columns) => loading(pool, table, columns), close };
  await close();
  return undefined;
}

function loading(pool: Pool, { name, columns: declared }: BulkTable, columns: Columns): () => Promise<void> {
  const count = columns[0]?.length ?? 0;
  const names = Object.keys(declared).map((column) => `\`${column}\``);
  const sql = `load data local infile 'rows' into table ${name} character set utf8mb4 (${names.join(", ")})`;
  const file = Buffer.from(formatLines(columns, count));
  return async () => {
    if (count === 0) return;
    const { affectedRows, warningStatus } = await ask(pool, sql, file);
    // Problems that make a statement fail are only warnings for a file.
    if (affectedRows !== count || warningStatus > 0)
      throw new Error(`${name} took ${affectedRows} of ${count} rows, with ${warningStatus} warnings`);
  };
}

function formatLines(columns: Columns, count: number): string {
  let lines = "";
  for (let row = 0; row < count; row++) {
    for (const [at, column] of columns.entries()) lines += (at === 0 ? "" : "\t") + field(column[row]);
    lines += "\n";
  }
  return lines;
}

function field(value: SqlValue | undefined): string | number {
  if (typeof value === "number") return value;
  const text = String(value);
  return /[\t\n\\]/.test(text) ? text.replaceAll(/[\t\n\\]/g, String.raw`\$&`) : text;
}

function ask(pool: Pool, sql: string, file?: Buffer): Promise<ResultSetHeader> {
  const infileStreamFactory = () => Readable.from(file ? [file] : []);
  return new Promise((resolve, reject) => {
    pool.query<ResultSetHeader>({ sql, infileStreamFactory }, (error, answer) =>
      error ? reject(error) : resolve(answer),
    );
  });
}
