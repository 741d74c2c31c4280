import { CompiledQuery, sql, type Kysely } from "kysely";
import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "../database.ts";
import { isTransient } from "../errors.ts";
import { SchemaError } from "./migration.ts";
import { openLockRow } from "./migration-lock-row.ts";
import type { Schema } from "../tables/schema.ts";
import { TAKE_FILE } from "../engines/sqlite.ts";

// An arbitrary fixed number; PostgreSQL has these locks per database.
const POSTGRES_KEY = 7_233_102;
const ASK_AGAIN_MS = 200;

/**
 * Runs `work` on one connection while no other process migrates the same database. Rejects when the lock stays taken.
 */
export function withMigrationLock<T>(
  database: Database,
  timeoutMs: number,
  work: (db: Kysely<Schema>) => Promise<T>,
): Promise<T> {
  return database.db.connection().execute((db) => LOCKS[database.kind](db, timeoutMs, work, database));
}

type Lock = <T>(
  db: Kysely<Schema>,
  timeoutMs: number,
  work: (db: Kysely<Schema>) => Promise<T>,
  database: Database,
) => Promise<T>;

const LOCKS: Readonly<Record<Database["kind"], Lock>> = {
  mysql: mysqlLock,
  postgres: postgresLock,
  sqlite: sqliteLock,
};

/**
 * Takes a named lock, then a row. Named locks are global to the server, so the name includes the database; names have
 * at most 64 characters. They end with the connection, but hold on one node of a cluster only; all nodes see the row.
 */
async function mysqlLock<T>(
  db: Kysely<Schema>,
  timeoutMs: number,
  work: (db: Kysely<Schema>) => Promise<T>,
  database: Database,
): Promise<T> {
  const name = sql`concat('fairway:migrate:', md5(database()))`;
  const { rows } = await sql<{ taken: number | null }>`select get_lock(${name}, ${timeoutMs / 1000}) as taken`.execute(
    db,
  );
  if (rows[0]?.taken !== 1) throw lockError(timeoutMs);
  try {
    return await withLockRow({ db, database, timeoutMs }, () => work(db));
  } finally {
    await sql`select release_lock(${name})`.execute(db);
  }
}

async function withLockRow<T>(
  { db, database, timeoutMs }: { readonly db: Kysely<Schema>; readonly database: Database; readonly timeoutMs: number },
  work: () => Promise<T>,
): Promise<T> {
  const row = await openLockRow(db, database);
  if (!(await askUntil(timeoutMs, () => row.take()))) throw lockError(timeoutMs);
  try {
    return await work();
  } finally {
    await row.free();
  }
}

async function postgresLock<T>(
  db: Kysely<Schema>,
  timeoutMs: number,
  work: (db: Kysely<Schema>) => Promise<T>,
): Promise<T> {
  const taken = await askUntil(timeoutMs, async () => {
    const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_lock(${POSTGRES_KEY}) as taken`.execute(db);
    return rows[0]?.taken === true;
  });
  if (!taken) throw lockError(timeoutMs);
  try {
    return await work(db);
  } finally {
    await sql`select pg_advisory_unlock(${POSTGRES_KEY})`.execute(db);
  }
}

/** Uses the write lock of the file, so all changes run in one transaction. */
async function sqliteLock<T>(
  db: Kysely<Schema>,
  timeoutMs: number,
  work: (db: Kysely<Schema>) => Promise<T>,
): Promise<T> {
  const taken = await askUntil(timeoutMs, async () => {
    try {
      await db.executeQuery(CompiledQuery.raw(TAKE_FILE));
      return true;
    } catch (error) {
      if (!isTransient(error)) throw error;
      return false;
    }
  });
  if (!taken) throw lockError(timeoutMs);
  try {
    const result = await work(db);
    await db.executeQuery(CompiledQuery.raw("commit"));
    return result;
  } catch (error) {
    // On a full disk SQLite has already rolled back and rejects this; the first error is the relevant one.
    await db.executeQuery(CompiledQuery.raw("rollback")).catch(() => undefined);
    throw error;
  }
}

async function askUntil(timeoutMs: number, ask: () => Promise<boolean>): Promise<boolean> {
  const giveUpAt = performance.now() + timeoutMs;
  while (!(await ask())) {
    if (performance.now() > giveUpAt) return false;
    await pause(ASK_AGAIN_MS);
  }
  return true;
}

function lockError(timeoutMs: number): SchemaError {
  return new SchemaError(
    `another process has been changing the database schema for ${Math.round(timeoutMs / 1000)} s; wait for it to end and start again`,
  );
}
