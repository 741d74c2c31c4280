import { CompiledQuery, type Kysely, type Transaction } from "kysely";
import { inChunks } from "../lib/chunks.ts";
import type { Database } from "./database.ts";
import { numberPlaceholders } from "./engines/placeholders.ts";
import type { RawDatabase, RawTransaction } from "./engines/raw.ts";
import { retryTransient } from "./retry-transient.ts";
import type { Schema } from "./tables/schema.ts";

/**
 * Runs a query-builder transaction, which is retried after deadlocks; inside another transaction it joins that one.
 * `work` may run several times and must touch nothing but `trx`.
 */
export function transact<T>(db: Kysely<Schema>, work: (trx: Transaction<Schema>) => Promise<T>): Promise<T> {
  if (db.isTransaction) return work(db as Transaction<Schema>);
  return retryTransient(() => db.transaction().execute(work));
}

/** Locks the user row until the transaction ends; returns false if it does not exist. */
export async function lockUser(trx: Transaction<Schema>, userId: number): Promise<boolean> {
  const same = trx.updateTable("users").set((eb) => ({ status: eb.ref("status") }));
  await same.where("id", "=", userId).execute();
  return (await trx.selectFrom("users").select("id").where("id", "=", userId).executeTakeFirst()) !== undefined;
}

const IDS_PER_STATEMENT = 1000;

/**
 * Locks rows in ascending id order, as all code does to avoid deadlocks. SQLite needs no row locks because it has one
 * writer at a time.
 */
export async function lockRows(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  table: "users" | "tokens" | "channels",
  ids: readonly number[],
): Promise<void> {
  if (kind === "sqlite") return;
  const sorted = [...new Set(ids)].toSorted((a, b) => a - b);
  for (const some of inChunks(sorted, IDS_PER_STATEMENT)) {
    const places = some.map(() => "?").join(", ");
    await tx.rows(`select id from ${table} where id in (${places}) order by id for update`, some);
  }
}

/** Returns the database interface for an open transaction: everything runs in that transaction. */
export function within(trx: Transaction<Schema>, database: Database): Database {
  const tx = rawOn(trx, database.kind);
  const raw: RawDatabase = { ...tx, kind: database.kind, transaction: (work) => work(tx) };
  return { ...database, db: trx, raw };
}

/**
 * Returns the prepared-statement interface for a query-builder transaction, for functions that take a `RawTransaction`.
 */
export function rawOn(trx: Transaction<Schema>, kind: RawDatabase["kind"]): RawTransaction {
  const compile = (sql: string, values: readonly unknown[]) =>
    CompiledQuery.raw(kind === "postgres" ? numberPlaceholders(sql) : sql, [...values]);
  return {
    async run(sql, values) {
      const result = await trx.executeQuery(compile(sql, values));
      return Number(result.numAffectedRows ?? 0n);
    },
    async rows<Row>(sql: string, values: readonly unknown[]) {
      const result = await trx.executeQuery(compile(sql, values));
      return result.rows as Row[];
    },
  };
}
