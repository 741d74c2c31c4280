import { anyText, isObject, isObjectList, isSet, object } from "../core/read.ts";
import type { EventKind, JsonObject } from "../core/types.ts";

/** The member that an event of this type cannot do without. */
const NEEDED: Readonly<Record<string, string>> = {
  message_start: "message",
  content_block_start: "content_block",
  content_block_delta: "delta",
  message_delta: "delta",
};

/** Signs of life and the ends of blocks and messages say nothing by themselves. */
export function classifyMessageEvent(event: JsonObject): EventKind {
  const needed = typeof event["type"] === "string" ? NEEDED[event["type"]] : undefined;
  if (needed === undefined) return "metadata";
  return isObject(event[needed]) ? "part" : "unreadable";
}

/** A message that says nothing has at least the reason why it ended. */
export function isMessage({ content, stop_reason: reason }: JsonObject): boolean {
  return isObjectList(content) && (content.length > 0 || isSet(reason));
}

/** Blocks that open empty, or hold what only the vendor can read. */
const SILENT_BLOCKS: ReadonlySet<unknown> = new Set(["text", "thinking", "redacted_thinking", "compaction", undefined]);

/** True for an event that shows the client a piece of the message. */
export function showsBlock(event: JsonObject): boolean {
  if (event["type"] === "content_block_delta")
    return anyText(object(event, "delta"), "text", "thinking", "partial_json", "content") !== "";
  const block = event["type"] === "content_block_start" ? object(event, "content_block") : undefined;
  if (block === undefined) return false;
  return !SILENT_BLOCKS.has(block["type"]) || anyText(block, "text", "thinking", "content") !== "";
}

/** A whole message, or the event that ends one. */
export function isRefusedMessage(answer: JsonObject): boolean {
  return (object(answer, "delta") ?? answer)["stop_reason"] === "refusal";
}
