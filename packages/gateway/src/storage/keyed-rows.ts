import type { RawDatabase, RawTransaction, SqlValue } from "./engines/raw.ts";
import type { Schema } from "./tables/schema.ts";

export interface Keyed {
  readonly table: keyof Schema;
  readonly key: readonly string[];
  /** Key columns that are texts; the others are whole numbers. */
  readonly texts: readonly string[];
  readonly columns: readonly string[];
}

/** Returns the rows with these keys, in no particular order, by one search of the primary key for each. */
export async function rowsByKey<Row>(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  keyed: Keyed,
  keys: readonly (readonly SqlValue[])[],
): Promise<Row[]> {
  if (keys.length === 0) return [];
  if (kind === "postgres")
    return tx.rows<Row>(lateralSql(keyed), [JSON.stringify(keys.map((key) => toKeyObject(keyed, key)))]);
  return tx.rows<Row>(unionSql(keyed, keys.length), keys.flat());
}

function toKeyObject({ key: names }: Keyed, key: readonly SqlValue[]): object {
  return Object.fromEntries(names.map((name, at) => [name, key[at]]));
}

/**
 * Returns SQL with one plan for all keys: PostgreSQL takes longer to plan a union of a hundred searches than to run it.
 */
function lateralSql({ table, key, texts, columns }: Keyed): string {
  const types = key.map((name) => `"${name}" ${texts.includes(name) ? 'text collate "C"' : "bigint"}`);
  const search = `select ${[...key, ...columns].map(quote).join(", ")} from ${table} where ${key.map((name) => `${table}."${name}" = wanted."${name}"`).join(" and ")} offset 0`;
  return `select found.* from json_to_recordset(?::json) as wanted(${types.join(", ")}) cross join lateral (${search}) as found`;
}

/** Returns a union, which the other databases plan in half of the time of one search with alternatives. */
function unionSql({ table, key, columns }: Keyed, count: number): string {
  const one = `select ${[...key, ...columns].map(quote).join(", ")} from ${table} where ${key.map((name) => `"${name}" = ?`).join(" and ")}`;
  return Array.from({ length: count }, () => one).join(" union all ");
}

function quote(name: string): string {
  return `"${name}"`;
}
