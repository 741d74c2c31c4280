import { LOG_TYPE } from "@fairway/wire";
import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { Schema } from "../../../storage/tables/schema.ts";
import type { Period } from "../filter.ts";
import type { Covered } from "./covered-period.ts";
import { MAX_BEHIND, rowsBehind } from "./hours.ts";
import type { SumsDeps } from "./sums-deps.ts";

type Builder = ExpressionBuilder<Schema, "logs">;

export interface RowsPart {
  readonly period: Period;
  /** Condition for the rows of the period. */
  readonly only?: ((eb: Builder) => Expression<SqlBool>) | undefined;
  /** True for few rows, which an index finds in one statement. */
  readonly isWhole?: boolean;
}

/** Returns the parts with rows that the sums up to `mark` lack, newest first; undefined if there are too many. */
export async function rowsOutside(
  deps: SumsDeps,
  period: Period,
  { covered, mark }: { readonly covered: Covered; readonly mark: number },
): Promise<readonly RowsPart[] | undefined> {
  const { hours, errorsFrom, oldestError, oldest } = covered;
  const behind = await rowsBehind(deps, mark);
  if (behind === undefined || behind > MAX_BEHIND) return undefined;
  const isError = (eb: Builder) => eb("type", "=", LOG_TYPE.error);
  const isOther = (eb: Builder) => eb("type", "<>", LOG_TYPE.error);
  const isNewer = (eb: Builder) =>
    eb.and([eb("id", ">", mark), eb.or([isOther(eb), eb("created_at", ">=", errorsFrom)])]);
  const before = { from: period.from, to: hours.from - 1 };
  const newer = { from: hours.from, to: period.to === 0 ? 0 : hours.to - 1 };
  const oldErrors = { from: Math.max(period.from, oldestError), to: errorsFrom - 1 };
  const areErrorsWhole = errorsFrom === hours.from;
  const parts = [
    { period: { from: hours.to, to: period.to }, isAsked: period.to >= hours.to },
    { period: newer, only: isNewer, isWhole: true, isAsked: true },
    { period: oldErrors, only: isError, isAsked: !areErrorsWhole && oldErrors.from <= oldErrors.to },
    { period: before, only: areErrorsWhole ? undefined : isOther, isAsked: Math.max(period.from, oldest) < hours.from },
  ];
  return parts.filter(({ isAsked }) => isAsked);
}
