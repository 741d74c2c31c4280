import { LOG_SCAN_CAP, LOG_TOTAL_CAP, LOG_TYPE, TEST_TOKEN_NAME } from "@fairway/wire";
import { sql, type Kysely } from "kysely";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { LogDatabase } from "../../storage/log-database.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { needsScan, toPeriod, type LogQuery } from "./filter.ts";
import { matching, perModel } from "./rows.ts";
import { PART_ROWS, splitPeriod, slicePeriod } from "./slices.ts";

/** Maximum number of parts that a count reads without an index, so that a page does not wait for the number. */
const SCANNED_PARTS = LOG_SCAN_CAP / PART_ROWS;
const RATE_WINDOW_SECONDS = 60;

/**
 * Counts the matching rows up to `LOG_TOTAL_CAP`; if rows have to be read to be excluded, only the newest
 * `LOG_SCAN_CAP` are counted.
 */
export async function countRows(database: LogDatabase, query: LogQuery): Promise<number> {
  let total = 0;
  for (const one of perModel(query)) {
    total += await countUpTo(database, one, LOG_TOTAL_CAP - total);
    if (total >= LOG_TOTAL_CAP) break;
  }
  return total;
}

async function countUpTo(database: LogDatabase, query: LogQuery, cap: number): Promise<number> {
  const { db } = database;
  const isScan = needsScan(query);
  let left = isScan ? SCANNED_PARTS : Number.POSITIVE_INFINITY;
  let total = 0;
  for await (const part of (isScan ? splitPeriod : slicePeriod)(database, query, toPeriod(query))) {
    const some = matching(db, query, part)
      .select(sql<number>`1`.as("one"))
      .limit(cap - total);
    const row = await db
      .selectFrom(some.as("some"))
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    total += Number(row.count);
    left -= 1;
    if (total >= cap || left === 0) break;
  }
  return total;
}

/**
 * Returns the calls and tokens of the last minute, whatever period and type the filter has; tests of channels do not
 * count as calls.
 */
export async function readRates(
  db: Kysely<Schema>,
  query: LogQuery,
  clock: Clock,
): Promise<{ rpm: number; tpm: number }> {
  const since = { from: seconds(clock) - RATE_WINDOW_SECONDS, to: 0 };
  const isCall = sql<number>`case when token_name = ${TEST_TOKEN_NAME} then 0 else 1 end`;
  // An index has the rows of each type, but not of both.
  const [answered, failed] = await Promise.all([
    matching(db, { ...query, type: LOG_TYPE.consume }, since)
      .select((eb) => [
        eb.fn.sum<number | null>(isCall).as("calls"),
        eb.fn.sum<number | null>("prompt_tokens").as("input"),
        eb.fn.sum<number | null>("completion_tokens").as("output"),
      ])
      .executeTakeFirstOrThrow(),
    matching(db, { ...query, type: LOG_TYPE.error }, since)
      .select((eb) => eb.fn.countAll<number>().as("calls"))
      .executeTakeFirstOrThrow(),
  ]);
  return {
    rpm: Number(answered.calls ?? 0) + Number(failed.calls),
    tpm: Number(answered.input ?? 0) + Number(answered.output ?? 0),
  };
}
