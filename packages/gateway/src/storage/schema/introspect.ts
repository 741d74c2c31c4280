import { CompiledQuery, type Kysely } from "kysely";
import type { DatabaseKind } from "./columns.ts";
import type { Schema } from "../tables/schema.ts";

/** Reads the schema of the connected database (on PostgreSQL: of the first schema of the search path). */

export function hasTable(db: Kysely<Schema>, kind: DatabaseKind, table: string): Promise<boolean> {
  return exists(db, TABLE[kind], [table]);
}

export function hasColumn(db: Kysely<Schema>, kind: DatabaseKind, table: string, column: string): Promise<boolean> {
  return exists(db, COLUMN[kind], [table, column]);
}

export function hasIndex(db: Kysely<Schema>, kind: DatabaseKind, table: string, index: string): Promise<boolean> {
  return exists(db, INDEX[kind], [table, index]);
}

const TABLE: Readonly<Record<DatabaseKind, string>> = {
  sqlite: "select 1 from sqlite_master where type = 'table' and name = ?",
  mysql: "select 1 from information_schema.tables where table_schema = database() and table_name = ?",
  postgres: "select 1 from information_schema.tables where table_schema = current_schema() and table_name = $1",
};

const COLUMN: Readonly<Record<DatabaseKind, string>> = {
  sqlite: "select 1 from pragma_table_info(?) where name = ?",
  mysql:
    "select 1 from information_schema.columns where table_schema = database() and table_name = ? and column_name = ?",
  postgres:
    "select 1 from information_schema.columns where table_schema = current_schema() and table_name = $1 and column_name = $2",
};

const INDEX: Readonly<Record<DatabaseKind, string>> = {
  sqlite: "select 1 from sqlite_master where type = 'index' and tbl_name = ? and name = ?",
  mysql:
    "select 1 from information_schema.statistics where table_schema = database() and table_name = ? and index_name = ?",
  postgres: "select 1 from pg_indexes where schemaname = current_schema() and tablename = $1 and indexname = $2",
};

async function exists(db: Kysely<Schema>, text: string, values: readonly string[]): Promise<boolean> {
  const { rows } = await db.executeQuery(CompiledQuery.raw(text, [...values]));
  return rows.length > 0;
}
