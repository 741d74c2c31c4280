import { omitMembers } from "../../dialects/core/json-edit.ts";
import { isObject, list, text } from "../../dialects/core/read.ts";
import type { JsonObject, JsonValue } from "../../dialects/core/types.ts";
import { openThinking } from "../../dialects/bridges/responses-to-chat/sealed.ts";

/** Returns the items of a request's own input. */
export function inputItems(body: JsonObject): readonly JsonValue[] {
  const input = text(body, "input");
  if (input === undefined) return list(body, "input");
  return [{ type: "message", role: "user", content: [{ type: "input_text", text: input }] }];
}

/** Returns an item of an answer as part of a later request, without its id, which means nothing to the upstream. */
export function plainItem(item: JsonObject): JsonObject {
  return omitMembers(item, ["id", "status"]);
}

/** True for reasoning that was sealed here, or has lost its id on the way: no vendor can read it. */
export function isUnreadable(item: JsonValue): boolean {
  if (!isObject(item) || item["type"] !== "reasoning" || item["id"] !== undefined) return false;
  const sealed = text(item, "encrypted_content");
  return sealed === undefined || openThinking(sealed).length > 0;
}
