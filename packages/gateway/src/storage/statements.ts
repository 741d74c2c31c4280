import { mysqlLiteral } from "./engines/mysql-literal.ts";
import type { RawDatabase, RawTransaction, SqlValue } from "./engines/raw.ts";

/** Builds SQL for lists of any length with few distinct texts, so that databases can cache prepared statements. */

export interface InList {
  readonly marks: string;
  readonly values: readonly SqlValue[];
}

/** Returns `in (...)` for a non-empty list. */
export function inList(list: readonly SqlValue[]): InList {
  const values = padded(list);
  return { marks: `(${"?, ".repeat(values.length - 1)}?)`, values };
}

/** Repeats the last value up to a power of two, which selects the same rows. */
export function padded<T>(list: readonly T[]): readonly T[] {
  let size = 1;
  while (size < list.length) size *= 2;
  const missing = size - list.length;
  return missing === 0 ? list : list.concat(Array.from({ length: missing }, () => list[list.length - 1] as T));
}

/** Returns the suffix for row locks; SQLite locks the whole database when the transaction begins. */
export function forUpdate(kind: RawDatabase["kind"]): string {
  return kind === "sqlite" ? "" : " for update";
}

const ROWS_AT_ONCE = 32;
/** Maximum characters of one statement with inlined rows, far below the packet limit of any server. */
const LONGEST_TEXT = 256 * 1024;

/** The columns of a table that rows fill. Writes the text of each statement once: building it costs more than a row. */
export class InsertColumns {
  /** The beginning of the statement, up to the rows. */
  readonly head: string;
  readonly #tuple: string;
  /** The whole statement, by its number of rows. */
  readonly #texts = new Map<number, string>();

  constructor(table: string, columns: readonly string[]) {
    this.head = `insert into ${table} (${columns.map((name) => `"${name}"`).join(", ")}) values `;
    this.#tuple = `(${columns.map(() => "?").join(", ")})`;
  }

  text(rows: number): string {
    let text = this.#texts.get(rows);
    if (text === undefined) {
      text = this.head + Array.from({ length: rows }, () => this.#tuple).join(", ");
      this.#texts.set(rows, text);
    }
    return text;
  }
}

/** Inserts any number of rows. Single-row statements are cheaper on SQLite, multi-row statements on servers. */
export async function insertRows(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  into: InsertColumns,
  rows: readonly (readonly SqlValue[])[],
): Promise<void> {
  if (kind === "mysql" && rows.length > 1) return insertTexts(tx, into.head, rows);
  let done = 0;
  while (done < rows.length) {
    let size = kind === "sqlite" ? 1 : ROWS_AT_ONCE;
    while (size > rows.length - done) size /= 2;
    const values = size === 1 ? (rows[done] ?? []) : rows.slice(done, done + size).flat();
    await tx.run(into.text(size), values);
    done += size;
  }
}

async function insertTexts(tx: RawTransaction, head: string, rows: readonly (readonly SqlValue[])[]): Promise<void> {
  let text = head;
  for (const [at, row] of rows.entries()) {
    text += `${text.length === head.length ? "(" : ",("}${row.map(mysqlLiteral).join(",")})`;
    if (text.length < LONGEST_TEXT && at < rows.length - 1) continue;
    await tx.run(text, []);
    text = head;
  }
}
