import type { Kysely } from "kysely";
import type { Schema } from "../../storage/schema.ts";
import { below, conditionOf, periodOf, within, type Cursor, type LogQuery, type Period } from "./filter.ts";
import type { StoredLog } from "./view.ts";

export interface PageRequest {
  readonly offset: number;
  readonly limit: number;
  readonly before?: Cursor | undefined;
}

/** From here on the rows before a page are skipped in an index alone. */
const DEEP_OFFSET = 1_000;

/** Rows of a filter and a period, unordered. */
export function matching(db: Kysely<Schema>, query: LogQuery, period: Period = periodOf(query)) {
  return db
    .selectFrom("logs")
    .where((eb) => conditionOf(eb, query))
    .where((eb) => within(eb, period));
}

/** The same in the order of the list, which is the order of every index of the table. */
export function newestFirst(db: Kysely<Schema>, query: LogQuery) {
  return matching(db, query).orderBy("created_at", "desc").orderBy("id", "desc");
}

export async function readPage(db: Kysely<Schema>, query: LogQuery, page: PageRequest): Promise<StoredLog[]> {
  const { offset, limit, before } = page;
  const rows = newestFirst(db, query).limit(limit);
  if (before)
    return rows
      .selectAll()
      .where((eb) => below(eb, before))
      .execute();
  if (offset < DEEP_OFFSET) return rows.selectAll().offset(offset).execute();
  const found = await rows.select("id").offset(offset).execute();
  if (found.length === 0) return [];
  const ids = found.map(({ id }) => id);
  const read = db.selectFrom("logs").selectAll().where("id", "in", ids);
  return read.orderBy("created_at", "desc").orderBy("id", "desc").execute();
}
