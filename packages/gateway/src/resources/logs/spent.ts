import { LOG_TYPE } from "@fairway/wire";
import { toPeriod, type LogQuery, type Period } from "./filter.ts";
import { isNearby, isSummed, summed, sumsMark, wholeHours, type Hours } from "./counts/hours.ts";
import type { SumsDeps } from "./counts/sums-deps.ts";
import { matching } from "./rows.ts";
import { slicePeriod } from "./slices.ts";

/**
 * Returns the quota of the consumption rows of the period, whatever type the filter has. Whole hours come from the
 * hourly sums if these cover the filter; the rest is read from the rows.
 */
export async function sumQuota(deps: SumsDeps, query: LogQuery): Promise<number> {
  const period = toPeriod(query);
  const hours = isSummed(query) ? await wholeHours(deps, period) : undefined;
  const known = hours && (await readSums(deps, query, hours));
  if (!hours || !known) return sumRows(deps, query, period);
  const { from, to } = hours;
  const before = period.from < from ? await sumRows(deps, query, { from: period.from, to: from - 1 }) : 0;
  const after = period.to === 0 || period.to >= to ? await sumRows(deps, query, { from: to, to: period.to }) : 0;
  return before + known.quota + (await sumNewest(deps, query, { hours, mark: known.mark })) + after;
}

/**
 * Reads sum and mark in one statement, so that they belong to the same moment. Returns undefined if the sums are far
 * behind.
 */
async function readSums(
  deps: SumsDeps,
  query: LogQuery,
  hours: Hours,
): Promise<{ readonly quota: number; readonly mark: number } | undefined> {
  const row = await summed(deps, query, hours)
    .select((eb) => [eb.fn.sum<number | null>("quota").as("quota"), sumsMark.as("mark")])
    .executeTakeFirstOrThrow();
  const mark = Number(row.mark ?? 0);
  return (await isNearby(deps, mark)) ? { quota: Number(row.quota ?? 0), mark } : undefined;
}

async function sumRows({ database }: SumsDeps, query: LogQuery, period: Period): Promise<number> {
  const consumption = { ...query, type: LOG_TYPE.consume };
  let spent = 0;
  for await (const slice of slicePeriod(database, consumption, period)) {
    const row = await matching(database.db, consumption, slice)
      .select((eb) => eb.fn.sum<number | null>("quota").as("quota"))
      .executeTakeFirstOrThrow();
    spent += Number(row.quota ?? 0);
  }
  return spent;
}

/** Sums the rows of these hours that the hourly sums do not contain yet. */
async function sumNewest(
  { database }: SumsDeps,
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
