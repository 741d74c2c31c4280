import { LOG_TYPE } from "@fairway/wire";
import { seconds } from "../../../lib/clock.ts";
import { HOUR } from "../../statistics/dimensions.ts";
import { whoConditions, type LogQuery, type Period } from "../filter.ts";
import { matching } from "../rows.ts";
import { hasUser, isSummed, resolveModels } from "./hours.ts";
import { NEAR_SECONDS } from "./oldest-rows.ts";
import type { SumsDeps } from "./sums-deps.ts";

type Direction = "asc" | "desc";

/** Returns the period of the filter; an open end becomes the first or last matching row. */
export async function closedPeriod(deps: SumsDeps, query: LogQuery): Promise<Period> {
  const { start_timestamp: start, end_timestamp: end } = query;
  const now = seconds(deps.clock);
  const [first, last] = await Promise.all([
    start > 0 ? start : findFirstTime(deps, query),
    resolveEndTime(deps, query, now),
  ]);
  const to = end > 0 ? last : last || now;
  if (start > 0) return { from: start, to: Math.max(start, to) };
  return { from: first ?? to, to };
}

/** Returns the time of the last row of an open period; 0 if there is none. */
async function resolveEndTime(deps: SumsDeps, query: LogQuery, now: number): Promise<number> {
  const { start_timestamp: start, end_timestamp: end } = query;
  if (end === 0) return (await findLastTime(deps, query)) ?? 0;
  if (end <= now) return end;
  // The time of a row may be later than the clock of this replica.
  return (await search(deps, query, { from: Math.max(start, now), to: end }, "desc")) ?? now;
}

async function findFirstTime(deps: SumsDeps, query: LogQuery): Promise<number | undefined> {
  const { end_timestamp: end } = query;
  const sum = await findSumTime(deps, query, "asc");
  const near = (sum ?? Infinity) + NEAR_SECONDS;
  const isNear = near < (end > 0 ? end : Infinity);
  const found = isNear ? await search(deps, query, { from: 0, to: near }, "asc") : undefined;
  return found ?? (await search(deps, query, { from: 0, to: end }, "asc"));
}

async function findLastTime(deps: SumsDeps, query: LogQuery): Promise<number | undefined> {
  const { start_timestamp: from } = query;
  const sum = await findSumTime(deps, query, "desc");
  const found = sum !== undefined && sum > from ? await search(deps, query, { from: sum, to: 0 }, "desc") : undefined;
  return found ?? (await search(deps, query, { from, to: 0 }, "desc"));
}

async function search({ database }: SumsDeps, query: LogQuery, period: Period, direction: Direction) {
  const rows = matching(database.db, query, period).select("created_at").limit(1);
  return (await rows.orderBy("created_at", direction).orderBy("id", direction).executeTakeFirst())?.created_at;
}

/**
 * Returns the start of the first or last hour with sums of the filter: the row is near it, so few partitions are
 * searched.
 */
async function findSumTime(deps: SumsDeps, query: LogQuery, direction: Direction): Promise<number | undefined> {
  if (!isSummed(query) || query.isNothing) return undefined;
  const models = resolveModels(query);
  if (hasUser(query)) return models === "all" ? findUserHour(deps, query, direction) : undefined;
  if (models === "all") return findLogHour(deps, query, { byModel: 0, model: "", direction });
  const [model, ...others] = models === "some" ? [] : models;
  if (model === undefined || others.length > 0) return undefined;
  return findLogHour(deps, query, { byModel: 1, model, direction });
}

async function findUserHour({ sums }: SumsDeps, query: LogQuery, direction: Direction): Promise<number | undefined> {
  const hour = await sums.db
    .selectFrom("facet_sums")
    .where((eb) => eb.and(whoConditions(eb, query)))
    .where("span", "=", HOUR)
    .$if(query.type > LOG_TYPE.unknown, (some) => some.where("type", "=", query.type))
    .select("start")
    .orderBy("start", direction)
    .limit(1)
    .executeTakeFirst();
  return hour?.start;
}

interface Wanted {
  readonly byModel: number;
  readonly model: string;
  readonly direction: Direction;
}

async function findLogHour({ sums }: SumsDeps, { type }: LogQuery, { byModel, model, direction }: Wanted) {
  const hour = await sums.db
    .selectFrom("log_sums")
    .where("by_model", "=", byModel)
    .where("model_name", "=", model)
    .where("span", "=", HOUR)
    .$if(type > LOG_TYPE.unknown, (some) => some.where("type", "=", type))
    .select("start")
    .orderBy("start", direction)
    .limit(1)
    .executeTakeFirst();
  return hour?.start;
}
