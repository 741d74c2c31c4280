import { openStorage } from "../composition/storage.ts";
import { systemClock } from "../lib/clock.ts";
import { readFlags, UsageError } from "./arguments.ts";
import { writeDump } from "./dump/write.ts";
import type { CommandContext } from "./context.ts";

export const EXPORT_USAGE = "fairway-gateway export --dir FOLDER";

/** Writes every row to files. Sealed values stay sealed: the import needs the same encryption keys. */
export async function exportAll(args: readonly string[], { env, log, print }: CommandContext): Promise<void> {
  const { dir } = readFlags(args, { dir: "string" }, EXPORT_USAGE);
  if (dir === undefined) throw new UsageError(EXPORT_USAGE);
  const storage = await openStorage(env, log);
  try {
    const counts = await writeDump({ ...storage, dir, clock: systemClock });
    for (const [table, rows] of Object.entries(counts)) print(`${table}: ${rows} rows`);
    print(`Written to ${dir}. Keep it as safe as the database; reading it back needs the same FAIRWAY_ENCRYPTION_KEY.`);
  } finally {
    await storage.close();
  }
}
