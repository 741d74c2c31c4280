import { createPasswords } from "../identity/passwords/passwords.ts";
import { firstStart } from "../identity/accounts/first-start.ts";
import { systemClock } from "../lib/clock.ts";
import { VERSION } from "../version.ts";
import { openStorage } from "../composition/storage.ts";
import { reseal as resealAll } from "../storage/secrets/reseal.ts";
import { readFlags } from "./arguments.ts";
import type { CommandContext } from "./context.ts";

export const MIGRATE_USAGE = "fairway-gateway migrate";
export const RESEAL_USAGE = "fairway-gateway reseal";

/**
 * Migrates the databases to this program's schema, whatever FAIRWAY_MIGRATE is set to for programs that serve. With
 * FAIRWAY_ROOT_PASSWORD, an empty database also gets its first account, so that those programs need no password.
 */
export async function migrate(args: readonly string[], { env, log, print }: CommandContext): Promise<void> {
  readFlags(args, {}, MIGRATE_USAGE);
  const { rootPassword, firstRetries } = env;
  const storage = await openStorage({ ...env, migrate: "auto" }, log);
  const place = { version: VERSION, host: "127.0.0.1", hasWizard: false, setupToken: undefined };
  const deps = { ...storage, ...place, clock: systemClock, log, passwords: createPasswords() };
  try {
    if (rootPassword) await firstStart({ ...deps, rootPassword, firstRetries });
  } finally {
    await storage.close();
  }
  print("The database has this program's schema.");
}

/** Seals every key and secret of the database with the newest key of FAIRWAY_ENCRYPTION_KEY. */
export async function reseal(args: readonly string[], { env, log, print }: CommandContext): Promise<void> {
  readFlags(args, {}, RESEAL_USAGE);
  const storage = await openStorage(env, log);
  try {
    const changed = await resealAll(storage.database, storage.vault);
    print(`${changed} texts sealed with the newest key; the others had it already.`);
  } finally {
    await storage.close();
  }
}
