import type { LogRow } from "@fairway/wire";
import type { Selectable } from "kysely";
import { isObject, parseObject, type JsonObject } from "../../lib/text/json.ts";
import { TRACE_MEMBER, withoutTrace } from "../../relay/trace/call-trace.ts";
import type { LogTable } from "../../storage/tables/schema.ts";

export type StoredLog = Selectable<LogTable>;

/** Members of `other` that only administrators may see. */
const OPERATOR_MEMBERS = ["admin_info", "upstream_model_name", TRACE_MEMBER];

/** Returns a row as administrators see it. */
export function adminView(row: StoredLog, channelName: string): LogRow {
  return {
    ...shared(row),
    channel: row.channel_id,
    channel_name: channelName,
    other: objectText(withoutTrace(row.other)),
  };
}

/** Returns a row as its owner sees it, with a running number in place of the id. */
export function ownerView(row: StoredLog, number: number): LogRow {
  const members = row.other === "" ? undefined : parseObject(row.other);
  const ip = isByAnother(row, members) ? "" : row.ip;
  return { ...shared(row), id: number, channel: 0, channel_name: "", ip, other: withoutOperator(members) };
}

/** Returns true if another user made the change; the owner must not see the address of that administrator. */
function isByAnother({ user_id: owner }: StoredLog, members: JsonObject | undefined): boolean {
  const info = members?.["admin_info"];
  const operator = isObject(info) ? info["operator_id"] : undefined;
  return operator !== undefined && operator !== owner;
}

function shared(row: StoredLog): Omit<LogRow, "channel" | "channel_name" | "other"> {
  return {
    id: row.id,
    user_id: row.user_id,
    created_at: row.created_at,
    type: row.type,
    content: row.content,
    username: row.username,
    token_name: row.token_name,
    model_name: row.model_name,
    quota: row.quota,
    prompt_tokens: row.prompt_tokens,
    completion_tokens: row.completion_tokens,
    use_time: row.use_time,
    is_stream: row.is_stream !== 0,
    token_id: row.token_id,
    group: row.group,
    ip: row.ip,
    request_id: row.request_id,
    tags: row.tags,
    end_user: row.end_user,
  };
}

/** Returns the text of an object: compatible consoles parse `other` and fail on anything else. */
function objectText(other: string): string {
  return other === "" || parseObject(other) === undefined ? "" : other;
}

function withoutOperator(members: JsonObject | undefined): string {
  if (!members) return "";
  for (const name of OPERATOR_MEMBERS) delete members[name];
  return JSON.stringify(members);
}
