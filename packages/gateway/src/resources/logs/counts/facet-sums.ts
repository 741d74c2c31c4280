import { LOG_TYPE } from "@fairway/wire";
import { sql, type SelectQueryBuilder } from "kysely";
import type { Schema } from "../../../storage/tables/schema.ts";
import { HOUR } from "../../statistics/dimensions.ts";
import { FACET_MARK, LATER_SUMS_GAP } from "../../statistics/facet-sums.ts";
import { LOG_SUMS_GAP, LOG_SUMS_MARK } from "../../statistics/log-sums.ts";
import { splitPeriod } from "../../statistics/store.ts";
import { whoConditions, type LogQuery, type Period } from "../filter.ts";
import { hasUser, isSummed, selectMark, resolveModels } from "./hours.ts";
import type { SumsDeps } from "./sums-deps.ts";

/** Sums of one span, from one start until before another. */
type Interval = ReturnType<typeof splitPeriod>[number];

export interface FacetSum {
  readonly type: number;
  /** Empty in the sums of a user, whose texts lack the user name. */
  readonly username: string;
  readonly log_rows: number;
  readonly counts: string;
  readonly mark: number;
}

/** The source of the sums for the facets of a filter. */
export interface FacetSource {
  readonly gapTopic: string;
  /** Returns undefined if this takes longer than counting some rows. */
  readonly findIntervals: (hours: Period, now: number) => readonly Interval[] | undefined;
  /** Reads failed calls of some intervals and the other rows of other intervals, with the mark, in one statement. */
  readonly read: (
    deps: SumsDeps,
    of: { readonly others: readonly Interval[]; readonly errors: readonly Interval[] },
  ) => Promise<readonly FacetSum[]>;
}

/** Maximum number of texts of a type: a text of an hour or a day with 5,000 tokens takes two milliseconds. */
const MAX_TEXTS = 36;

/** Returns undefined if the sums lack a column of the filter. */
export function facetSource(query: LogQuery): FacetSource | undefined {
  if (!isSummed(query) || query.isNothing) return undefined;
  const models = resolveModels(query);
  if (hasUser(query)) return models === "all" ? ofUser(query) : undefined;
  return models === "some" ? undefined : ofLog(query, models);
}

/** Splits hours whose end is excluded, in the same way as the statistics. */
function cut({ from, to }: Period): readonly Interval[] {
  return from < to ? splitPeriod({ from, to: to - HOUR }) : [];
}

function ofUser(query: LogQuery): FacetSource {
  const rows = ({ sums }: SumsDeps, { span, from, before }: Interval, isOfErrors: boolean) =>
    sums.db
      .selectFrom("facet_sums")
      .where("span", "=", span)
      .where("start", ">=", from)
      .where("start", "<", before)
      .where("type", isOfErrors ? "=" : "<>", LOG_TYPE.error)
      .where((eb) => eb.and(whoConditions(eb, query)))
      .$if(query.type > LOG_TYPE.unknown, (some) => some.where("type", "=", query.type))
      .select(["type", "username", "log_rows", "counts", selectMark(FACET_MARK)]);
  return {
    gapTopic: LATER_SUMS_GAP,
    findIntervals: cut,
    read: (deps, { others, errors }) =>
      all([...others.map((one) => rows(deps, one, false)), ...errors.map((one) => rows(deps, one, true))]),
  };
}

function ofLog(query: LogQuery, models: "all" | readonly string[]): FacetSource {
  const [byModel, names] = models === "all" ? [0, [""]] : [1, models];
  const rows = ({ sums }: SumsDeps, { span, from, before }: Interval, isOfErrors: boolean) =>
    sums.db
      .selectFrom("log_sums")
      .where("by_model", "=", byModel)
      .where("model_name", "in", names)
      .where("span", "=", span)
      .where("start", ">=", from)
      .where("start", "<", before)
      .where("type", isOfErrors ? "=" : "<>", LOG_TYPE.error)
      .$if(query.type > LOG_TYPE.unknown, (some) => some.where("type", "=", query.type))
      .select(["type", sql<string>`''`.as("username"), "log_rows", "counts", selectMark(LOG_SUMS_MARK)]);
  return {
    gapTopic: LOG_SUMS_GAP,
    findIntervals(hours, now) {
      // There are no daily sums of models.
      const intervals = models === "all" ? cut(hours) : [{ span: HOUR, from: hours.from, before: hours.to }];
      const calculateLength = ({ span, from, before }: Interval) => (Math.min(before, now + span) - from) / span;
      const texts = intervals.reduce((sum, interval) => sum + calculateLength(interval), 0) * names.length;
      return texts <= MAX_TEXTS ? intervals : undefined;
    },
    read: (deps, { others, errors }) =>
      all([...others.map((one) => rows(deps, one, false)), ...errors.map((one) => rows(deps, one, true))]),
  };
}

async function all<Tables extends keyof Schema>(
  queries: readonly SelectQueryBuilder<Schema, Tables, FacetSum>[],
): Promise<readonly FacetSum[]> {
  const [first, ...more] = queries;
  return first ? more.reduce((union, one) => union.unionAll(one), first).execute() : [];
}
