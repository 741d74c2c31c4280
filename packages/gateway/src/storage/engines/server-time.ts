import { sql, type RawBuilder } from "kysely";
import type { RawDatabase } from "./raw.ts";

/** The time of a statement, by which an index can be searched; no transaction is older than it. */
const NOW: Readonly<Record<RawDatabase["kind"], string>> = {
  sqlite: "cast(unixepoch('subsec') * 1000 as integer)",
  mysql: "(timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000)",
  postgres: "cast(extract(epoch from statement_timestamp()) * 1000 as bigint)",
};

/** Returns epoch milliseconds by the clock of the database, which all replicas share. */
export function serverTime(kind: RawDatabase["kind"]): RawBuilder<number> {
  return sql<number>`${sql.raw(NOW[kind])}`;
}

/** Returns the same for statements without a query builder. */
export function serverTimeSql(kind: RawDatabase["kind"]): string {
  return NOW[kind];
}
