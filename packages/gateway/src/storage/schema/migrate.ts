import { CompiledQuery, sql, type Kysely } from "kysely";
import { setTimeout as pause } from "node:timers/promises";
import { systemClock, type Clock } from "../../lib/clock.ts";
import type { Logger } from "../../observability/log.ts";
import { createTable, bigint, integer, text, type DatabaseKind } from "./columns.ts";
import type { Database } from "../database.ts";
import { hasColumn, hasIndex, hasTable } from "./introspect.ts";
import { withMigrationLock } from "./migration-lock.ts";
import { SchemaError, type Migration, type StepContext } from "./migration.ts";
import { LOG_MIGRATIONS, MIGRATIONS } from "./migrations/index.ts";
import type { Schema } from "../tables/schema.ts";

/**
 * `auto` migrates, `wait` waits for another process to migrate, `verify` refuses an old schema, and `off` checks
 * nothing.
 */
export type MigrateMode = "auto" | "wait" | "verify" | "off";

export interface MigrateSettings {
  readonly log: Logger;
  readonly mode: MigrateMode;
  /** Program version for the error of an older program. */
  readonly product?: string;
  readonly clock?: Clock;
  readonly lockTimeoutMs?: number;
  /** Ends `wait`. */
  readonly signal?: AbortSignal;
}

/** A list of migrations and the table that records the applied ones. */
export interface Track {
  readonly table: string;
  readonly migrations: readonly Migration[];
  /** Common table names: if they exist without `table`, another program owns them. */
  readonly common?: readonly string[];
}

const COMMON = ["users", "options", "channels", "tokens", "sessions", "tasks", "jobs", "setups", "ledger"];
const MAIN: Track = { table: "schema_versions", migrations: MIGRATIONS, common: COMMON };
const LOGS: Track = { table: "log_schema_versions", migrations: LOG_MIGRATIONS, common: ["logs"] };
const WAIT_MS = 1_000;
const LOCK_TIMEOUT_MS = 120_000;

/** Migrates the main database; its `logs` stays empty with a separate log database. */
export function migrate(database: Database, settings: MigrateSettings): Promise<void> {
  return migrateTracks(database, [MAIN, LOGS], settings);
}

/** Migrates a separate log database. */
export function migrateLogs(database: Database, settings: MigrateSettings): Promise<void> {
  return migrateTracks(database, [LOGS], settings);
}

export async function migrateTracks(
  database: Database,
  tracks: readonly Track[],
  settings: MigrateSettings,
): Promise<void> {
  const { mode, log, signal } = settings;
  switch (mode) {
    case "off":
      return;
    case "auto":
      // Most starts find nothing to do and need no lock.
      if (!(await missing(database, tracks, log))) return;
      await refuseForeign(database, tracks);
      return withMigrationLock(database, settings.lockTimeoutMs ?? LOCK_TIMEOUT_MS, (db) =>
        apply(db, database.kind, tracks, settings),
      );
    case "verify": {
      const lack = await missing(database, tracks, log);
      if (lack)
        throw new SchemaError(
          `the database has not had the change ${lack} yet: start one process with FAIRWAY_MIGRATE=auto`,
        );
      return;
    }
    case "wait":
      for (let isLogged = false; ; isLogged = true) {
        const lack = await missing(database, tracks, log);
        if (!lack) return;
        if (!isLogged) log.info("waiting for the database schema", { missing: lack });
        signal?.throwIfAborted();
        await pause(WAIT_MS);
      }
  }
}

/** Returns the first missing migration as `table version name`. Throws if the schema is newer than this program. */
async function missing({ db, kind }: Database, tracks: readonly Track[], log: Logger): Promise<string | undefined> {
  let first: string | undefined;
  for (const track of tracks) {
    const done = await readDone(db, kind, track);
    refuseFuture(track, done, log);
    const next = track.migrations.find((migration) => !done.has(migration.version));
    if (next) first ??= `${track.table} ${next.version} ${next.name}`;
  }
  return first;
}

async function apply(
  db: Kysely<Schema>,
  kind: DatabaseKind,
  tracks: readonly Track[],
  settings: MigrateSettings,
): Promise<void> {
  await refuseForeign({ db, kind }, tracks);
  for (const track of tracks) {
    await createTrack(db, kind, track);
    const done = await readDone(db, kind, track);
    refuseFuture(track, done, settings.log);
    for (const migration of track.migrations) {
      if (!done.has(migration.version)) await applyOne(db, kind, { track, migration, settings });
    }
  }
}

interface PendingMigration {
  readonly track: Track;
  readonly migration: Migration;
  readonly settings: MigrateSettings;
}

async function applyOne(
  db: Kysely<Schema>,
  kind: DatabaseKind,
  { track, migration, settings }: PendingMigration,
): Promise<void> {
  const startedAt = performance.now();
  // PostgreSQL runs a migration in a transaction; SQLite is in the transaction of the lock; MySQL has no transactional
  // DDL.
  if (kind === "postgres") await command(db, "begin");
  try {
    for (const step of migration.steps) await step(createContext(db, kind));
    const { product = "", clock = systemClock } = settings;
    await sql`insert into ${sql.table(track.table)} (version, name, is_breaking, product, applied_at)
      values (${migration.version}, ${migration.name}, ${migration.isBreaking ? 1 : 0}, ${product}, ${Math.floor(clock.now() / 1000)})`.execute(
      db,
    );
    if (kind === "postgres") await command(db, "commit");
  } catch (error) {
    if (kind === "postgres") await command(db, "rollback");
    throw error;
  }
  settings.log.info("database schema changed", {
    table: track.table,
    version: migration.version,
    change: migration.name,
    ms: Math.round(performance.now() - startedAt),
  });
}

interface Done {
  readonly version: number;
  readonly is_breaking: number;
  readonly product: string;
}

async function readDone(db: Kysely<Schema>, kind: DatabaseKind, track: Track): Promise<ReadonlyMap<number, Done>> {
  if (!(await hasTable(db, kind, track.table))) return new Map();
  const { rows } = await sql<Done>`select version, is_breaking, product from ${sql.table(track.table)}`.execute(db);
  return new Map(rows.map((row) => [row.version, row]));
}

/**
 * Refuses schemas of later programs. Added tables and columns are compatible with older programs during a rolling
 * update; removals are not.
 */
function refuseFuture(track: Track, done: ReadonlyMap<number, Done>, log: Logger): void {
  const known = Math.max(0, ...track.migrations.map((migration) => migration.version));
  const future = [...done.values()].filter((row) => row.version > known).sort((a, b) => a.version - b.version);
  const breaking = future.find((row) => row.is_breaking !== 0);
  if (breaking) {
    throw new SchemaError(
      `the database schema is newer than this program: it has change ${breaking.version} of ${track.table} from version ${breaking.product}, this program knows ${known}; start version ${breaking.product} or newer, or restore the backup from before that update`,
    );
  }
  if (future.length > 0)
    log.warn("database schema is newer than this program", {
      table: track.table,
      known,
      found: future.at(-1)?.version,
    });
}

/** Refuses databases of compatible gateways, which use the same table names with different columns. */
async function refuseForeign(database: Pick<Database, "db" | "kind">, tracks: readonly Track[]): Promise<void> {
  const variable = tracks[0] === LOGS ? "FAIRWAY_LOG_DATABASE_URL" : "FAIRWAY_DATABASE_URL";
  for (const track of tracks) {
    const table = await findForeign(database, track);
    if (table === undefined) continue;
    throw new SchemaError(
      `the database holds tables of another program, such as ${table}: name an empty database in ${variable}`,
    );
  }
}

/**
 * Returns a table that exists although no migration has run. A process that migrates at the same time creates the list
 * of migrations before its first table, so the list is read again.
 */
async function findForeign({ db, kind }: Pick<Database, "db" | "kind">, track: Track): Promise<string | undefined> {
  if (await hasTable(db, kind, track.table)) return undefined;
  for (const table of track.common ?? []) {
    if (await hasTable(db, kind, table)) return (await hasTable(db, kind, track.table)) ? undefined : table;
  }
  return undefined;
}

async function createTrack(db: Kysely<Schema>, kind: DatabaseKind, track: Track): Promise<void> {
  const columns = {
    version: integer(),
    name: text(64),
    is_breaking: integer(),
    product: text(64),
    applied_at: bigint(),
  };
  for (const statement of createTable(kind, track.table, { columns, primaryKey: ["version"] }))
    await command(db, statement);
}

function createContext(db: Kysely<Schema>, kind: DatabaseKind): StepContext {
  return {
    kind,
    run: (statement) => command(db, statement),
    hasRows: async (table) => (await sql`select 1 from ${sql.table(table)} limit 1`.execute(db)).rows.length > 0,
    has: async (query) => (await db.executeQuery(CompiledQuery.raw(`${query} limit 1`))).rows.length > 0,
    rows: async <Row>(query: string) => (await db.executeQuery(CompiledQuery.raw(query))).rows as Row[],
    hasText: async (table, column, text) =>
      (await sql`select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${text} limit 1`.execute(db)).rows
        .length > 0,
    setText: async (table, id, column, text) => {
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${text} where id = ${id}`.execute(db);
    },
    hasColumn: (table, column) => hasColumn(db, kind, table, column),
    hasIndex: (table, index) => hasIndex(db, kind, table, index),
  };
}

async function command(db: Kysely<Schema>, text: string): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(text));
}
