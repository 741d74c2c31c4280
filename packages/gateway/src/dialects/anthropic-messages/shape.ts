import { isObject, isObjectList, isSet } from "../core/read.ts";
import type { EventKind, JsonObject } from "../core/types.ts";

/** The member that an event of this type cannot do without. */
const NEEDED: Readonly<Record<string, string>> = {
  message_start: "message",
  content_block_start: "content_block",
  content_block_delta: "delta",
  message_delta: "delta",
};

/** Signs of life and the ends of blocks and messages say nothing by themselves. */
export function kindOfMessageEvent(event: JsonObject): EventKind {
  const needed = typeof event["type"] === "string" ? NEEDED[event["type"]] : undefined;
  if (needed === undefined) return "metadata";
  return isObject(event[needed]) ? "part" : "unreadable";
}

/** A message that says nothing has at least the reason why it ended. */
export function isMessage({ content, stop_reason: reason }: JsonObject): boolean {
  return isObjectList(content) && (content.length > 0 || isSet(reason));
}
