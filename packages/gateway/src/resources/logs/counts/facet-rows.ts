import { LOG_FACET_ERRORS, LOG_FACET_SAMPLE, LOG_TYPE } from "@fairway/wire";
import { sql } from "kysely";
import type { LogDatabase } from "../../../storage/log-database.ts";
import { addColumns, addCount, addError, ERROR_HEAD, type FacetCounts } from "../../statistics/facet-counts.ts";
import type { LogQuery, Period } from "../filter.ts";
import type { RowsPart } from "./row-parts.ts";
import { matching, newestFirst } from "../rows.ts";
import { slicePeriod } from "../slices.ts";

/** The number of rows that one request may still read. */
export interface RowLimits {
  rows: number;
  errors: number;
}

const COLUMNS = ["model_name", "token_name", "group", "type", "channel_id", "username"] as const;

export function rowLimits(): RowLimits {
  return { rows: LOG_FACET_SAMPLE, errors: LOG_FACET_ERRORS };
}

interface Counting {
  readonly query: LogQuery;
  readonly limits: RowLimits;
  readonly counts: FacetCounts;
}

/** Counts the newest matching rows of a part, up to the limits. */
export async function countMatchingRows(database: LogDatabase, counting: Counting, part: RowsPart): Promise<void> {
  const { db } = database;
  const { query, limits, counts } = counting;
  const { period, only, isWhole = false } = part;
  let errors: Period | undefined;
  for await (const slice of isWhole ? [period] : slicePeriod(database, query, period)) {
    if (limits.rows <= 0) break;
    let newest = selectNewest(database, query, { ...part, period: slice })
      .select([...COLUMNS, "created_at"])
      .limit(limits.rows);
    if (only) newest = newest.where(only);
    const combinations = db
      .selectFrom(newest.as("newest"))
      .select(COLUMNS)
      .select((eb) => [
        eb.fn.countAll<number>().as("count"),
        eb.fn.min("created_at").as("from"),
        eb.fn.max("created_at").as("to"),
      ])
      .groupBy(COLUMNS);
    for (const row of await combinations.execute()) {
      const count = Number(row.count);
      addColumns(counts, row, count);
      addCount(counts.types, String(row.type), count);
      addCount(counts.users, row.username, count);
      limits.rows -= count;
      if (row.type === LOG_TYPE.error) errors = around(errors, { from: Number(row.from), to: Number(row.to) });
    }
  }
  if (errors) await countErrors(database, counting, { ...part, period: errors });
}

/** Counts codes and statuses of the failed calls among the counted rows. */
async function countErrors(database: LogDatabase, { query, limits, counts }: Counting, part: RowsPart): Promise<void> {
  if (limits.errors <= 0) return;
  let errors = selectNewest(database, query, part).where("type", "=", LOG_TYPE.error);
  if (part.only) errors = errors.where(part.only);
  const heads = errors.select(sql<string>`substr(other, 1, ${sql.lit(ERROR_HEAD)})`.as("head")).limit(limits.errors);
  for (const { head } of await heads.execute()) {
    addError(counts, head, 1);
    limits.errors--;
  }
}

/**
 * Selects the newest rows. Rows after an id are found by their ids: in the order of the list, a planner might read all
 * others too.
 */
function selectNewest({ db }: LogDatabase, query: LogQuery, { period, isWhole = false }: RowsPart) {
  return isWhole ? matching(db, query, period).orderBy("id", "desc") : newestFirst(db, query, period);
}

function around(known: Period | undefined, { from, to }: Period): Period {
  return known ? { from: Math.min(known.from, from), to: Math.max(known.to, to) } : { from, to };
}
