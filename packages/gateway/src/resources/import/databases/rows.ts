import { characters } from "@fairway/wire";
import { inChunks } from "../../../lib/chunks.ts";
import type { Database } from "../../../storage/database.ts";
import { upsertSql } from "../../../storage/inserts.ts";
import { ForeignValueError, type ForeignRow } from "../../../storage/foreign.ts";
import type { RawDatabase, RawTransaction, SqlValue } from "../../../storage/engines/raw.ts";
import { isUnstorable } from "../../../storage/errors.ts";
import type { ImportReport } from "../report.ts";

/** Inserts a row with its old id if it has one that is free; otherwise the database assigns one. */
export async function insertKeepingId(
  tx: RawTransaction,
  table: string,
  oldId: number | undefined,
  row: Readonly<Record<string, SqlValue>>,
): Promise<void> {
  const isFree =
    oldId !== undefined && (await tx.rows(`select 1 as one from ${table} where id = ?`, [oldId])).length === 0;
  await insertRaw(tx, table, isFree ? { id: oldId, ...row } : row);
}

export async function insertRaw(
  tx: RawTransaction,
  table: string,
  row: Readonly<Record<string, SqlValue>>,
): Promise<void> {
  await insertMany(tx, table, [row]);
}

const ROWS_PER_INSERT = 200;

/** Inserts rows, which must all have the same columns. */
export async function insertMany(
  tx: RawTransaction,
  table: string,
  rows: readonly Readonly<Record<string, SqlValue>>[],
): Promise<void> {
  const names = Object.keys(rows[0] ?? {});
  const into = `insert into ${table} (${names.map((name) => `"${name}"`).join(", ")})`;
  const tuple = `(${names.map(() => "?").join(", ")})`;
  for (const some of inChunks(rows, ROWS_PER_INSERT)) {
    const tuples = some.map(() => tuple).join(", ");
    const values = some.flatMap((row) => names.map((name) => row[name] ?? null));
    await tx.run(`${into} values ${tuples}`, values);
  }
}

interface Bringing {
  readonly report: ImportReport;
  readonly progress: (what: string) => void;
}

interface Portion {
  /** The kind of item, as the report names it. */
  readonly what: string;
  readonly table: string;
  /** The column that identifies a row that already exists here. */
  readonly key: string;
  readonly rows: readonly Brought[];
  /** The existing keys, read before the first portion, for a table without an index on the key. */
  readonly known?: ReadonlySet<SqlValue>;
}

/** The values of a row, and its source row. */
export interface Brought {
  readonly values: Readonly<Record<string, SqlValue>>;
  readonly from: ForeignRow;
}

/** Stores the rows that do not exist yet, all in one transaction. */
export async function bringNew(
  { report, progress }: Bringing,
  raw: RawDatabase,
  { what, table, key, rows, known }: Portion,
): Promise<void> {
  const here = known ?? (await keysHere(raw, { table, key, rows }));
  const fresh = rows.filter(({ values }) => !here.has(values[key] ?? null));
  report.count(what, "unchanged", { times: rows.length - fresh.length });
  report.count(what, "created", { times: fresh.length });
  if (fresh.length > 0)
    await raw.transaction(async (tx) => {
      for (const some of inChunks(fresh, ROWS_PER_INSERT)) {
        const values = some.map((row) => row.values);
        await placing(some, () => insertMany(tx, table, values));
      }
    });
  progress(what);
}

/**
 * Adds table, row and column to an error about a value that this database cannot store; `sources` has the columns'
 * names in the source.
 */
export async function placing<T>(
  rows: readonly Brought[],
  store: () => Promise<T>,
  sources: Readonly<Record<string, string>> = {},
): Promise<T> {
  try {
    return await store();
  } catch (error) {
    if (error instanceof ForeignValueError || !isUnstorable(error) || !(error instanceof Error)) throw error;
    for (const { values, from } of rows) {
      const column = faultyColumn(values, error.message);
      if (column !== undefined)
        from.refuse(sources[column] ?? column, `the database here cannot hold the value (${error.message})`);
    }
    throw error;
  }
}

const LARGEST_INTEGER = 2 ** 31 - 1;

/** Returns the column that a MySQL message names, or the first one with the value that PostgreSQL reports. */
function faultyColumn(values: Brought["values"], message: string): string | undefined {
  const limit = Number(/character varying\((\d+)\)/.exec(message)?.[1] ?? Number.NaN);
  const isFaulty = (name: string, value: SqlValue) =>
    message.includes(`'${name}'`) ||
    (typeof value === "string" && (characters(value) > limit || (message.includes("0x00") && value.includes("\0")))) ||
    (typeof value === "number" && message.includes("out of range") && Math.abs(value) > LARGEST_INTEGER);
  const [name] = Object.entries(values).find(([one, value]) => isFaulty(one, value)) ?? [];
  return name?.replace(/_key$/, "");
}

async function keysHere(
  raw: RawDatabase,
  { table, key, rows }: Pick<Portion, "table" | "key" | "rows">,
): Promise<Set<SqlValue>> {
  if (rows.length === 0) return new Set();
  const places = rows.map(() => "?").join(", ");
  const sql = `select "${key}" from ${table} where "${key}" in (${places})`;
  const found = await raw.rows<Record<string, SqlValue>>(
    sql,
    rows.map(({ values }) => values[key] ?? null),
  );
  return new Set(found.map((row) => row[key] ?? null));
}

/** Enables the lookup of imported keys; the gateway reads this at its next start. */
export async function admitCarriedKeys(tx: RawTransaction, kind: RawDatabase["kind"]): Promise<void> {
  const sql = upsertSql(kind, { table: "options", columns: ["key", "value"], key: ["key"], replace: ["value"] });
  await tx.run(sql, ["CarriedKeysEnabled", "true"]);
}

/** Sets the next id of each table: PostgreSQL does not count ids that were given explicitly. */
export async function alignIds({ raw, kind }: Database, tables: readonly string[]): Promise<void> {
  if (kind !== "postgres") return;
  for (const table of tables) {
    const [own] = await raw.rows<{ sequence: string | null }>(
      `select pg_get_serial_sequence('${table}', 'id') as sequence`,
      [],
    );
    if (own?.sequence === null) continue; // its ids are texts
    const next = `(select coalesce(max(id), 0) + 1 from ${table})`;
    await raw.rows(`select setval(pg_get_serial_sequence('${table}', 'id'), ${next}, false)`, []);
  }
}
