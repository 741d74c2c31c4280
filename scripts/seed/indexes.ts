import type { Database } from "../../packages/gateway/src/storage/database.ts";
import type { RawTransaction } from "../../packages/gateway/src/storage/engines/raw.ts";

/** Creates the dropped indexes again. */
export type Restore = () => Promise<void>;

/**
 * Drops the indexes of an empty table while it is filled: building them from all rows at once costs a fraction. If a
 * run is killed in between, the database must be discarded.
 */
export async function dropIndexes({ raw }: Database, table: string): Promise<Restore> {
  const { drop, create } = await STATEMENTS[raw.kind](raw, table);
  for (const sql of drop) await raw.run(sql, []);
  return () =>
    raw.transaction(async (tx) => {
      // Sorts in memory as far as possible; the setting ends with the transaction.
      if (raw.kind === "postgres") await tx.run("set local maintenance_work_mem = '512MB'", []);
      for (const sql of create) await tx.run(sql, []);
    });
}

interface Statements {
  readonly drop: readonly string[];
  readonly create: readonly string[];
}

const STATEMENTS: Readonly<Record<Database["kind"], (on: RawTransaction, table: string) => Promise<Statements>>> = {
  async sqlite(on, table) {
    const rows = await on.rows<{ name: string; sql: string }>(
      "select name, sql from sqlite_master where type = 'index' and tbl_name = ? and sql is not null",
      [table],
    );
    return { drop: rows.map(({ name }) => `drop index "${name}"`), create: rows.map(({ sql }) => sql) };
  },

  async postgres(on, table) {
    const rows = await on.rows<{ name: string; sql: string }>(
      `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as sql
         from pg_index i where i.indrelid = cast(? as text)::regclass and not i.indisprimary`,
      [table],
    );
    // For a table with partitions, the text names an index that the partitions do not get.
    const create = rows.map(({ sql }) => sql.replace(" ON ONLY ", " ON "));
    return { drop: rows.map(({ name }) => `drop index ${name}`), create };
  },

  /** One statement each way, so that the table is read once for all of its indexes. */
  async mysql(on, table) {
    const [row] = await on.rows<Record<string, string>>(`show create table ${table}`, []);
    const keys = [...(row?.["Create Table"] ?? "").matchAll(/^\s*((?:UNIQUE )?KEY "(\S+)" \(.*\)),?$/gm)];
    if (keys.length === 0) return { drop: [], create: [] };
    const drop = keys.map(([, , name]) => `drop key "${name}"`).join(", ");
    const add = keys.map(([, definition]) => `add ${definition}`).join(", ");
    return { drop: [`alter table ${table} ${drop}`], create: [`alter table ${table} ${add}`] };
  },
};
