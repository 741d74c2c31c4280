import { openStorage } from "../composition/storage.ts";
import { reseal as resealAll } from "../storage/secrets/reseal.ts";
import { readFlags } from "./arguments.ts";
import type { CommandContext } from "./context.ts";

export const MIGRATE_USAGE = "fairway-gateway migrate";
export const RESEAL_USAGE = "fairway-gateway reseal";

/** Brings the databases to this program's schema, whatever FAIRWAY_MIGRATE says to programs that serve. */
export async function migrate(args: readonly string[], { env, log, print }: CommandContext): Promise<void> {
  readFlags(args, {}, MIGRATE_USAGE);
  const storage = await openStorage({ ...env, migrate: "auto" }, log);
  await storage.close();
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
