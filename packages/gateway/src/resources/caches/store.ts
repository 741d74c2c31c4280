import type { StoredCache } from "@fairway/wire";
import { readExact } from "../../billing/money/ratio.ts";
import { calculateStorage } from "../../caches/storage-price.ts";
import type { CacheRow } from "../../caches/types.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { isObjectId } from "../../objects/ids.ts";
import type { Database } from "../../storage/database.ts";
import { sortedPage, type PageQuery } from "../../storage/sorted-page.ts";

export interface CacheQuery extends PageQuery {
  /** 0 = all users. */
  readonly user_id: number;
  /** 0 = all tokens. */
  readonly token_id: number;
  /** 0 = all channels. */
  readonly channel_id: number;
  /** "" = all models. */
  readonly model: string;
}

export type CacheStore = ReturnType<typeof createCacheStore>;

const SORTABLE = ["created_at", "ends_at", "tokens", "model", "user_id", "channel_id"] as const;
const NUMBERS = ["user_id", "token_id", "channel_id"] as const;
const MAX_MODEL = 191;

export function createCacheStore({ database: { db }, clock }: { readonly database: Database; readonly clock: Clock }) {
  const alive = () =>
    db.selectFrom("upstream_caches").where("phase", "=", "open").where("ends_at", ">", seconds(clock));
  const matching = (query: CacheQuery) => {
    let rows = alive();
    for (const column of NUMBERS) if (query[column] > 0) rows = rows.where(column, "=", query[column]);
    return query.model === "" ? rows : rows.where("model", "=", query.model.slice(0, MAX_MODEL).toWellFormed());
  };
  const readDeposits = async (ids: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    if (ids.length === 0) return new Map();
    const rows = db.selectFrom("cache_deposits").select((eb) => ["cache_id", eb.fn.sum<number>("amount").as("sum")]);
    const found = await rows.where("cache_id", "in", ids).groupBy("cache_id").execute();
    return new Map(found.map(({ cache_id: id, sum }) => [id, Number(sum)]));
  };
  return {
    async page(query: CacheQuery): Promise<{ rows: CacheRow[]; total: number }> {
      const sort = SORTABLE.find((name) => name === query.sort) ?? "created_at";
      return sortedPage(matching(query), SORTABLE, { ...query, sort });
    },
    /** Finds a cache of the user, or of anyone if `userId` is undefined. */
    async find(id: string, userId: number | undefined): Promise<CacheRow | undefined> {
      if (!isObjectId(id)) return undefined;
      const rows = alive().selectAll().where("id", "=", id);
      return (userId === undefined ? rows : rows.where("user_id", "=", userId)).executeTakeFirst();
    },
    /** Returns the caches without what their providers said about them, with their costs. */
    async show(rows: readonly CacheRow[]): Promise<StoredCache[]> {
      const deposits = await readDeposits(rows.map(({ id }) => id));
      const now = seconds(clock);
      return rows.map((row) => ({
        id: row.id,
        user_id: row.user_id,
        token_id: row.token_id,
        channel_id: row.channel_id,
        model: row.model,
        tokens: row.tokens,
        storage: calculateStorage({ tokens: row.tokens, seconds: now - row.created_at }, readExact(row.rate)),
        deposit: deposits.get(row.id) ?? 0,
        created_at: row.created_at,
        ends_at: row.ends_at,
      }));
    },
  };
}
