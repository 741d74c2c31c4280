import { LOG_SEARCH_CAP, LOG_TOKEN_CAP, type LogHistogram, type TokenActivity } from "@fairway/wire";
import type { Kysely } from "kysely";
import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import type { LogDatabase } from "../../storage/log-database.ts";
import { beginningWith, likeAnyCase } from "../../storage/like.ts";
import { removeLogs } from "../../storage/log-removal.ts";
import { newestLogId } from "../../storage/newest-log.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { readFacets } from "./counts/read-facets.ts";
import type { CountedFacets } from "./facets.ts";
import { EVERYTHING, type Cursor, type LogQuery } from "./filter.ts";
import { readHistogram } from "./counts/histogram.ts";
import { createModelNames } from "./model-names.ts";
import { withOwner } from "./token-owner.ts";
import { matching, newestFirst, readPage, type PageRequest } from "./rows.ts";
import { slicePeriod } from "./slices.ts";
import { sumQuota } from "./spent.ts";
import { countRows, readRates } from "./statistics.ts";
import { readTokenActivity, type ActivityQuery } from "./token-activity.ts";
import type { StoredLog } from "./view.ts";

export interface LogStoreDeps {
  /** The database of `logs`; the main one unless logs have their own. */
  readonly database: LogDatabase;
  /** The database of the hourly sums and the tokens. */
  readonly sums: Database;
  readonly clock: Clock;
}

export type LogStore = ReturnType<typeof createLogStore>;

/**
 * Creates the SQL of the log. Every index of the table ends with the order of the list (created_at, id descending), so
 * a page of 10 million rows is read from its first row.
 */
export function createLogStore({ database, sums, clock }: LogStoreDeps) {
  const { db } = database;
  const names = createModelNames(database);
  const resolve = async (query: LogQuery) => names.resolve(await withOwner(sums.db, query));
  return {
    page: async (query: LogQuery, page: PageRequest): Promise<StoredLog[]> =>
      readPage(database, await resolve(query), page),
    total: async (query: LogQuery): Promise<number> => countRows(database, await resolve(query)),
    spent: async (query: LogQuery): Promise<number> => sumQuota({ database, sums, clock }, await resolve(query)),
    rates: (query: LogQuery): Promise<{ rpm: number; tpm: number }> => readRates(db, query, clock),
    facets: async (query: LogQuery): Promise<CountedFacets> =>
      readFacets({ database, sums, clock }, await resolve(query)),
    histogram: async (query: LogQuery): Promise<LogHistogram> =>
      readHistogram({ database, sums, clock }, await resolve(query)),
    search: (keyword: string, ownerId: number | undefined): Promise<StoredLog[]> => search(database, keyword, ownerId),
    removeBefore: (time: number, tell: (removed: number) => Promise<void>): Promise<number> =>
      removeBefore(database, time, tell),
    cursorAt: (id: number): Promise<Cursor> => cursorAt(db, id),

    get: (id: number): Promise<StoredLog | undefined> =>
      db.selectFrom("logs").selectAll().where("id", "=", id).executeTakeFirst(),

    ofToken(userId: number, tokenId: number): Promise<StoredLog[]> {
      const rows = db.selectFrom("logs").selectAll().where("user_id", "=", userId).where("token_id", "=", tokenId);
      return rows.orderBy("created_at", "desc").orderBy("id", "desc").limit(LOG_TOKEN_CAP).execute();
    },

    /** Returns the matching rows with an id above `id`, oldest first. */
    after: (query: LogQuery, id: number, limit: number): Promise<StoredLog[]> =>
      matching(db, query).selectAll().where("id", ">", id).orderBy("id").limit(limit).execute(),

    tokenActivity: (asked: ActivityQuery): Promise<TokenActivity> => readTokenActivity(database, asked),

    newestId: (): Promise<number> => newestLogId(database),
  };
}

/** Returns the position of a row in the list; for a deleted row, only the id is known. */
async function cursorAt(db: Kysely<Schema>, id: number): Promise<Cursor> {
  const row = await db.selectFrom("logs").select("created_at").where("id", "=", id).executeTakeFirst();
  if (row) return { createdAt: row.created_at, id };
  const older = db.selectFrom("logs").select("created_at").where("id", "<", id).orderBy("id", "desc").limit(1);
  return { createdAt: (await older.executeTakeFirst())?.created_at ?? 0, id };
}

/** Finds rows by their type, or, for administrators, by the beginning of their content. */
async function search(database: LogDatabase, keyword: string, ownerId: number | undefined): Promise<StoredLog[]> {
  const type = /^\d{1,9}$/.test(keyword) ? Number(keyword) : -1;
  if (ownerId !== undefined) {
    return type <= 0 ? [] : readPage(database, { ...EVERYTHING, ownerId, type }, { offset: 0, limit: LOG_SEARCH_CAP });
  }
  const found: StoredLog[] = [];
  for await (const slice of slicePeriod(database, EVERYTHING, { from: 0, to: 0 })) {
    const rows = newestFirst(database.db, EVERYTHING, slice)
      .selectAll()
      .where((eb) => eb.or([eb("type", "=", type), likeAnyCase("content", beginningWith(keyword))]))
      .limit(LOG_SEARCH_CAP - found.length);
    found.push(...(await rows.execute()));
    if (found.length >= LOG_SEARCH_CAP) break;
  }
  return found;
}

/**
 * Deletes the rows older than `time`, a few at a time. `tell` runs before the last one is deleted: it writes its own
 * row, so that an id is never assigned twice.
 */
async function removeBefore(
  database: LogDatabase,
  time: number,
  tell: (removed: number) => Promise<void>,
): Promise<number> {
  const { db } = database;
  const newest = await newestLogId(database);
  let removed = 0;
  for await (const rows of removeLogs(database, { before: time, below: newest })) {
    removed += rows;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const isOld = db.selectFrom("logs").select("id").where("created_at", "<", time).where("id", "=", newest);
  const last = await isOld.executeTakeFirst();
  await tell(removed + (last ? 1 : 0));
  if (!last) return removed;
  const { numDeletedRows } = await db.deleteFrom("logs").where("id", "=", last.id).executeTakeFirstOrThrow();
  // ClickHouse does not count them.
  return removed + (database.kind === "clickhouse" ? 1 : Number(numDeletedRows));
}
