import { LOG_TYPE } from "@fairway/wire";
import { sql, type Expression, type ExpressionBuilder, type SqlBool } from "kysely";
import type { Schema } from "../../storage/schema/schema.ts";
import { addCount, addText, noCounts, type FacetCounts } from "../statistics/facet-counts.ts";
import { FACET_MARK, LATER_SUMS_GAP } from "../statistics/facet-sums.ts";
import { partsOf } from "../statistics/store.ts";
import { countRowsOf, rowLimits, type RowsPart } from "./facet-rows.ts";
import type { CountedFacets } from "./facets.ts";
import { periodOf, type LogQuery, type Period } from "./filter.ts";
import { HOUR, isSummed, MOST_BEHIND, rowsBehind, wholeHours, type Hours, type SumsDeps } from "./hours.ts";

type Builder = ExpressionBuilder<Schema, "logs">;

/** Counts the values of the newest rows; those of one user over long periods come from the facet sums and edges of rows. */
export async function readFacets(deps: SumsDeps, query: LogQuery): Promise<CountedFacets> {
  const known = isOfUser(query) ? await fromSums(deps, query) : undefined;
  if (known) return known;
  return countParts(deps, query, { counts: noCounts(), parts: [{ period: periodOf(query) }] });
}

/** Whether the sums have all columns of the filter. */
function isOfUser(query: LogQuery): boolean {
  const hasUser = query.ownerId !== undefined || query.user_id > 0 || query.username !== "";
  return hasUser && isSummed(query) && query.model_name === "" && query.models.length === 0 && !query.isNothing;
}

interface Parts {
  readonly counts: FacetCounts;
  readonly parts: readonly RowsPart[];
}

async function countParts({ database }: SumsDeps, query: LogQuery, { counts, parts }: Parts): Promise<CountedFacets> {
  const limits = rowLimits();
  for (const part of parts) await countRowsOf(database, { query, limits, counts }, part);
  return { counts, isComplete: limits.rows > 0 && limits.errors > 0 };
}

/** Undefined where the rows have to be counted. */
async function fromSums(deps: SumsDeps, query: LogQuery): Promise<CountedFacets | undefined> {
  const period = periodOf(query);
  const [hours, oldestError] = await Promise.all([wholeHours(deps, period, LATER_SUMS_GAP), timeOfOldestError(deps)]);
  if (!hours) return undefined;
  // Failed calls are removed earlier than other rows.
  const errorsFrom = Math.min(hours.to, Math.max(hours.from, Math.ceil(oldestError / HOUR) * HOUR));
  const known = await readSums(deps, query, { hours, errorsFrom });
  if (!known) return undefined;
  const behind = await rowsBehind(deps, known.mark);
  if (behind === undefined || behind > MOST_BEHIND) return undefined;
  const parts = [
    { period: { from: hours.to, to: period.to }, isAsked: period.to === 0 || period.to >= hours.to },
    {
      period: { from: hours.from, to: hours.to - 1 },
      only: (eb: Builder) =>
        eb.and([
          eb("id", ">", known.mark),
          eb.or([eb("type", "<>", LOG_TYPE.error), eb("created_at", ">=", errorsFrom)]),
        ]),
      isAsked: behind > 0,
    },
    {
      period: { from: Math.max(period.from, oldestError), to: errorsFrom - 1 },
      only: (eb: Builder) => eb("type", "=", LOG_TYPE.error),
      isAsked: Math.max(period.from, oldestError) < errorsFrom,
    },
    {
      period: { from: period.from, to: hours.from - 1 },
      only: (eb: Builder) => eb("type", "<>", LOG_TYPE.error),
      isAsked: period.from < hours.from,
    },
  ];
  return countParts(deps, query, { counts: known.counts, parts: parts.filter(({ isAsked }) => isAsked) });
}

/** After all times when there is none. */
async function timeOfOldestError({ database }: SumsDeps): Promise<number> {
  const errors = database.db.selectFrom("logs").where("type", "=", LOG_TYPE.error);
  const oldest = await errors.select("created_at").orderBy("created_at").orderBy("id").limit(1).executeTakeFirst();
  return oldest?.created_at ?? Number.MAX_SAFE_INTEGER;
}

interface SummedHours {
  readonly hours: Hours;
  /** Start of the first hour whose failed calls are all there. */
  readonly errorsFrom: number;
}

/** Sums and mark of one moment: one statement reads both. Undefined where a facet has too many values, or nothing is known. */
async function readSums(
  { sums }: SumsDeps,
  query: LogQuery,
  { hours, errorsFrom }: SummedHours,
): Promise<{ readonly counts: FacetCounts; readonly mark: number } | undefined> {
  const of = (period: Period, isOfErrors: boolean) =>
    partsOf({ from: period.from, to: period.to - HOUR }).map((part) =>
      sums.db
        .selectFrom("facet_sums")
        .where("span", "=", part.span)
        .where("start", ">=", part.from)
        .where("start", "<", part.before)
        .where("type", isOfErrors ? "=" : "<>", LOG_TYPE.error)
        .where((eb) => eb.and(conditionsOf(eb, query)))
        .select(["type", "username", "log_rows", "counts", mark.as("mark")]),
    );
  const others = of(hours, false);
  const errors = errorsFrom < hours.to ? of({ from: errorsFrom, to: hours.to }, true) : [];
  const [first, ...more] = [...others, ...errors];
  const rows = first ? await more.reduce((all, one) => all.unionAll(one), first).execute() : [];
  const [row] = rows;
  if (!row || rows.some((one) => one.counts === "")) return undefined;
  const counts = noCounts();
  for (const one of rows) {
    addText(counts, one.counts);
    addCount(counts.types, String(one.type), Number(one.log_rows));
    addCount(counts.users, one.username, Number(one.log_rows));
  }
  return { counts, mark: Number(row.mark) };
}

const mark = sql<number>`(select revision from revisions where topic = ${FACET_MARK})`;

function conditionsOf(eb: ExpressionBuilder<Schema, "facet_sums">, query: LogQuery): Expression<SqlBool>[] {
  const conditions: Expression<SqlBool>[] = [];
  if (query.ownerId !== undefined) conditions.push(eb("user_id", "=", query.ownerId));
  if (query.user_id > 0) conditions.push(eb("user_id", "=", query.user_id));
  if (query.username !== "") conditions.push(eb("username", "=", query.username));
  if (query.type > LOG_TYPE.unknown) conditions.push(eb("type", "=", query.type));
  return conditions;
}
