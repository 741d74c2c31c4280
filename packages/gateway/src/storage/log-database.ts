import type { ClickhouseLog } from "./clickhouse/open.ts";
import type { Database } from "./database.ts";

/** Where `logs` is: one of the SQL databases, or ClickHouse. */
export type LogDatabase = Database | ClickhouseLog;

/**
 * Returns true if rows become visible in the order of their ids. SQLite has one writer, and ClickHouse gets batches with
 * rising ids; other servers assign ids before transactions commit.
 */
export function areIdsInOrder({ kind }: Pick<LogDatabase, "kind">): boolean {
  return kind === "sqlite" || kind === "clickhouse";
}
