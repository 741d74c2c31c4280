import { sql } from "kysely";
import { seconds } from "../../../lib/clock.ts";
import { newestLogId } from "../../../storage/newest-log.ts";
import { DAY, HOUR } from "../../statistics/dimensions.ts";
import { ROLLUP_GAP, ROLLUP_MARK } from "../../usage-data/rollup.ts";
import { hasErrorFilter, modelConditions, whoConditions, type LogQuery, type Period } from "../filter.ts";
import { findOldestTime } from "./oldest-rows.ts";
import type { SumsDeps } from "./sums-deps.ts";

/** With fewer hours than this, reading the rows is as quick. */
const FEWEST_HOURS = 2;
/** Maximum number of rows that the sums may be behind; otherwise only the rows are read. */
export const MAX_BEHIND = 200_000;

/** Hours from the first second of `from` until before `to`. */
export type Hours = Period;

/** Returns whether the hourly sums have all columns of a filter. */
export function isSummed(query: LogQuery): boolean {
  const { token_name, token_id, tokens, channel, group, request_id, min_use_time, is_stream, has_retry } = query;
  const isOfToken = token_name !== "" || token_id > 0 || tokens.length > 0;
  const isOfRows = isOfToken || channel > 0 || group !== "" || request_id !== "";
  return (
    !isOfRows &&
    !hasCallFilter(query) &&
    !hasErrorFilter(query) &&
    min_use_time <= 0 &&
    is_stream === undefined &&
    has_retry === undefined
  );
}

/** Returns whether a filter has a part that only rows know: who used a key, and what a call was for. */
function hasCallFilter({ actor, tags, end_user: endUser }: LogQuery): boolean {
  return actor !== undefined || tags !== "" || endUser !== "";
}

export function hasUser({ ownerId, user_id, username }: LogQuery): boolean {
  return ownerId !== undefined || user_id > 0 || username !== "";
}

/** Returns the models of a filter; "some" if it does not name them. */
export function resolveModels({ model_name, models }: LogQuery): "all" | "some" | readonly string[] {
  if (model_name === "") return models.length === 0 ? "all" : models;
  return models.length > 0 || model_name.includes("%") ? "some" : [model_name];
}

/** Returns the past hours of a period that the hourly sums cover completely and that have no deleted row. */
export async function wholeHours(deps: SumsDeps, { from, to }: Period): Promise<Hours | undefined> {
  const [oldest, gap] = await Promise.all([findOldestTime(deps), readGapTime(deps, ROLLUP_GAP)]);
  if (oldest === undefined) return undefined;
  const hours = { from: roundUp(Math.max(from, oldest, gap), HOUR), to: calculatePastEnd(deps, to, HOUR) };
  return hours.to - hours.from >= FEWEST_HOURS * HOUR ? hours : undefined;
}

export function roundUp(time: number, step: number): number {
  return Math.ceil(time / step) * step;
}

/** Returns the end of the last whole past interval of a period. */
export function calculatePastEnd({ clock }: SumsDeps, to: number, step: number): number {
  const now = seconds(clock);
  return Math.floor((to > 0 ? Math.min(to + 1, now) : now) / step) * step;
}

/** Returns the time up to which sums may lack rows. */
export async function readGapTime({ sums }: SumsDeps, topic: string): Promise<number> {
  const gap = await sums.db.selectFrom("revisions").select("revision").where("topic", "=", topic).executeTakeFirst();
  return gap?.revision ?? 0;
}

/** Selects the sums of the filter in these hours. */
export function summed({ sums }: SumsDeps, query: LogQuery, { from, to }: Hours) {
  return sums.db
    .selectFrom("quota_data")
    .where("created_at", ">=", from)
    .where("created_at", "<", to)
    .where((eb) => eb.and([...whoConditions(eb, query), ...modelConditions(eb, query)]));
}

/** Selects the id of the last row in the sums; in the statement that reads the sums, it belongs to them. */
export function selectMark(topic: string) {
  return sql<number>`(select revision from revisions where topic = ${topic})`.as("mark");
}

/** The mark of the hourly sums. */
export const sumsMark = sql<number | null>`(select revision from revisions where topic = ${ROLLUP_MARK})`;

/** Returns whether the rows after the mark are few enough to be read. */
export async function isNearby(deps: SumsDeps, mark: number): Promise<boolean> {
  return ((await rowsBehind(deps, mark)) ?? Infinity) <= MAX_BEHIND;
}

/**
 * Returns the approximate number of ids after the mark; undefined if the sums belong to another log. The newest row of
 * these days nearly always suffices: PostgreSQL would plan the search for the highest id over every partition.
 */
export async function rowsBehind({ database, clock }: SumsDeps, mark: number): Promise<number | undefined> {
  const now = seconds(clock);
  const recent = await database.db
    .selectFrom("logs")
    .select("id")
    .where("created_at", ">=", now - DAY)
    .where("created_at", "<=", now + DAY)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  const newest = recent && recent.id >= mark ? recent.id : await newestLogId(database);
  return newest >= mark ? newest - mark : undefined;
}
