import { LOG_TYPE } from "@fairway/wire";
import { sql } from "kysely";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import { newestLogId } from "../../storage/log-removal.ts";
import { ROLLUP_GAP, ROLLUP_MARK } from "../usage-data/rollup.ts";
import { isOfErrors, periodOf, whoConditions, modelConditions, type LogQuery, type Period } from "./filter.ts";
import { matching } from "./rows.ts";
import { slicesOf } from "./slices.ts";

export interface SpentDeps {
  /** Holds `logs`. */
  readonly database: Database;
  /** Holds the hourly sums. */
  readonly sums: Database;
  readonly clock: Clock;
}

const HOUR = 3_600;
/** Below this many hours the rows themselves are as quick. */
const FEWEST_HOURS = 2;
/** Rows that the sums may be behind; with more of them the rows are read as a whole. */
const MOST_BEHIND = 200_000;

/**
 * Quota of the consumption rows of the period, whatever type the filter names. Whole hours come from the hourly sums
 * where they cover the filter; the rest is read from the rows.
 */
export async function sumQuota(deps: SpentDeps, query: LogQuery): Promise<number> {
  const period = periodOf(query);
  const hours = isSummed(query) ? await wholeHours(deps, period) : undefined;
  const known = hours && (await readSums(deps, query, hours));
  if (!hours || !known) return sumRows(deps, query, period);
  const { from, to } = hours;
  const before = period.from < from ? await sumRows(deps, query, { from: period.from, to: from - 1 }) : 0;
  const after = period.to === 0 || period.to >= to ? await sumRows(deps, query, { from: to, to: period.to }) : 0;
  return before + known.quota + (await sumNewest(deps, query, { hours, mark: known.mark })) + after;
}

function isSummed(query: LogQuery): boolean {
  const { token_name, tokens, channel, group, request_id, min_use_time, is_stream, has_retry } = query;
  const isOfRows = token_name !== "" || tokens.length > 0 || channel > 0 || group !== "" || request_id !== "";
  return !isOfRows && !isOfErrors(query) && min_use_time <= 0 && is_stream === undefined && has_retry === undefined;
}

/** Hours from the first second of `from` to the last before `to`. */
type Hours = Period;

/** The past hours of a period that the sums cover completely and that have no deleted row. */
async function wholeHours({ database, sums, clock }: SpentDeps, { from, to }: Period): Promise<Hours | undefined> {
  const oldest = await database.db
    .selectFrom("logs")
    .select("created_at")
    .orderBy("created_at")
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  if (!oldest) return undefined;
  const gap = await sums.db
    .selectFrom("revisions")
    .select("revision")
    .where("topic", "=", ROLLUP_GAP)
    .executeTakeFirst();
  const first = Math.ceil(Math.max(from, oldest.created_at, gap?.revision ?? 0) / HOUR) * HOUR;
  const now = seconds(clock);
  const end = Math.floor((to > 0 ? Math.min(to + 1, now) : now) / HOUR) * HOUR;
  return end - first >= FEWEST_HOURS * HOUR ? { from: first, to: end } : undefined;
}

/** Sum and mark of one moment: one statement reads both. Undefined when the sums are far behind. */
async function readSums(
  { database, sums }: SpentDeps,
  query: LogQuery,
  { from, to }: Hours,
): Promise<{ readonly quota: number; readonly mark: number } | undefined> {
  const row = await sums.db
    .selectFrom("quota_data")
    .where("created_at", ">=", from)
    .where("created_at", "<", to)
    .where((eb) => eb.and([...whoConditions(eb, query), ...modelConditions(eb, query)]))
    .select((eb) => [
      eb.fn.sum<number | null>("quota").as("quota"),
      sql<number | null>`(select revision from revisions where topic = ${ROLLUP_MARK})`.as("mark"),
    ])
    .executeTakeFirstOrThrow();
  const mark = Number(row.mark ?? 0);
  const behind = (await newestLogId(database.db)) - mark;
  return behind >= 0 && behind <= MOST_BEHIND ? { quota: Number(row.quota ?? 0), mark } : undefined;
}

async function sumRows({ database }: SpentDeps, query: LogQuery, period: Period): Promise<number> {
  const consumption = { ...query, type: LOG_TYPE.consume };
  let spent = 0;
  for await (const slice of slicesOf(database, consumption, period)) {
    const row = await matching(database.db, consumption, slice)
      .select((eb) => eb.fn.sum<number | null>("quota").as("quota"))
      .executeTakeFirstOrThrow();
    spent += Number(row.quota ?? 0);
  }
  return spent;
}

/** Rows of the hours that were written since the sums were made. */
async function sumNewest(
  { database }: SpentDeps,
  query: LogQuery,
  { hours, mark }: { readonly hours: Hours; readonly mark: number },
): Promise<number> {
  const newest = { ...query, type: LOG_TYPE.consume };
  const row = await matching(database.db, newest, { from: hours.from, to: hours.to - 1 })
    .where("id", ">", mark)
    .select((eb) => eb.fn.sum<number | null>("quota").as("quota"))
    .executeTakeFirstOrThrow();
  return Number(row.quota ?? 0);
}
