import { openStorage } from "../composition/storage.ts";
import { seconds, systemClock } from "../lib/clock.ts";
import type { LogDatabase } from "../storage/log-database.ts";
import { convertLogs } from "../storage/partitions/conversion.ts";
import { daysBetween, makePartitions } from "../storage/partitions/partitions.ts";
import { UsageError } from "./arguments.ts";
import type { CommandContext } from "./context.ts";
import { COPY_USAGE, copyToClickhouse } from "./logs-copy.ts";
import { saying } from "./progress.ts";

const DAY = 86_400;
/** Days for which partitions are created, for installations whose gateways may not change tables. */
const DAYS_AHEAD = 35;

const PARTITION_USAGE = "fairway-gateway logs partition";
export const LOGS_USAGE = `${PARTITION_USAGE}\n${COPY_USAGE}`;

/** Splits the log into daily partitions while gateways write to it, or copies it to ClickHouse. */
export async function logs([what, ...rest]: readonly string[], { env, log, print }: CommandContext): Promise<void> {
  if (what !== "copy" && (what !== "partition" || rest.length > 0)) throw new UsageError(LOGS_USAGE);
  const storage = await openStorage(env, log);
  try {
    if (what === "copy") await copyToClickhouse(rest, storage, { log, print });
    else await divide(storage.logDatabase, print);
  } finally {
    await storage.close();
  }
}

async function divide(logDatabase: LogDatabase, print: CommandContext["print"]): Promise<void> {
  if (logDatabase.kind === "clickhouse") throw new UsageError("ClickHouse divides the log by itself");
  if (logDatabase.kind === "sqlite")
    throw new UsageError("SQLite has no partitions: move to MariaDB, MySQL or PostgreSQL for a log of that size");
  const now = seconds(systemClock);
  const say = saying(print);
  const onStep = (copied: number, of: number) => say(`log rows up to id ${of.toLocaleString("en")} copied`, copied);
  const converted = await convertLogs({ database: logDatabase, now, onStep });
  if (!converted) {
    const ends = daysBetween(now, now + DAYS_AHEAD * DAY);
    const made = await makePartitions(logDatabase, { ends, maxMoved: Infinity });
    return print(`The log has its partitions: ${made} more were made, for the next ${DAYS_AHEAD} days.`);
  }
  print(`${converted.rows.toLocaleString("en")} log rows are in partitions by day.`);
  if (converted.isEqual) return;
  process.exitCode = 1;
  print(
    "The old table stays as logs_before, because rows were changed or deleted during the copy and the two differ: compare them, then drop it.",
  );
}
