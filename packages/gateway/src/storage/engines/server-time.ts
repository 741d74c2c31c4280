import { sql, type RawBuilder } from "kysely";
import type { Database } from "../database.ts";

const NOW: Readonly<Record<Database["kind"], RawBuilder<number>>> = {
  sqlite: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
  mysql: sql<number>`(timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000)`,
  postgres: sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`,
};

/** Epoch milliseconds by the clock of the database, which all replicas share. */
export function serverTime(kind: Database["kind"]): RawBuilder<number> {
  return NOW[kind];
}
