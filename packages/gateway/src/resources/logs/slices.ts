import { LOG_TYPE } from "@fairway/wire";
import type { Kysely } from "kysely";
import type { LogDatabase } from "../../storage/log-database.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { buildCondition, hasErrorFilter, within, type LogQuery, type Period } from "./filter.ts";

/** Number of rows that one statement reads. */
export const PART_ROWS = 20_000;

/**
 * Yields the parts of a period for a whole response. Only SQLite needs parts, because a statement blocks the whole
 * process. The other databases run the statement while the process does other work, so they get the whole period.
 */
export async function* slicePeriod(database: LogDatabase, query: LogQuery, period: Period): AsyncGenerator<Period> {
  if (database.kind === "sqlite") yield* splitPeriod(database, query, period);
  else yield period;
}

/** Splits a period, newest first, into parts that one statement reads quickly, for responses that may stop early. */
export async function* splitPeriod(database: LogDatabase, query: LogQuery, period: Period): AsyncGenerator<Period> {
  let { to } = period;
  for (;;) {
    const edge = await nthBelow(database.db, query, { from: period.from, to });
    if (edge === undefined) {
      yield { from: period.from, to };
      return;
    }
    // A single second may have more rows than a part should.
    const from = edge === to ? edge : edge + 1;
    yield { from, to };
    to = from - 1;
    if (to < Math.max(period.from, 1)) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Returns the time of the row `PART_ROWS` below the newest one; undefined if there are fewer rows. */
async function nthBelow(db: Kysely<Schema>, query: LogQuery, period: Period): Promise<number | undefined> {
  const row = await db
    .selectFrom("logs")
    .select("created_at")
    .where((eb) => buildCondition(eb, indexed(query)))
    .where((eb) => within(eb, period))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .offset(PART_ROWS)
    .limit(1)
    .executeTakeFirst();
  return row?.created_at;
}

/**
 * Returns the part of a filter that an index answers; with the rest, finding the edges would be as slow as the work
 * itself.
 */
function indexed(query: LogQuery): LogQuery {
  return {
    ...query,
    type: hasErrorFilter(query) ? LOG_TYPE.error : query.type,
    code: "",
    status: 0,
    model_name: query.model_name.includes("%") ? "" : query.model_name,
    token_id: 0,
    tags: "",
    end_user: "",
    min_use_time: 0,
    is_stream: undefined,
    has_retry: undefined,
  };
}
