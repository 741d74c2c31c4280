import { LOG_TYPE } from "@fairway/wire";
import { errorTexts, hasErrorFilter, listTags, type LogQuery } from "./filter.ts";
import type { StoredLog } from "./view.ts";

type Test = (row: StoredLog) => boolean;

/** A second channel in the chain means a retry. */
const RETRIED = /"use_channel":\["[^"]{1,6}","/;

/** Returns a test with the conditions of `conditionOf`, for rows that were read once for several readers. */
export function createMatcher(query: LogQuery): Test {
  const tests: Test[] = [...buildOwnerTests(query), ...buildPlaceTests(query), ...buildContentTests(query)];
  return (row) => tests.every((isMet) => isMet(row));
}

function buildOwnerTests({ ownerId, user_id, username, actor, end_user, ...query }: LogQuery): Test[] {
  const tests: Test[] = [];
  const { otherThan, isNothing } = query;
  if (isNothing) tests.push(() => false);
  if (otherThan) tests.push((row) => !otherThan.includes(row.user_id));
  for (const tag of listTags(query)) {
    const text = tag.includes("=") ? `|${tag}|` : `|${tag}=`;
    tests.push((row) => `|${row.tags}|`.includes(text));
  }
  if (end_user !== "") tests.push((row) => row.end_user === end_user);
  if (actor !== undefined) tests.push((row) => row.actor === actor);
  if (ownerId !== undefined) tests.push((row) => row.user_id === ownerId);
  if (user_id > 0) tests.push((row) => row.user_id === user_id);
  if (username !== "") tests.push((row) => row.username === username);
  return tests;
}

function buildPlaceTests({ token_name, token_id, tokens, channel, group, model_name, models }: LogQuery): Test[] {
  const tests: Test[] = [];
  if (token_name !== "") tests.push((row) => row.token_name === token_name);
  if (token_id > 0) tests.push((row) => row.token_id === token_id);
  if (tokens.length > 0) tests.push((row) => tokens.includes(row.token_name));
  if (channel > 0) tests.push((row) => row.channel_id === channel);
  if (group !== "") tests.push((row) => row.group === group);
  if (models.length > 0) tests.push((row) => models.includes(row.model_name));
  if (model_name.includes("%")) {
    const pattern = buildPattern(model_name);
    tests.push((row) => pattern.test(row.model_name));
  } else if (model_name !== "") tests.push((row) => row.model_name === model_name);
  return tests;
}

function buildContentTests(query: LogQuery): Test[] {
  const { type, request_id, min_use_time, is_stream, has_retry, start_timestamp, end_timestamp } = query;
  const tests: Test[] = [];
  if (type > LOG_TYPE.unknown) tests.push((row) => row.type === type);
  if (hasErrorFilter(query)) tests.push((row) => row.type === LOG_TYPE.error);
  for (const text of errorTexts(query)) tests.push((row) => row.other.includes(text));
  if (request_id !== "") tests.push((row) => row.request_id === request_id);
  if (min_use_time > 0) tests.push((row) => row.use_time >= min_use_time);
  if (is_stream !== undefined) tests.push((row) => row.is_stream === Number(is_stream));
  if (has_retry !== undefined) tests.push((row) => RETRIED.test(row.other) === has_retry);
  if (start_timestamp > 0) tests.push((row) => row.created_at >= start_timestamp);
  if (end_timestamp > 0) tests.push((row) => row.created_at <= end_timestamp);
  return tests;
}

/** Returns the pattern: `%` matches any text, everything else matches itself. */
export function buildPattern(text: string): RegExp {
  const parts = text.split("%").map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join(".*")}$`, "s");
}
