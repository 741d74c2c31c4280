import { LOG_TYPE } from "@fairway/wire";
import type { Selectable } from "kysely";
import { parseObject, type JsonObject } from "../../lib/text/json.ts";
import type { LogTable } from "../../storage/tables/schema.ts";
import { SLICE } from "./dimensions.ts";
import { ERROR_HEAD } from "./facet-counts.ts";

/** Columns of a log row that the sums need. */
export const GATHERED = [
  "id",
  "type",
  "user_id",
  "token_id",
  "channel_id",
  "username",
  "token_name",
  "group",
  "model_name",
  "quota",
  "prompt_tokens",
  "completion_tokens",
  "use_time",
  "created_at",
  "other",
  "actor",
  "tags",
  "end_user",
] as const;

export type GatheredLog = Pick<Selectable<LogTable>, (typeof GATHERED)[number]>;

/** A row with its column `other` as an object: it is parsed once for all sums. */
export interface DetailedRow {
  readonly row: GatheredLog;
  readonly detail: JsonObject;
}

/** Rows of one slice of time that are equal in everything that sums are grouped by. */
export interface AlikeRows {
  readonly first: GatheredLog;
  readonly rows: DetailedRow[];
}

/**
 * Groups rows that count in the same sums, so that each sum is found once for all of them: a pass has thousands of
 * rows, of few users, keys and models. The groups are in the order of their first rows.
 */
export function groupAlike(rows: readonly GatheredLog[]): AlikeRows[] {
  const groups = new Map<string, AlikeRows>();
  for (const row of rows) {
    const key = buildGroupKey(row);
    const detailed = { row, detail: parseObject(row.other) ?? {} };
    const group = groups.get(key);
    if (group) group.rows.push(detailed);
    else groups.set(key, { first: row, rows: [detailed] });
  }
  return [...groups.values()];
}

/** Joins the texts with a character that JSON escapes, so that no value of one column runs into the next. */
function buildGroupKey(row: GatheredLog): string {
  const numbers = `${row.type} ${row.user_id} ${row.token_id} ${row.channel_id} ${Math.floor(row.created_at / SLICE)}`;
  const texts = [row.username, row.token_name, row.group, row.model_name, row.actor, row.tags, row.end_user];
  const head = row.type === LOG_TYPE.error ? row.other.slice(0, ERROR_HEAD) : "";
  return `${numbers}\n${JSON.stringify(texts)}\n${head}`;
}
