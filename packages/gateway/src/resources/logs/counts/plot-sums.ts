import { LOG_TYPE } from "@fairway/wire";
import { FACET_MARK, LATER_SUMS_GAP } from "../../statistics/facet-sums.ts";
import { LOG_SUMS_GAP, LOG_SUMS_MARK } from "../../statistics/log-sums.ts";
import { modelConditions, whoConditions, type LogQuery, type Period } from "../filter.ts";
import { HOUR, SLICE } from "../../statistics/dimensions.ts";
import { hasUser, isSummed, selectMark, resolveModels } from "./hours.ts";
import type { SumsDeps } from "./sums-deps.ts";
import { coveredPeriod, type Covered } from "./covered-period.ts";
import { rowsOutside, type RowsPart } from "./row-parts.ts";

/** Number of rows of one type in an interval within one bucket. */
export interface PlotSum {
  readonly start: number;
  readonly type: number;
  readonly log_rows: number;
}

export interface PlotSums {
  readonly sums: readonly PlotSum[];
  /** Parts with rows that no sum contains. */
  readonly parts: readonly RowsPart[];
}

/** Returns the sums of a plot by time and type; undefined if they lack a column of the filter or most of the period. */
export async function readPlotSums(
  deps: SumsDeps,
  query: LogQuery,
  { period, interval }: { readonly period: Period; readonly interval: number },
): Promise<PlotSums | undefined> {
  const step = findStep(query, interval);
  if (step === undefined) return undefined;
  const isOfUser = hasUser(query);
  const gapTopic = isOfUser ? LATER_SUMS_GAP : LOG_SUMS_GAP;
  const covered = await coveredPeriod(deps, { query, period }, { gapTopic, step });
  if (!covered || (covered.hours.to - covered.hours.from) * 2 < period.to - period.from) return undefined;
  const rows = await (isOfUser ? ofUser(deps, query, covered) : ofLog(deps, query, { covered, step }));
  const [row] = rows;
  const parts = row && (await rowsOutside(deps, period, { covered, mark: Number(row.mark) }));
  return parts && { sums: rows, parts };
}

/**
 * Returns the interval in seconds of the sums that a bucket adds up; undefined if no sums have all columns of the
 * filter.
 */
function findStep(query: LogQuery, interval: number): number | undefined {
  const step = interval % HOUR === 0 ? HOUR : SLICE;
  if (interval % step !== 0 || !isSummed(query) || query.isNothing) return undefined;
  // The sums of a user are hourly and cover all models together.
  return hasUser(query) && (step !== HOUR || resolveModels(query) !== "all") ? undefined : step;
}

/** Both read the mark in the statement of the sums, so that it belongs to the same moment. */
function ofLog(
  { sums }: SumsDeps,
  query: LogQuery,
  { covered: { hours, errorsFrom }, step }: { readonly covered: Covered; readonly step: number },
) {
  const isOfAll = resolveModels(query) === "all";
  return sums.db
    .selectFrom("log_sums")
    .where("by_model", "=", isOfAll ? 0 : 1)
    .where((eb) => eb.and(isOfAll ? [eb("model_name", "=", "")] : modelConditions(eb, query)))
    .where("span", "=", step)
    .where("start", ">=", hours.from)
    .where("start", "<", hours.to)
    .where((eb) => eb.or([eb("type", "<>", LOG_TYPE.error), eb("start", ">=", errorsFrom)]))
    .$if(query.type > LOG_TYPE.unknown, (some) => some.where("type", "=", query.type))
    .select((eb) => ["start", "type", eb.fn.sum<number>("log_rows").as("log_rows"), selectMark(LOG_SUMS_MARK)])
    .groupBy(["start", "type"])
    .execute();
}

function ofUser({ sums }: SumsDeps, query: LogQuery, { hours, errorsFrom }: Covered) {
  return sums.db
    .selectFrom("facet_sums")
    .where((eb) => eb.and(whoConditions(eb, query)))
    .where("span", "=", HOUR)
    .where("start", ">=", hours.from)
    .where("start", "<", hours.to)
    .where((eb) => eb.or([eb("type", "<>", LOG_TYPE.error), eb("start", ">=", errorsFrom)]))
    .$if(query.type > LOG_TYPE.unknown, (some) => some.where("type", "=", query.type))
    .select((eb) => ["start", "type", eb.fn.sum<number>("log_rows").as("log_rows"), selectMark(FACET_MARK)])
    .groupBy(["start", "type"])
    .execute();
}
