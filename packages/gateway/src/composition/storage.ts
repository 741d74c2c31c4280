import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Env } from "../config/env.ts";
import type { SeparateLog } from "../billing/ledger/log-outbox.ts";
import { ANSWER_MS, withinTime } from "../lib/async/time-limit.ts";
import { systemClock } from "../lib/clock.ts";
import { isClickhouseUrl } from "../lib/net/clickhouse-address.ts";
import type { Secret } from "../lib/secret.ts";
import type { Logger } from "../observability/log.ts";
import { describeError } from "../observability/reason.ts";
import { explainRefusal } from "../storage/clickhouse/errors.ts";
import { openDatabase, sqlitePath, type Database } from "../storage/database.ts";
import type { LogDatabase } from "../storage/log-database.ts";
import {
  isDenied,
  isFull,
  isLoginRefused,
  isNoDatabase,
  isSettingRefused,
  isPassing,
  isReadOnly,
} from "../storage/errors.ts";
import { migrate, migrateLogs } from "../storage/schema/migrate.ts";
import { verifyVault } from "../storage/secrets/reseal.ts";
import { tooOld } from "../storage/engines/server-version.ts";
import { ownFile } from "../storage/engines/sqlite.ts";
import { createVault, keysFromFile, VaultError, type Vault } from "../storage/secrets/secrets.ts";
import { VERSION } from "../version.ts";

/** A dependency or a setting prevents the start; the message names the variable and the solution. */
export class StartError extends Error {
  override readonly name = "StartError";
}

export interface AppStorage {
  readonly database: Database;
  /** The main database unless logs have their own. */
  readonly logDatabase: LogDatabase;
  readonly isLogSeparate: boolean;
  readonly vault: Vault;
  close(): Promise<void>;
}

/** Opens and migrates the databases and checks that their secrets can be read. Throws StartError. */
export async function openStorage(env: Env, log: Logger): Promise<AppStorage> {
  const vault = createVault({ keys: loadKeys(env) });
  const database = await connect("FAIRWAY_DATABASE_URL", env.databaseUrl, env, log);
  const settings = { log, mode: env.migrate, product: VERSION, clock: systemClock };
  await prepare("FAIRWAY_DATABASE_URL", database, { table: "revisions", migrated: () => migrate(database, settings) });
  const logDatabase = env.logDatabaseUrl ? await openLogDatabase(env.logDatabaseUrl, env, settings) : database;
  const isLogSeparate = logDatabase !== database;
  await answered("FAIRWAY_DATABASE_URL", () => verifyVault(database, vault));
  return {
    database,
    logDatabase,
    isLogSeparate,
    vault,
    async close() {
      if (isLogSeparate) await logDatabase.close();
      await database.close();
    },
  };
}

/** Returns the log for a ledger; nothing if it is in the main database. */
export function separateLog({ logDatabase, isLogSeparate }: Pick<AppStorage, "logDatabase" | "isLogSeparate">): {
  logDatabase?: SeparateLog;
} {
  if (!isLogSeparate) return {};
  return { logDatabase: logDatabase.kind === "clickhouse" ? logDatabase : logDatabase.raw };
}

type MigrateSettings = Parameters<typeof migrateLogs>[1];

async function openLogDatabase(url: Secret, env: Env, settings: MigrateSettings): Promise<LogDatabase> {
  const variable = "FAIRWAY_LOG_DATABASE_URL";
  if (isClickhouseUrl(url.reveal())) return openClickhouseLog(variable, url, env, settings.log);
  const database = await connect(variable, url, env, settings.log);
  await prepare(variable, database, { table: "logs", migrated: () => migrateLogs(database, settings) });
  return database;
}

/** Calls do not need ClickHouse, so the gateway starts without it; rows wait in the main database. */
async function openClickhouseLog(variable: string, url: Secret, env: Env, log: Logger): Promise<LogDatabase> {
  const { openClickhouse } = await import("../storage/clickhouse/open.ts");
  const logs = await openClickhouse({ url: url.reveal(), connections: env.databaseConnections });
  try {
    await withinTime(ANSWER_MS, () => logs.prepare());
  } catch (cause) {
    const cure = explainRefusal(cause);
    if (cure !== undefined) {
      await logs.close();
      throw new StartError(`the database of ${variable} cannot be used (${describeError(cause)}): ${cure}`, { cause });
    }
    log.warn("ClickHouse does not answer: log rows wait in the main database", { error: cause });
  }
  return logs;
}

/**
 * Takes ownership for a process that serves alone: it ends the reservations of the process before it, which must no
 * longer run.
 */
export async function ownStorage(env: Env, storage: AppStorage): Promise<AppStorage> {
  const path = sqlitePath(env.databaseUrl.reveal());
  const release = await ownFile(path);
  if (release)
    return {
      ...storage,
      async close() {
        await storage.close();
        release();
      },
    };
  await storage.close();
  throw new StartError(
    `another gateway serves from ${path}: stop it, or give this one a FAIRWAY_DATA_DIR of its own; several need a database server`,
  );
}

function loadKeys(env: Env): ReturnType<typeof keysFromFile> {
  if (env.encryptionKeys) return [...env.encryptionKeys];
  if (env.isEmbedded) return loadFolderKeys(env.dataDir);
  throw new StartError(
    "FAIRWAY_ENCRYPTION_KEY is missing: every replica needs the same one, for example the output of `openssl rand -hex 32`",
  );
}

function loadFolderKeys(dataDir: string): ReturnType<typeof keysFromFile> {
  try {
    return keysFromFile(dataDir);
  } catch (cause) {
    if (cause instanceof VaultError) throw cause;
    throw new StartError(
      `no encryption key can be stored in ${dataDir} (${describeError(cause)}): make FAIRWAY_DATA_DIR a folder that the account of this process may write`,
      { cause },
    );
  }
}

async function connect(variable: string, url: Secret, env: Env, log: Logger): Promise<Database> {
  const database = await reach(variable, url, env, log);
  const old = await answered(variable, () => tooOld(database.raw));
  if (old === undefined) return database;
  await database.close();
  throw new StartError(`the database of ${variable} is ${old}`);
}

async function reach(variable: string, url: Secret, env: Env, log: Logger): Promise<Database> {
  try {
    makeFolder(url.reveal());
    const database = openDatabase({
      url: url.reveal(),
      log,
      connections: env.databaseConnections,
      sqliteSync: env.sqliteSync,
    });
    await database.ping();
    return database;
  } catch (cause) {
    if (isReadOnly(cause)) throw readOnly(variable, cause);
    const [fault, cure] = url.reveal().startsWith("sqlite:")
      ? ["opened", `${LET_WRITE}, make room on its disk`]
      : refusedBy(cause);
    throw new StartError(
      `the database of ${variable} cannot be ${fault} (${describeError(cause)}): ${cure}, or correct the variable`,
      { cause },
    );
  }
}

const SESSION_POOL =
  "let the pooler lend connections for a session and pass that setting (PgBouncer: pool_mode = session and ignore_startup_parameters = idle_in_transaction_session_timeout), or name the server behind it";

function refusedBy(cause: unknown): readonly [string, string] {
  if (isSettingRefused(cause)) return ["used", SESSION_POOL];
  if (isLoginRefused(cause)) return ["used", "the server refuses the user name or password: give the account that one"];
  if (isNoDatabase(cause)) return ["used", "make the database and let the account use it"];
  return ["reached", "start it"];
}

interface Preparing {
  /** A table that exists after the migration. */
  readonly table: "revisions" | "logs";
  readonly migrated: () => Promise<void>;
}

/** Migrates the schema and checks that rows can be written. */
async function prepare(variable: string, database: Database, { table, migrated }: Preparing): Promise<void> {
  try {
    await answered(variable, migrated);
    await answered(variable, () => database.check(table));
  } catch (cause) {
    if (isReadOnly(cause)) throw readOnly(variable, cause);
    if (!isDenied(cause)) throw cause;
    throw new StartError(
      `the account of ${variable} has too few rights (${describeError(cause)}): let it create and change tables there, or own the database`,
      { cause },
    );
  }
}

/** Runs work on a connected database, which may still be too slow or disconnect. */
async function answered<T>(variable: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!isPassing(cause) || isReadOnly(cause) || isFull(cause)) throw cause;
    throw new StartError(
      `the database of ${variable} stopped answering (${describeError(cause)}): check that it runs and is not overloaded, then start again`,
      { cause },
    );
  }
}

const LET_WRITE = "let the account of this process write it and its folder";

function readOnly(variable: string, cause: unknown): StartError {
  const isFile = cause instanceof Error && "code" in cause && cause.code === "ERR_SQLITE_ERROR";
  const cure = isFile ? LET_WRITE : "name the primary, or let it take writes";
  return new StartError(`the database of ${variable} is read-only (${describeError(cause)}): ${cure}`, { cause });
}

function makeFolder(url: string): void {
  if (!url.startsWith("sqlite:") || url.includes(":memory:")) return;
  const path = url.slice("sqlite:".length).replace(/^\/\/(?=\/)/, "");
  mkdirSync(join(dirname(path)), { recursive: true, mode: 0o700 });
}
