import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Env } from "./config/env.ts";
import { systemClock } from "./lib/clock.ts";
import type { Secret } from "./lib/secret.ts";
import type { Logger } from "./observability/log.ts";
import { openDatabase, type Database } from "./storage/database.ts";
import { isReadOnly } from "./storage/errors.ts";
import { migrate, migrateLogs } from "./storage/migrate.ts";
import { verifyVault } from "./storage/reseal.ts";
import { createVault, keysFromFile, type Vault } from "./storage/secrets.ts";
import { VERSION } from "./version.ts";

/** A dependency or a setting does not allow the start; the message names the variable and the cure. */
export class StartError extends Error {
  override readonly name = "StartError";
}

export interface AppStorage {
  readonly database: Database;
  /** The main database unless logs have their own. */
  readonly logDatabase: Database;
  readonly isLogSeparate: boolean;
  readonly vault: Vault;
  close(): Promise<void>;
}

/** Opens and migrates the databases and proves that their secrets can be read. Throws StartError. */
export async function openStorage(env: Env, log: Logger): Promise<AppStorage> {
  const vault = createVault({ keys: keysOf(env) });
  const database = await connect("FAIRWAY_DATABASE_URL", env.databaseUrl, env, log);
  const settings = { log, mode: env.migrate, product: VERSION, clock: systemClock };
  await prepare("FAIRWAY_DATABASE_URL", database, { table: "revisions", migrated: () => migrate(database, settings) });
  const logDatabase = env.logDatabaseUrl
    ? await connect("FAIRWAY_LOG_DATABASE_URL", env.logDatabaseUrl, env, log)
    : database;
  const isLogSeparate = logDatabase !== database;
  if (isLogSeparate) {
    const migrated = () => migrateLogs(logDatabase, settings);
    await prepare("FAIRWAY_LOG_DATABASE_URL", logDatabase, { table: "logs", migrated });
  }
  await verifyVault(database, vault);
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

function keysOf(env: Env): ReturnType<typeof keysFromFile> {
  if (env.encryptionKeys) return [...env.encryptionKeys];
  if (env.isEmbedded) return keysFromFile(env.dataDir);
  throw new StartError(
    "FAIRWAY_ENCRYPTION_KEY is missing: every replica needs the same one, for example the output of `openssl rand -hex 32`",
  );
}

async function connect(variable: string, url: Secret, env: Env, log: Logger): Promise<Database> {
  makeFolder(url.reveal());
  try {
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
    throw new StartError(
      `the database of ${variable} cannot be reached (${reasonOf(cause)}): start it, or correct the variable`,
      { cause },
    );
  }
}

interface Preparing {
  /** One that is there afterwards. */
  readonly table: "revisions" | "logs";
  readonly migrated: () => Promise<void>;
}

/** Brings the schema up to date and proves that rows can be written. */
async function prepare(variable: string, { raw }: Database, { table, migrated }: Preparing): Promise<void> {
  try {
    await migrated();
    await raw.run(`delete from ${table} where 1 = 0`, []);
  } catch (cause) {
    throw isReadOnly(cause) ? readOnly(variable, cause) : cause;
  }
}

function readOnly(variable: string, cause: unknown): StartError {
  const cure = "name the primary, or let it take writes";
  return new StartError(`the database of ${variable} is read-only (${reasonOf(cause)}): ${cure}`, { cause });
}

/** Of several addresses that were tried there is a code and no message. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const code = "code" in cause ? String(cause.code) : "";
  return [code, cause.message].filter((text) => text !== "").join(": ");
}

function makeFolder(url: string): void {
  if (!url.startsWith("sqlite:") || url.includes(":memory:")) return;
  const path = url.slice("sqlite:".length).replace(/^\/\/(?=\/)/, "");
  mkdirSync(join(dirname(path)), { recursive: true, mode: 0o700 });
}
