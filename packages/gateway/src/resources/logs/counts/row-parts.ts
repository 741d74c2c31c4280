import { LOG_TYPE } from "@fairway/wire";
import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { Schema } from "../../../storage/schema/schema.ts";
import { within, type LogQuery, type Period } from "../filter.ts";
import { MOST_BEHIND, rowsBehind, wholeHours, type Hours, type SumsDeps, type Wanted } from "./hours.ts";

type Builder = ExpressionBuilder<Schema, "logs">;

export interface RowsPart {
  readonly period: Period;
  /** Which of the rows of the period. */
  readonly only?: ((eb: Builder) => Expression<SqlBool>) | undefined;
  /** Few rows, which an index finds: one statement. */
  readonly isWhole?: boolean;
}

/** What sums hold of a period. */
export interface Covered {
  readonly hours: Hours;
  /** Start of the first interval whose failed calls are all there. */
  readonly errorsFrom: number;
  /** Time of the oldest failed call of the period. */
  readonly oldestError: number;
}

/** Undefined where the rows are as quick. */
export async function coveredPeriod(
  deps: SumsDeps,
  { query, period }: { readonly query: LogQuery; readonly period: Period },
  wanted: Wanted,
): Promise<Covered | undefined> {
  const [hours, oldestError] = await Promise.all([
    wholeHours(deps, period, wanted),
    timeOfOldestError(deps, query, period),
  ]);
  if (!hours) return undefined;
  // Failed calls are removed earlier than other rows.
  const from = Math.ceil(oldestError / wanted.step) * wanted.step;
  return { hours, errorsFrom: Math.min(hours.to, Math.max(hours.from, from)), oldestError };
}

/** In the period: after all times when there is none; 0 when the filter leaves failed calls out. */
async function timeOfOldestError({ database }: SumsDeps, { type }: LogQuery, period: Period): Promise<number> {
  if (type > LOG_TYPE.unknown && type !== LOG_TYPE.error) return 0;
  const errors = database.db
    .selectFrom("logs")
    .where("type", "=", LOG_TYPE.error)
    .where((eb) => within(eb, period));
  const oldest = await errors.select("created_at").orderBy("created_at").orderBy("id").limit(1).executeTakeFirst();
  return oldest?.created_at ?? Number.MAX_SAFE_INTEGER;
}

/** Rows of a period that sums up to `mark` lack, newest first; undefined when there are too many. */
export async function rowsOutside(
  deps: SumsDeps,
  period: Period,
  { covered, mark }: { readonly covered: Covered; readonly mark: number },
): Promise<readonly RowsPart[] | undefined> {
  const { hours, errorsFrom, oldestError } = covered;
  const behind = await rowsBehind(deps, mark);
  if (behind === undefined || behind > MOST_BEHIND) return undefined;
  const isError = (eb: Builder) => eb("type", "=", LOG_TYPE.error);
  const isOther = (eb: Builder) => eb("type", "<>", LOG_TYPE.error);
  const isNewer = (eb: Builder) =>
    eb.and([eb("id", ">", mark), eb.or([isOther(eb), eb("created_at", ">=", errorsFrom)])]);
  const before = { from: period.from, to: hours.from - 1 };
  const oldErrors = { from: Math.max(period.from, oldestError), to: errorsFrom - 1 };
  const areErrorsWhole = errorsFrom === hours.from;
  const parts = [
    { period: { from: hours.to, to: period.to }, isAsked: period.to === 0 || period.to >= hours.to },
    { period: { from: hours.from, to: hours.to - 1 }, only: isNewer, isWhole: true, isAsked: true },
    { period: oldErrors, only: isError, isAsked: !areErrorsWhole && oldErrors.from <= oldErrors.to },
    { period: before, only: areErrorsWhole ? undefined : isOther, isAsked: period.from < hours.from },
  ];
  return parts.filter(({ isAsked }) => isAsked);
}
