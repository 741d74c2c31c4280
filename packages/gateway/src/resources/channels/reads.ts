import type { Kysely, SelectQueryBuilder, Transaction } from "kysely";
import { CHANNEL_COLUMNS, type ChannelRow as SealedChannelRow } from "../../snapshot/channel-record.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { openTexts } from "../../storage/secrets/channel-texts.ts";
import { channelKey } from "../../storage/secrets/sealed-locations.ts";
import type { Vault } from "../ports.ts";
import { buildCondition, hasTag, type ChannelFilter, type ChannelOrder } from "./query.ts";
import { VIEW_COLUMNS, type ChannelRow } from "./view.ts";
import type { ChannelStoreDeps } from "./writing.ts";

export interface ChannelPage {
  readonly rows: ChannelRow[];
  /** Number of rows before paging, or of tags for a page of tags. */
  readonly total: number;
}

export interface PageQuery {
  readonly filter: ChannelFilter;
  readonly order: readonly ChannelOrder[];
  readonly offset: number;
  readonly limit: number;
}

/** Creates the reads of the channel store. */
export function channelReads({ database: { db }, vault }: ChannelStoreDeps) {
  const opened = (rows: ChannelRow[]) => rows.map((row) => openTexts(row, vault));
  return {
    async page({ filter, order, offset, limit }: PageQuery): Promise<ChannelPage> {
      const from = db.selectFrom("channels").where((eb) => buildCondition(eb, filter, vault.hashKey));
      const [ids, { total }] = await Promise.all([
        inOrder(from.select("id"), order).offset(offset).limit(limit).execute(),
        from.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
      ]);
      return { rows: opened(await pageRows(db, ids, order)), total: Number(total) };
    },

    /** Returns all channels of one page of tags, ascending. */
    async listTagPage({ filter, order, offset, limit }: PageQuery): Promise<ChannelPage> {
      const tagged = db
        .selectFrom("channels")
        .where((eb) => buildCondition(eb, filter, vault.hashKey))
        .where(hasTag);
      const { total } = await tagged
        .select((eb) => eb.fn.count<number>("tag").distinct().as("total"))
        .executeTakeFirstOrThrow();
      const tags = await tagged.select("tag").distinct().orderBy("tag").offset(offset).limit(limit).execute();
      if (tags.length === 0) return { rows: [], total: Number(total) };
      const rows = tagged
        .where(
          "tag",
          "in",
          tags.map(({ tag }) => tag),
        )
        .select(VIEW_COLUMNS)
        .orderBy("tag");
      return { rows: opened(await inOrder(rows, order).execute()), total: Number(total) };
    },

    get: (id: number): Promise<ChannelRow | undefined> => findChannelRow(db, vault, id),

    /** Returns the row with its sealed key, for requests to its upstream. */
    routing: (id: number): Promise<SealedChannelRow | undefined> =>
      db.selectFrom("channels").select(CHANNEL_COLUMNS).where("id", "=", id).executeTakeFirst(),

    /** Returns the key in clear; undefined for an unknown channel. */
    findKey: (id: number): Promise<string | undefined> => findChannelKey(db, vault, id),

    async ids(filter: ChannelFilter): Promise<number[]> {
      const from = db.selectFrom("channels").where((eb) => buildCondition(eb, filter, vault.hashKey));
      return (await from.select("id").orderBy("id").execute()).map(({ id }) => id);
    },

    /** Returns the comma-joined models of each channel of a tag. */
    async listTagModels(tag: string): Promise<string[]> {
      const rows = await db.selectFrom("channels").select("models").where("tag", "=", tag).orderBy("id").execute();
      return rows.map(({ models }) => models);
    },

    /** Returns the models that at least one enabled channel serves, ascending. */
    async enabledModels(): Promise<string[]> {
      const rows = await db
        .selectFrom("abilities")
        .select("model")
        .distinct()
        .where("enabled", "=", 1)
        .orderBy("model")
        .execute();
      return rows.map(({ model }) => model);
    },
  };
}

/** Returns the rows of a page. Rows are wide, so the page is found in an index before its rows are read. */
async function pageRows(
  db: Kysely<Schema>,
  found: readonly { readonly id: number }[],
  order: readonly ChannelOrder[],
): Promise<ChannelRow[]> {
  if (found.length === 0) return [];
  const ids = found.map(({ id }) => id);
  return inOrder(db.selectFrom("channels").select(VIEW_COLUMNS).where("id", "in", ids), order).execute();
}

function inOrder<Row>(
  rows: SelectQueryBuilder<Schema, "channels", Row>,
  order: readonly ChannelOrder[],
): SelectQueryBuilder<Schema, "channels", Row> {
  return order.reduce((sorted, { column, direction }) => sorted.orderBy(column, direction), rows);
}

export async function findChannelRow(
  db: Pick<Transaction<Schema>, "selectFrom">,
  vault: Vault,
  id: number,
): Promise<ChannelRow | undefined> {
  const row = await db.selectFrom("channels").select(VIEW_COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && openTexts(row, vault);
}

/** Returns the key in clear; undefined for an unknown channel. */
export async function findChannelKey(
  db: Pick<Transaction<Schema>, "selectFrom">,
  vault: Vault,
  id: number,
): Promise<string | undefined> {
  const row = await db.selectFrom("channels").select("key_sealed").where("id", "=", id).executeTakeFirst();
  return row && vault.open(row.key_sealed, channelKey(id));
}
