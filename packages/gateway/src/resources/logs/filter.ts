import { LOG_TYPE, type LogFilter } from "@fairway/wire";
import { sql, type Expression, type ExpressionBuilder, type SqlBool } from "kysely";
import { beginningWith, containing, endingWith, like, withWildcards } from "../../storage/like.ts";
import type { Schema } from "../../storage/tables/schema.ts";

/** A filter with the owner that self calls are restricted to. */
export interface LogQuery extends LogFilter {
  /** Set for self calls, which read only rows of this owner. */
  readonly ownerId?: number;
  /** Set for members of a team, who read only rows of what they used themselves. */
  readonly actor?: string;
  /** Accounts that are not meant although they have the name of the filter. */
  readonly otherThan?: readonly number[];
  /** True if it is known that no row can match. */
  readonly isNothing?: boolean;
}

/** A filter that matches every row. */
export const EVERYTHING: LogQuery = {
  type: 0,
  username: "",
  user_id: 0,
  token_name: "",
  token_id: 0,
  model_name: "",
  start_timestamp: 0,
  end_timestamp: 0,
  channel: 0,
  group: "",
  request_id: "",
  min_use_time: 0,
  is_stream: undefined,
  has_retry: undefined,
  code: "",
  status: 0,
  tags: "",
  end_user: "",
  models: [],
  tokens: [],
};

type Builder = ExpressionBuilder<Schema, "logs">;
/** Builder for the log, or for the sums, which have some of its columns. */
type AnyBuilder =
  | Builder
  | ExpressionBuilder<Schema, "quota_data">
  | ExpressionBuilder<Schema, "facet_sums">
  | ExpressionBuilder<Schema, "log_sums">;

/** Maximum number of digits of a channel id that the retry filter supports. */
const CHANNEL_DIGITS = 6;

/** Returns the conditions of a filter except for the period, which `within` adds. */
export function buildCondition(eb: Builder, query: LogQuery): Expression<SqlBool> {
  const parts = [whoConditions, whereConditions, whatConditions, modelConditions];
  return eb.and(parts.flatMap((part) => part(eb, query)));
}

/** Returns the conditions on owners, which are the same for the log and the sums. */
export function whoConditions(builder: AnyBuilder, query: LogQuery): Expression<SqlBool>[] {
  // The tables have these columns, of the same kinds.
  const eb = builder as Builder;
  const conditions: Expression<SqlBool>[] = [];
  if (query.ownerId !== undefined) conditions.push(eb("user_id", "=", query.ownerId));
  if (query.user_id > 0) conditions.push(eb("user_id", "=", query.user_id));
  if (query.username !== "") conditions.push(eb("username", "=", query.username));
  if (query.otherThan !== undefined && query.otherThan.length > 0)
    conditions.push(eb("user_id", "not in", query.otherThan));
  return conditions;
}

/** Returns the conditions on models, which are the same for the log and the sums. */
export function modelConditions(builder: AnyBuilder, query: LogQuery): Expression<SqlBool>[] {
  const eb = builder as Builder;
  const conditions: Expression<SqlBool>[] = [];
  if (query.model_name !== "") conditions.push(modelCondition(eb, query.model_name));
  if (query.models.length > 0) conditions.push(eb("model_name", "in", query.models));
  if (query.isNothing) conditions.push(sql<SqlBool>`1 = 0`);
  return conditions;
}

function whereConditions(eb: Builder, query: LogQuery): Expression<SqlBool>[] {
  const conditions: Expression<SqlBool>[] = [];
  if (query.token_name !== "") conditions.push(eb("token_name", "=", query.token_name));
  if (query.token_id > 0) conditions.push(eb("token_id", "=", query.token_id));
  if (query.tokens.length > 0) conditions.push(eb("token_name", "in", query.tokens));
  if (query.channel > 0) conditions.push(eb("channel_id", "=", query.channel));
  if (query.group !== "") conditions.push(eb("group", "=", query.group));
  return conditions;
}

function whatConditions(eb: Builder, query: LogQuery): Expression<SqlBool>[] {
  const conditions: Expression<SqlBool>[] = [...errorConditions(eb, query)];
  if (query.actor !== undefined) conditions.push(eb("actor", "=", query.actor));
  if (query.end_user !== "") conditions.push(eb("end_user", "=", query.end_user));
  for (const tag of listTags(query)) conditions.push(tagCondition(eb, tag));
  if (query.type > LOG_TYPE.unknown) conditions.push(typeCondition(eb, query));
  if (query.request_id !== "") conditions.push(eb("request_id", "=", query.request_id));
  if (query.min_use_time > 0) conditions.push(eb("use_time", ">=", query.min_use_time));
  if (query.is_stream !== undefined) conditions.push(eb("is_stream", "=", Number(query.is_stream)));
  if (query.has_retry !== undefined) conditions.push(query.has_retry ? wasRetried : eb.not(wasRetried));
  return conditions;
}

/** Returns the tags that a row must have: `app=shop`, or `app` for any value. */
export function listTags({ tags }: Pick<LogQuery, "tags">): string[] {
  return tags.split("|").filter((tag) => tag !== "");
}

/** A tag is at the start of the column or behind a bar, and ends with it or before one. */
function tagCondition(eb: Builder, tag: string): Expression<SqlBool> {
  if (!tag.includes("=")) return eb.or([like("tags", beginningWith(`${tag}=`)), like("tags", containing(`|${tag}=`))]);
  return eb.or([
    eb("tags", "=", tag),
    like("tags", beginningWith(`${tag}|`)),
    like("tags", endingWith(`|${tag}`)),
    like("tags", containing(`|${tag}|`)),
  ]);
}

/** Returns the conditions on code and status, which are members of `other` in rows of failed calls. */
function errorConditions(eb: Builder, query: LogQuery): Expression<SqlBool>[] {
  if (!hasErrorFilter(query)) return [];
  const conditions = errorTexts(query).map((text) => like("other", containing(text)));
  return [typeCondition(eb, { ...query, type: LOG_TYPE.error }), ...conditions];
}

/** Returns true if only failed calls can match. */
export function hasErrorFilter({ code, status }: LogQuery): boolean {
  return code !== "" || status > 0;
}

/** Returns the texts to find in `other`, as rows of failed calls store them. */
export function errorTexts({ code, status }: LogQuery): string[] {
  const texts: string[] = [];
  if (code !== "") texts.push(`"error_code":${JSON.stringify(code)},`);
  if (status > 0) texts.push(`"status_code":${status},`);
  return texts;
}

/**
 * Returns the condition on the type. Nearly every row has the same type, so with a narrower filter its index would only
 * mislead the planner.
 */
function typeCondition(eb: Builder, query: LogQuery): Expression<SqlBool> {
  return isNarrow(query) ? sql<SqlBool>`type + 0 = ${query.type}` : eb("type", "=", query.type);
}

function isNarrow(query: LogQuery): boolean {
  const isOwned = query.ownerId !== undefined || query.user_id > 0 || query.channel > 0;
  const texts = [query.username, query.token_name, query.model_name, query.request_id];
  return isOwned || texts.some((text) => text !== "") || query.models.length + query.tokens.length > 0;
}

/** Returns true if no index answers part of the filter, so that rows have to be read to be excluded. */
export function needsScan(query: LogQuery): boolean {
  return (
    query.model_name.includes("%") ||
    query.token_id > 0 ||
    query.actor !== undefined ||
    query.tags !== "" ||
    query.end_user !== "" ||
    query.min_use_time > 0 ||
    query.is_stream !== undefined ||
    query.has_retry !== undefined ||
    hasErrorFilter(query)
  );
}

function modelCondition(eb: Builder, model: string): Expression<SqlBool> {
  return model.includes("%") ? like("model_name", withWildcards(model)) : eb("model_name", "=", model);
}

/**
 * The chain of channels is part of the JSON of `other`: `"use_channel":["4","7"]`; a second entry means a retry.
 * The three databases share no JSON function that survives broken JSON, so the text itself is matched.
 */
const wasRetried = sql<SqlBool>`(${sql.join(
  Array.from(
    { length: CHANNEL_DIGITS },
    (_, index) => sql`other like ${`%"use!_channel":["${"_".repeat(index + 1)}","%`} escape '!'`,
  ),
  sql` or `,
)})`;

/** A period in seconds, including both ends; 0 = no limit. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

export function within(eb: Builder, { from, to }: Period): Expression<SqlBool> {
  const bounds: Expression<SqlBool>[] = [];
  if (from > 0) bounds.push(eb("created_at", ">=", from));
  if (to > 0) bounds.push(eb("created_at", "<=", to));
  return eb.and(bounds);
}

export function toPeriod(query: LogQuery): Period {
  return { from: query.start_timestamp, to: query.end_timestamp };
}

/** Position where a page continues: below this row in the order of the list. */
export interface Cursor {
  readonly createdAt: number;
  readonly id: number;
}

/** Returns the condition of a cursor. The additional `created_at <= ?` lets an index start at the cursor. */
export function below(eb: Builder, { createdAt, id }: Cursor): Expression<SqlBool> {
  return eb.and([
    eb("created_at", "<=", createdAt),
    eb.or([eb("created_at", "<", createdAt), eb.and([eb("created_at", "=", createdAt), eb("id", "<", id)])]),
  ]);
}
