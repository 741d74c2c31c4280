import { LOG_SCAN_CAP, LOG_TOTAL_CAP, LOG_TYPE } from "@fairway/wire";
import { sql, type Kysely } from "kysely";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import type { Schema } from "../../storage/schema/schema.ts";
import { needsScan, periodOf, type LogQuery } from "./filter.ts";
import { matching, perModel } from "./rows.ts";
import { PART_ROWS, partsOf, slicesOf } from "./slices.ts";

/** Most rows that a count reads without an index, so that a page does not wait for a number. */
const SCANNED_PARTS = LOG_SCAN_CAP / PART_ROWS;
const RATE_WINDOW_SECONDS = 60;

/** Matching rows, counted up to `LOG_TOTAL_CAP`; where rows have to be read to be left out, among the newest `LOG_SCAN_CAP`. */
export async function countRows(database: Database, query: LogQuery): Promise<number> {
  let total = 0;
  for (const one of perModel(query)) {
    total += await countUpTo(database, one, LOG_TOTAL_CAP - total);
    if (total >= LOG_TOTAL_CAP) break;
  }
  return total;
}

async function countUpTo(database: Database, query: LogQuery, cap: number): Promise<number> {
  const { db } = database;
  const isScan = needsScan(query);
  let left = isScan ? SCANNED_PARTS : Number.POSITIVE_INFINITY;
  let total = 0;
  for await (const part of (isScan ? partsOf : slicesOf)(database, query, periodOf(query))) {
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

/** Calls and tokens of the last minute, whatever period the filter names. */
export async function readRates(
  db: Kysely<Schema>,
  query: LogQuery,
  clock: Clock,
): Promise<{ rpm: number; tpm: number }> {
  const consumption = { ...query, type: LOG_TYPE.consume };
  const row = await matching(db, consumption, { from: seconds(clock) - RATE_WINDOW_SECONDS, to: 0 })
    .select((eb) => [
      eb.fn.countAll<number>().as("rpm"),
      eb.fn.sum<number | null>("prompt_tokens").as("input"),
      eb.fn.sum<number | null>("completion_tokens").as("output"),
    ])
    .executeTakeFirstOrThrow();
  return { rpm: Number(row.rpm), tpm: Number(row.input ?? 0) + Number(row.output ?? 0) };
}
