import type { Database } from "../../packages/gateway/src/storage/database.ts";
import type { RawTransaction, SqlValue } from "../../packages/gateway/src/storage/engines/raw.ts";
import type { Schema } from "../../packages/gateway/src/storage/tables/schema.ts";

export interface BulkTable {
  readonly name: keyof Schema;
  readonly columns: Readonly<Record<string, "number" | "text">>;
}

/** Values by column, in the order of the table's columns; all columns are equally long. */
export type Columns = readonly (readonly SqlValue[])[];

type Write = (tx: RawTransaction, table: BulkTable, columns: Columns) => Promise<void>;

/** How many values one prepared statement has. */
const SQLITE_VALUES = 900;
/** Well below the 16 MiB that a server accepts by default. */
const MYSQL_ROWS = 2_000;

/** Prepares the data at once and returns a function that writes it, so that both can run in parallel. */
export type PrepareBulk = (table: BulkTable, columns: Columns) => () => Promise<void>;

/** Adds rows by statements, each time in a separate transaction. */
export function inStatements({ raw }: Database): PrepareBulk {
  return (table, columns) => async () => {
    if (columns[0] === undefined || columns[0].length === 0) return;
    await raw.transaction((tx) => WRITERS[raw.kind](tx, table, columns));
  };
}

const WRITERS: Readonly<Record<Database["kind"], Write>> = {
  /**
   * Sends one array per column, so that the text of the statement is always the same, and nothing is parsed per row.
   */
  async postgres(tx, table, columns) {
    const types = Object.values(table.columns);
    const arrays = types.map((type) => (type === "number" ? "?::bigint[]" : "?::text[]")).join(", ");
    const values = columns.map((column, at) => arrayText(column, types[at] === "text"));
    await tx.run(`insert into ${into(table)} select * from unnest(${arrays})`, values);
  },

  async mysql(tx, table, columns) {
    await tx.run("set unique_checks = 0", []);
    const count = columns[0]?.length ?? 0;
    for (let from = 0; from < count; from += MYSQL_ROWS) {
      const rows: string[] = [];
      for (let row = from; row < Math.min(count, from + MYSQL_ROWS); row++) rows.push(tupleText(columns, row));
      await tx.run(`insert into ${into(table)} values ${rows.join(",")}`, []);
    }
    await tx.run("set unique_checks = 1", []);
  },

  async sqlite(tx, table, columns) {
    const tuple = `(${columns.map(() => "?").join(", ")})`;
    const atOnce = Math.floor(SQLITE_VALUES / columns.length);
    const count = columns[0]?.length ?? 0;
    for (let from = 0; from < count; from += atOnce) {
      const to = Math.min(count, from + atOnce);
      const values: SqlValue[] = [];
      for (let row = from; row < to; row++) for (const column of columns) values.push(column[row] ?? null);
      const tuples = Array.from({ length: to - from }, () => tuple).join(", ");
      await tx.run(`insert into ${into(table)} values ${tuples}`, values);
    }
  },
};

function into({ name, columns }: BulkTable): string {
  return `${name} (${Object.keys(columns)
    .map((column) => `"${column}"`)
    .join(", ")})`;
}

function arrayText(column: readonly SqlValue[], isText: boolean): string {
  if (!isText) return `{${column.join(",")}}`;
  return `{${column.map((value) => `"${String(value).replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(",")}}`;
}

function tupleText(columns: Columns, row: number): string {
  let text = "(";
  for (const column of columns) {
    const value = column[row];
    text += text.length === 1 ? "" : ",";
    text += typeof value === "number" ? value : `'${String(value).replaceAll(/['\\]/g, String.raw`\$&`)}'`;
  }
  return `${text})`;
}
