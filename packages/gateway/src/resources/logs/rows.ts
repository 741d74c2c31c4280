import type { Kysely } from "kysely";
import { inChunks } from "../../lib/chunks.ts";
import type { LogDatabase } from "../../storage/log-database.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import {
  below,
  buildCondition,
  needsScan,
  toPeriod,
  within,
  type Cursor,
  type LogQuery,
  type Period,
} from "./filter.ts";
import { slicePeriod } from "./slices.ts";
import type { StoredLog } from "./view.ts";

export interface PageRequest {
  readonly offset: number;
  readonly limit: number;
  readonly before?: Cursor | undefined;
}

/** From this offset, the rows before a page are skipped in an index alone. */
const DEEP_OFFSET = 1_000;
const IDS_PER_STATEMENT = 1_000;
const MERGED_MODELS = 50;

/** The keys that find a row in its partition. */
interface Place {
  readonly id: number;
  readonly created_at: number;
}

const PLACE = ["id", "created_at"] as const;

/** Selects the rows of a filter and a period, unordered. */
export function matching(db: Kysely<Schema>, query: LogQuery, period: Period = toPeriod(query)) {
  return db
    .selectFrom("logs")
    .where((eb) => buildCondition(eb, query))
    .where((eb) => within(eb, period));
}

/** Selects the same rows in the order of the list, which is the order of every index of the table. */
export function newestFirst(db: Kysely<Schema>, query: LogQuery, period: Period = toPeriod(query)) {
  return matching(db, query, period).orderBy("created_at", "desc").orderBy("id", "desc");
}

export async function readPage(database: LogDatabase, query: LogQuery, page: PageRequest): Promise<StoredLog[]> {
  const { db } = database;
  const { offset, limit, before } = page;
  if (query.isNothing) return [];
  if (database.kind !== "clickhouse" && hasSeveralModels(query) && offset + limit <= DEEP_OFFSET)
    return mergedPage(db, query, page);
  if (database.kind === "sqlite" && needsScan(query)) return scanPage(database, query, page);
  const rows = newestFirst(db, query).limit(limit);
  if (before)
    return rows
      .selectAll()
      .where((eb) => below(eb, before))
      .execute();
  if (offset < DEEP_OFFSET) return rows.selectAll().offset(offset).execute();
  return readByIds(db, await rows.select(PLACE).offset(offset).execute());
}

/** Splits a filter with several models into one for each, if no other part of it has its own index. */
export function perModel(query: LogQuery): LogQuery[] {
  if (!hasSeveralModels(query)) return [query];
  return query.models.map((model) => ({ ...query, model_name: model, models: [] }));
}

/**
 * Returns true for several models: an index has the rows of each model in the order of the list, but not those of
 * several.
 */
function hasSeveralModels(query: LogQuery): boolean {
  const { ownerId, user_id, username, token_name, tokens, channel, group, request_id, model_name, models } = query;
  const texts = [username, token_name, group, request_id, model_name];
  const isNarrow = ownerId !== undefined || user_id > 0 || channel > 0 || texts.some((text) => text !== "");
  // As the only model, the empty name would mean every model, and one with `%` would be a pattern.
  const areNames = models.every((model) => model !== "" && !model.includes("%"));
  const isShort = models.length > 1 && models.length <= MERGED_MODELS;
  return areNames && isShort && tokens.length === 0 && !isNarrow && !needsScan(query);
}

/** Reads the newest rows of each model; the newest of these are the page. */
async function mergedPage(db: Kysely<Schema>, query: LogQuery, page: PageRequest): Promise<StoredLog[]> {
  const { limit, before } = page;
  const offset = before ? 0 : page.offset;
  const [first, ...others] = perModel(query).map((one) => {
    const all = newestFirst(db, one).select(PLACE);
    const newest = before ? all.where((eb) => below(eb, before)) : all;
    return db.selectFrom(newest.limit(offset + limit).as("newest")).select(PLACE);
  });
  if (!first) return [];
  const all = others.reduce((union, other) => union.unionAll(other), first);
  const ids = all.orderBy("created_at", "desc").orderBy("id", "desc").offset(offset).limit(limit);
  return readByIds(db, await ids.execute());
}

/** Reads the log slice by slice until the page is full, so that no statement reads more than one slice. */
async function scanPage(database: LogDatabase, query: LogQuery, page: PageRequest): Promise<StoredLog[]> {
  const { db } = database;
  const { before } = page;
  const offset = before ? 0 : page.offset;
  const wanted = offset + page.limit;
  const { from, to } = toPeriod(query);
  const found: Place[] = [];
  for await (const slice of slicePeriod(database, query, { from, to: before?.createdAt ?? to })) {
    let rows = newestFirst(db, query, slice).select(PLACE);
    if (before) rows = rows.where((eb) => below(eb, before));
    found.push(...(await rows.limit(wanted - found.length).execute()));
    if (found.length >= wanted) break;
  }
  return readByIds(db, found.slice(offset));
}

/** Reads rows by id; their times limit the search to the partitions that contain them. */
async function readByIds(db: Kysely<Schema>, found: readonly Place[]): Promise<StoredLog[]> {
  const rows: StoredLog[] = [];
  for (const some of inChunks(found, IDS_PER_STATEMENT)) {
    const ids = some.map(({ id }) => id);
    const times = some.map(({ created_at }) => created_at);
    const read = db.selectFrom("logs").selectAll().where("id", "in", ids);
    const inTime = read.where("created_at", ">=", Math.min(...times)).where("created_at", "<=", Math.max(...times));
    rows.push(...(await inTime.orderBy("created_at", "desc").orderBy("id", "desc").execute()));
  }
  return rows;
}
