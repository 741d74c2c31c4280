import { LOG_FACET_ERRORS, LOG_FACET_SAMPLE, LOG_TYPE } from "@fairway/wire";
import { sql } from "kysely";
import type { Database } from "../../../storage/database.ts";
import { addColumns, addCount, addError, ERROR_HEAD, type FacetCounts } from "../../statistics/facet-counts.ts";
import type { LogQuery } from "../filter.ts";
import type { RowsPart } from "./row-parts.ts";
import { newestFirst } from "../rows.ts";
import { slicesOf } from "../slices.ts";

/** Rows that one question still may read. */
export interface RowLimits {
  rows: number;
  errors: number;
}

const COLUMNS = ["model_name", "token_name", "group", "type", "channel_id", "username"] as const;

export function rowLimits(): RowLimits {
  return { rows: LOG_FACET_SAMPLE, errors: LOG_FACET_ERRORS };
}

/** Counts the newest matching rows of a part, as many as the limits leave. */
export async function countRowsOf(
  database: Database,
  { query, limits, counts }: { readonly query: LogQuery; readonly limits: RowLimits; readonly counts: FacetCounts },
  { period, only }: RowsPart,
): Promise<void> {
  const { db } = database;
  let hasErrors = false;
  for await (const slice of slicesOf(database, query, period)) {
    if (limits.rows <= 0) break;
    let newest = newestFirst(db, query, slice).select(COLUMNS).limit(limits.rows);
    if (only) newest = newest.where(only);
    const combinations = db
      .selectFrom(newest.as("newest"))
      .select(COLUMNS)
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .groupBy(COLUMNS);
    for (const row of await combinations.execute()) {
      const count = Number(row.count);
      addColumns(counts, row, count);
      addCount(counts.types, String(row.type), count);
      addCount(counts.users, row.username, count);
      limits.rows -= count;
      hasErrors ||= row.type === LOG_TYPE.error;
    }
  }
  if (!hasErrors || limits.errors <= 0) return;
  let errors = newestFirst(db, query, period).where("type", "=", LOG_TYPE.error);
  if (only) errors = errors.where(only);
  const heads = errors.select(sql<string>`substr(other, 1, ${sql.lit(ERROR_HEAD)})`.as("head")).limit(limits.errors);
  for (const { head } of await heads.execute()) {
    addError(counts, head);
    limits.errors--;
  }
}
