import { LOG_TYPE } from "@fairway/wire";
import { sql } from "kysely";
import { LOG_SUMS_GAP, LOG_SUMS_MARK } from "../../statistics/log-sums.ts";
import { within, type LogQuery, type Period } from "../filter.ts";
import { DAY, SLICE } from "../../statistics/dimensions.ts";
import type { SumsDeps } from "./sums-deps.ts";

/**
 * Sums are removed a day after their rows. Searching close to where a row is expected leaves few partitions of a large
 * log: PostgreSQL takes 50 ms to plan a search of all.
 */
export const NEAR_SECONDS = 2 * DAY;

/** Returns undefined for an empty log. */
export async function findOldestTime({ database, sums }: Omit<SumsDeps, "clock">): Promise<number | undefined> {
  const first = await sums.db.selectFrom("log_sums").select("start").orderBy("start").limit(1).executeTakeFirst();
  const rows = database.db.selectFrom("logs").select("created_at").orderBy("created_at").orderBy("id").limit(1);
  const near = first && (await rows.where("created_at", "<", first.start + NEAR_SECONDS).executeTakeFirst());
  return (near ?? (await rows.executeTakeFirst()))?.created_at;
}

/**
 * Finds the oldest failed call of a period that begins no earlier than the log. Returns a time after all others if
 * there is none, and 0 if the filter excludes failed calls.
 */
export async function findOldestErrorTime(
  { database }: SumsDeps,
  { type }: LogQuery,
  { from, to }: Period,
): Promise<number> {
  if (type > LOG_TYPE.unknown && type !== LOG_TYPE.error) return 0;
  const search = (period: Period) =>
    database.db
      .selectFrom("logs")
      .where("type", "=", LOG_TYPE.error)
      .where((eb) => within(eb, period))
      .select("created_at")
      .orderBy("created_at")
      .orderBy("id")
      .limit(1)
      .executeTakeFirst();
  const near = from + NEAR_SECONDS;
  const isShort = to > 0 && to < near;
  const found = isShort ? await search({ from, to }) : await search({ from, to: near - 1 });
  const oldest = found ?? (isShort ? undefined : await search({ from: near, to }));
  return oldest?.created_at ?? Number.MAX_SAFE_INTEGER;
}

/**
 * Returns whether the log still has all rows that were counted from a time on, given its oldest row. It does if the
 * sums up to there count as many rows as the log has in the five minutes of that row.
 */
export async function isWhole(
  { database, sums }: SumsDeps,
  { from, oldest, isOfErrors }: { readonly from: number; readonly oldest: number; readonly isOfErrors: boolean },
): Promise<boolean> {
  const slice = oldest - (oldest % SLICE);
  const operator = isOfErrors ? "=" : "<>";
  const counted = await sums.db
    .selectFrom("log_sums")
    .where("by_model", "=", 0)
    .where("model_name", "=", "")
    .where("span", "=", SLICE)
    .where("start", ">=", from)
    .where("start", "<=", slice)
    .where("type", operator, LOG_TYPE.error)
    .select((eb) => [
      eb.fn.sum<number | null>("log_rows").as("log_rows"),
      sql<number | null>`(select revision from revisions where topic = ${LOG_SUMS_MARK})`.as("mark"),
      sql<number | null>`(select revision from revisions where topic = ${LOG_SUMS_GAP})`.as("gap"),
    ])
    .executeTakeFirstOrThrow();
  if (Number(counted.gap ?? 0) > from) return false;
  const left = await database.db
    .selectFrom("logs")
    .where("created_at", ">=", slice)
    .where("created_at", "<", slice + SLICE)
    .where("id", "<=", Number(counted.mark ?? 0))
    .where("type", operator, LOG_TYPE.error)
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(counted.log_rows ?? 0) === Number(left.count);
}
