import { LOG_TYPE, type LogFilter } from "@fairway/wire";
import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { Schema } from "../../storage/tables/schema.ts";
import { toExpressions, toTest, type AnyBuilder, type Condition } from "./conditions.ts";
import type { StoredLog } from "./view.ts";

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

/** Returns the SQL of a filter except for the period, which `within` adds. */
export function buildCondition(eb: Builder, query: LogQuery): Expression<SqlBool> {
  return eb.and(toExpressions(eb, listConditions(query)));
}

/** Returns a test for rows in memory that finds what the SQL of the filter and of its period finds. */
export function createMatcher(query: LogQuery): (row: StoredLog) => boolean {
  return toTest([...listConditions(query), ...listBounds(toPeriod(query))]);
}

function listConditions(query: LogQuery): Condition[] {
  return [...listOwners(query), ...listPlaces(query), ...listContents(query), ...listModels(query)];
}

/** Returns the conditions on owners, which are the same for the log and the sums. */
export function whoConditions(builder: AnyBuilder, query: LogQuery): Expression<SqlBool>[] {
  return toExpressions(builder, listOwners(query));
}

/** Returns the conditions on models, which are the same for the log and the sums. */
export function modelConditions(builder: AnyBuilder, query: LogQuery): Expression<SqlBool>[] {
  return toExpressions(builder, listModels(query));
}

function listOwners({ ownerId, user_id, username, otherThan = [] }: LogQuery): Condition[] {
  const conditions: Condition[] = [];
  if (ownerId !== undefined) conditions.push({ kind: "number", column: "user_id", is: "=", value: ownerId });
  if (user_id > 0) conditions.push({ kind: "number", column: "user_id", is: "=", value: user_id });
  if (username !== "") conditions.push({ kind: "equal", column: "username", value: username });
  if (otherThan.length > 0) conditions.push({ kind: "none of", column: "user_id", values: otherThan });
  return conditions;
}

function listModels({ model_name: model, models, isNothing = false }: LogQuery): Condition[] {
  const conditions: Condition[] = [];
  if (model.includes("%")) conditions.push({ kind: "pattern", column: "model_name", pattern: model });
  else if (model !== "") conditions.push({ kind: "equal", column: "model_name", value: model });
  if (models.length > 0) conditions.push({ kind: "one of", column: "model_name", values: models });
  if (isNothing) conditions.push({ kind: "never" });
  return conditions;
}

function listPlaces({ token_name, token_id, tokens, channel, group }: LogQuery): Condition[] {
  const conditions: Condition[] = [];
  if (token_name !== "") conditions.push({ kind: "equal", column: "token_name", value: token_name });
  if (token_id > 0) conditions.push({ kind: "number", column: "token_id", is: "=", value: token_id });
  if (tokens.length > 0) conditions.push({ kind: "one of", column: "token_name", values: tokens });
  if (channel > 0) conditions.push({ kind: "number", column: "channel_id", is: "=", value: channel });
  if (group !== "") conditions.push({ kind: "equal", column: "group", value: group });
  return conditions;
}

function listContents(query: LogQuery): Condition[] {
  const { actor, end_user, type, request_id, min_use_time, is_stream, has_retry } = query;
  const conditions: Condition[] = [...listErrors(query)];
  if (actor !== undefined) conditions.push({ kind: "equal", column: "actor", value: actor });
  if (end_user !== "") conditions.push({ kind: "equal", column: "end_user", value: end_user });
  for (const tag of listTags(query)) conditions.push({ kind: "tag", tag });
  if (type > LOG_TYPE.unknown) conditions.push({ kind: "type", type, isNarrow: isNarrow(query) });
  if (request_id !== "") conditions.push({ kind: "equal", column: "request_id", value: request_id });
  if (min_use_time > 0) conditions.push({ kind: "number", column: "use_time", is: ">=", value: min_use_time });
  if (is_stream !== undefined)
    conditions.push({ kind: "number", column: "is_stream", is: "=", value: Number(is_stream) });
  if (has_retry !== undefined) conditions.push({ kind: "retried", isRetried: has_retry });
  return conditions;
}

/** Returns the tags that a row must have: `app=shop`, or `app` for any value. */
function listTags({ tags }: LogQuery): string[] {
  return tags.split("|").filter((tag) => tag !== "");
}

/** Returns the conditions on code and status, which are members of `other` in rows of failed calls. */
function listErrors(query: LogQuery): Condition[] {
  if (!hasErrorFilter(query)) return [];
  const { code, status } = query;
  const conditions: Condition[] = [{ kind: "type", type: LOG_TYPE.error, isNarrow: isNarrow(query) }];
  const find = (text: string) => conditions.push({ kind: "containing", column: "other", text });
  if (code !== "") find(`"error_code":${JSON.stringify(code)},`);
  if (status > 0) find(`"status_code":${status},`);
  return conditions;
}

/** Returns true if only failed calls can match. */
export function hasErrorFilter({ code, status }: LogQuery): boolean {
  return code !== "" || status > 0;
}

/** Returns true if an index of another column than the type finds few rows. */
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

/** A period in seconds, including both ends; 0 = no limit. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

export function within(eb: Builder, period: Period): Expression<SqlBool> {
  return eb.and(toExpressions(eb, listBounds(period)));
}

function listBounds({ from, to }: Period): Condition[] {
  const bounds: Condition[] = [];
  if (from > 0) bounds.push({ kind: "number", column: "created_at", is: ">=", value: from });
  if (to > 0) bounds.push({ kind: "number", column: "created_at", is: "<=", value: to });
  return bounds;
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
