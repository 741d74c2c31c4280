import type { InsertObject, Kysely } from "kysely";
import type { RawDatabase } from "./engines/raw.ts";
import type { Schema } from "./tables/schema.ts";

/** Inserts whose SQL differs between the three databases. */

type TableWithId = { [T in keyof Schema]: Schema[T] extends { id: unknown } ? T : never }[keyof Schema];

/** Inserts one row and returns its generated id. */
export async function insertRow<T extends TableWithId>(
  db: Kysely<Schema>,
  table: T,
  row: InsertObject<Schema, T>,
): Promise<number> {
  const insert = db.insertInto(table).values(row);
  if (db.getExecutor().adapter.supportsReturning) {
    // The types of the query builder do not show that every table of TableWithId has this column.
    const returning = (
      insert as unknown as { returning(column: "id"): { executeTakeFirstOrThrow(): Promise<{ id: number }> } }
    ).returning("id");
    return (await returning.executeTakeFirstOrThrow()).id;
  }
  const { insertId } = await insert.executeTakeFirstOrThrow();
  return Number(insertId);
}

export interface Upsert {
  readonly table: keyof Schema;
  readonly columns: readonly string[];
  /** Columns of the unique key. */
  readonly key: readonly string[];
  /** For an existing row, `add` adds to columns and `replace` overwrites them; with neither, the row is unchanged. */
  readonly add?: readonly string[];
  readonly replace?: readonly string[];
}

/** Returns SQL of a prepared statement that inserts `rows` rows, or updates existing ones. */
export function upsertSql(
  kind: RawDatabase["kind"],
  { table, columns, key, add = [], replace = [] }: Upsert,
  rows = 1,
): string {
  const tuple = `(${columns.map(() => "?").join(", ")})`;
  const values = Array.from({ length: rows }, () => tuple).join(", ");
  const into = `into ${table} (${columns.map(quote).join(", ")}) values ${values}`;
  const isUnchanged = add.length + replace.length === 0;
  if (kind === "mysql") {
    if (isUnchanged) return `insert ignore ${into}`;
    const changes = [
      ...add.map((name) => `${quote(name)} = ${quote(name)} + values(${quote(name)})`),
      ...replace.map((name) => `${quote(name)} = values(${quote(name)})`),
    ];
    return `insert ${into} on duplicate key update ${changes.join(", ")}`;
  }
  const target = `on conflict (${key.map(quote).join(", ")}) do`;
  if (isUnchanged) return `insert ${into} ${target} nothing`;
  const changes = [
    ...add.map((name) => `${quote(name)} = ${table}.${quote(name)} + excluded.${quote(name)}`),
    ...replace.map((name) => `${quote(name)} = excluded.${quote(name)}`),
  ];
  return `insert ${into} ${target} update set ${changes.join(", ")}`;
}

function quote(name: string): string {
  return `"${name}"`;
}
