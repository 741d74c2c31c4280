/**
 * Prepared statements without a query builder, for the few queries that every relayed request runs. Their SQL has `?`
 * placeholders, uses the subset that SQLite, MySQL and PostgreSQL share, and quotes column names that are reserved
 * words (`group`, `key`) with double quotes on all three; the PostgreSQL side numbers the placeholders. Everything else
 * goes through Kysely; `rawOn` in transaction.ts joins both in one transaction.
 */
export type SqlValue = string | number | bigint | Uint8Array | null;

export interface RawTransaction {
  /** Runs one statement and returns the number of changed rows (matched rows on MySQL). */
  run(sql: string, values: readonly SqlValue[]): Promise<number>;
  /** Runs one query; BIGINT columns are returned as safe integers. */
  rows<Row>(sql: string, values: readonly SqlValue[]): Promise<Row[]>;
  /** Inside a transaction of SQLite, `undo` runs if the transaction does not commit, before another one begins. */
  readonly onRollback?: (undo: () => void) => void;
}

export interface RawDatabase extends RawTransaction {
  readonly kind: "sqlite" | "mysql" | "postgres";
  /** Runs a transaction; deadlocks and serialization failures are retried up to five times. */
  transaction<T>(work: (tx: RawTransaction) => Promise<T>): Promise<T>;
}
