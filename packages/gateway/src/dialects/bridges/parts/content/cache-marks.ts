// Vendors with cache marks take four in one request and refuse a fifth; clients that support many vendors write more.
import { eachObject, omitMembers } from "../../../core/json-edit.ts";
import { isSet, objects } from "../../../core/read.ts";
import type { BridgeContext } from "../../../core/bridge.ts";
import type { JsonObject } from "../../../core/types.ts";

const MAX_MARKS = 4;
const NAMES = ["cache_control", "fw_cache_control"];
const isMarked = (holder: JsonObject) => NAMES.some((name) => isSet(holder[name]));

/**
 * Returns a chat request with at most four marks. The last one before the conversation covers tools and system text,
 * the last ones in the conversation cover what the next request repeats; the others are reported as dropped.
 */
export function withFewMarks(body: JsonObject, context: BridgeContext): JsonObject {
  const before = [...objects(body, "tools"), ...listMessages(body, true).flatMap(holdersIn)].filter(isMarked);
  const later = listMessages(body, false).flatMap(holdersIn).filter(isMarked);
  if (before.length + later.length <= MAX_MARKS) return body;
  context.dropped("cache_control");
  const ranked = [...before.slice(-1), ...later.toReversed(), ...before.slice(0, -1).toReversed()];
  const spare = new Set(ranked.slice(MAX_MARKS));
  const trimmed = (holder: JsonObject) => (spare.has(holder) ? omitMembers(holder, NAMES) : holder);
  return eachObject(eachObject(body, "tools", trimmed), "messages", (message) => trimMessage(message, trimmed));
}

function trimMessage(message: JsonObject, trimmed: (holder: JsonObject) => JsonObject): JsonObject {
  const own = trimmed(message);
  return eachObject(eachObject(own, "content", trimmed), "tool_calls", trimmed);
}

function listMessages(body: JsonObject, isSystem: boolean): JsonObject[] {
  return objects(body, "messages").filter(({ role }) => (role === "system" || role === "developer") === isSystem);
}

/** Returns every object of a message that may have a mark, in order. */
function holdersIn(message: JsonObject): JsonObject[] {
  return [...objects(message, "content"), ...objects(message, "tool_calls"), message];
}
