import type { Kysely } from "kysely";
import { inChunks } from "../../lib/chunks.ts";
import type { Database } from "../../storage/database.ts";
import type { Schema } from "../../storage/schema.ts";
import { below, conditionOf, needsScan, periodOf, within, type Cursor, type LogQuery, type Period } from "./filter.ts";
import { slicesOf } from "./slices.ts";
import type { StoredLog } from "./view.ts";

export interface PageRequest {
  readonly offset: number;
  readonly limit: number;
  readonly before?: Cursor | undefined;
}

/** From here on the rows before a page are skipped in an index alone. */
const DEEP_OFFSET = 1_000;
const IDS_PER_STATEMENT = 1_000;

/** Rows of a filter and a period, unordered. */
export function matching(db: Kysely<Schema>, query: LogQuery, period: Period = periodOf(query)) {
  return db
    .selectFrom("logs")
    .where((eb) => conditionOf(eb, query))
    .where((eb) => within(eb, period));
}

/** The same in the order of the list, which is the order of every index of the table. */
export function newestFirst(db: Kysely<Schema>, query: LogQuery, period: Period = periodOf(query)) {
  return matching(db, query, period).orderBy("created_at", "desc").orderBy("id", "desc");
}

export async function readPage(database: Database, query: LogQuery, page: PageRequest): Promise<StoredLog[]> {
  const { db } = database;
  const { offset, limit, before } = page;
  if (database.kind === "sqlite" && needsScan(query)) return scanPage(database, query, page);
  const rows = newestFirst(db, query).limit(limit);
  if (before)
    return rows
      .selectAll()
      .where((eb) => below(eb, before))
      .execute();
  if (offset < DEEP_OFFSET) return rows.selectAll().offset(offset).execute();
  return readByIds(db, await rows.select("id").offset(offset).execute());
}

/** Looks through the log slice by slice until the page is full, so that no statement reads more than one slice. */
async function scanPage(database: Database, query: LogQuery, page: PageRequest): Promise<StoredLog[]> {
  const { db } = database;
  const { before } = page;
  const offset = before ? 0 : page.offset;
  const wanted = offset + page.limit;
  const { from, to } = periodOf(query);
  const found: { readonly id: number }[] = [];
  for await (const slice of slicesOf(database, query, { from, to: before?.createdAt ?? to })) {
    let rows = newestFirst(db, query, slice).select("id");
    if (before) rows = rows.where((eb) => below(eb, before));
    found.push(...(await rows.limit(wanted - found.length).execute()));
    if (found.length >= wanted) break;
  }
  return readByIds(db, found.slice(offset));
}

async function readByIds(db: Kysely<Schema>, found: readonly { readonly id: number }[]): Promise<StoredLog[]> {
  const rows: StoredLog[] = [];
  for (const some of inChunks(found, IDS_PER_STATEMENT)) {
    const ids = some.map(({ id }) => id);
    const read = db.selectFrom("logs").selectAll().where("id", "in", ids);
    rows.push(...(await read.orderBy("created_at", "desc").orderBy("id", "desc").execute()));
  }
  return rows;
}
