import { sql, type Expression, type ExpressionBuilder, type SqlBool } from "kysely";
import { containing, likeAnyCase } from "../../storage/like.ts";
import type { Schema } from "../../storage/tables/schema.ts";

/** A filter for a list of channels; empty members do not filter. */
export interface ChannelFilter {
  readonly keyword: string;
  readonly group: string;
  readonly model: string;
  readonly tag: string;
  readonly status: readonly number[];
  readonly type: readonly number[];
}

export const NO_FILTER: ChannelFilter = { keyword: "", group: "", model: "", tag: "", status: [], type: [] };

const SORTABLE = [
  "id",
  "name",
  "type",
  "status",
  "priority",
  "weight",
  "response_time",
  "test_time",
  "balance",
  "used_quota",
  "created_time",
] as const;

export interface ChannelOrder {
  readonly column: (typeof SORTABLE)[number];
  readonly direction: "asc" | "desc";
}

/** The order of a list: a sortable column, newest first, or best priority first. */
export function buildOrder(query: {
  readonly sort: string;
  readonly order: string;
  readonly id_sort: boolean;
}): ChannelOrder[] {
  const column = SORTABLE.find((name) => name === query.sort);
  const direction = query.order === "asc" ? "asc" : "desc";
  const newest: ChannelOrder = { column: "id", direction: "desc" };
  if (column === "id") return [{ column, direction }];
  if (column) return [{ column, direction }, newest];
  return query.id_sort ? [newest] : [{ column: "priority", direction: "desc" }, newest];
}

/** Returns the normalized filter: texts trimmed, and no group if compatible consoles send the text `null`. */
function searched(filter: ChannelFilter): ChannelFilter {
  const group = filter.group.trim();
  return {
    ...filter,
    keyword: filter.keyword.trim(),
    model: filter.model.trim(),
    tag: filter.tag.trim(),
    group: group === "null" ? "" : group,
  };
}

/** Returns true if a filter excludes channels. */
export function isNarrow(filter: ChannelFilter): boolean {
  return Object.values(searched(filter)).some((part: string | readonly number[]) => part.length > 0);
}

/** @param hashKey hash of a key, for the search by exact key */
export function buildCondition(
  eb: ExpressionBuilder<Schema, "channels">,
  wanted: ChannelFilter,
  hashKey: (key: string) => string,
): Expression<SqlBool> {
  const filter = searched(wanted);
  const conditions: Expression<SqlBool>[] = [];
  if (filter.keyword !== "") conditions.push(keywordCondition(eb, filter.keyword, hashKey));
  if (filter.model !== "") conditions.push(likeAnyCase("models", containing(filter.model)));
  if (filter.group !== "") conditions.push(inGroup(eb, filter.group));
  if (filter.tag !== "") conditions.push(eb("tag", "=", filter.tag));
  if (filter.status.length > 0) conditions.push(eb("status", "in", filter.status));
  if (filter.type.length > 0) conditions.push(eb("type", "in", filter.type));
  return eb.and(conditions);
}

function keywordCondition(
  eb: ExpressionBuilder<Schema, "channels">,
  keyword: string,
  hashKey: (key: string) => string,
): Expression<SqlBool> {
  const ways: Expression<SqlBool>[] = [likeAnyCase("name", containing(keyword)), eb("key_hash", "=", hashKey(keyword))];
  if (/^\d{1,15}$/.test(keyword)) ways.push(eb("id", "=", Number(keyword)));
  return eb.or(ways);
}

/** Matches channels in the group. Every channel has routing rows for each of its groups, whatever its status. */
function inGroup(eb: ExpressionBuilder<Schema, "channels">, group: string): Expression<SqlBool> {
  return eb("id", "in", eb.selectFrom("abilities").select("channel_id").where("group", "=", group));
}

/** True for channels with a tag. */
export const hasTag = sql<SqlBool>`tag is not null and tag <> ''`;
