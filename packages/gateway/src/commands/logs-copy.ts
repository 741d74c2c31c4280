import type { AppStorage } from "../composition/storage.ts";
import { LOG_IDS } from "../billing/ledger/log-batches.ts";
import { STATISTICS_MARK } from "../resources/statistics/rollup.ts";
import { ROLLUP_MARK } from "../resources/usage-data/rollup.ts";
import { copyLogs } from "../storage/clickhouse/copy.ts";
import { openDatabase, type Database } from "../storage/database.ts";
import type { RawDatabase } from "../storage/engines/raw.ts";
import { newestLogId } from "../storage/newest-log.ts";
import { readFlags, UsageError } from "./arguments.ts";
import type { CommandContext } from "./context.ts";
import { saying } from "./progress.ts";

export const COPY_USAGE = "fairway-gateway logs copy [--from URL]";

/** Copies the rows of a database to the ClickHouse of `FAIRWAY_LOG_DATABASE_URL`. */
export async function copyToClickhouse(
  args: readonly string[],
  { database, logDatabase }: AppStorage,
  { log, print }: Pick<CommandContext, "log" | "print">,
): Promise<void> {
  const { from } = readFlags(args, { from: "string" }, COPY_USAGE);
  if (logDatabase.kind !== "clickhouse")
    throw new UsageError("rows are copied to ClickHouse: name it in FAIRWAY_LOG_DATABASE_URL");
  const source = from === undefined ? database : openDatabase({ url: from, log });
  try {
    await refuseEarly(database.raw, source);
    const say = saying(print);
    const onStep = (copied: number, of: number) => say(`log rows up to id ${of.toLocaleString("en")} copied`, copied);
    const { rows, isEqual } = await copyLogs({ source, target: logDatabase, main: database.raw, onStep });
    print(`${rows.toLocaleString("en")} log rows are in ClickHouse.`);
    if (isEqual) return;
    process.exitCode = 1;
    print(
      "The two logs differ, because rows were changed or deleted during the copy: stop the gateways, empty the table logs of ClickHouse, delete the row log-copy of the table revisions, and copy again.",
    );
  } finally {
    if (source !== database) await source.close();
  }
}

/**
 * The sums begin again with a log that is empty, and count every row above their marks. Rows that are copied below them
 * are not counted twice.
 */
async function refuseEarly(main: RawDatabase, source: Database): Promise<void> {
  const topics = [LOG_IDS, STATISTICS_MARK, ROLLUP_MARK];
  const sql = `select topic, revision from revisions where topic in (${topics.map(() => "?").join(", ")})`;
  const rows = await main.rows<{ topic: string; revision: number }>(sql, topics);
  if (!rows.some(({ topic }) => topic === LOG_IDS)) return;
  const newest = await newestLogId(source);
  if (rows.every(({ revision }) => Number(revision) >= newest)) return;
  throw new UsageError(
    "the gateways write to ClickHouse already, and the sums of the statistics are not past the rows to copy: let a gateway run for some minutes with calls, and start the copy again",
  );
}
