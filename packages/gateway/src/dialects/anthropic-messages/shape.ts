import { anyText, isObject, isObjectList, isSet, object } from "../core/read.ts";
import type { EventKind, JsonObject } from "../core/types.ts";

/** The member that an event of each type must have. */
const NEEDED: Readonly<Record<string, string>> = {
  message_start: "message",
  content_block_start: "content_block",
  content_block_delta: "delta",
  message_delta: "delta",
};

/** Classifies an event: keep-alives and the ends of blocks and messages are metadata. */
export function classifyMessageEvent(event: JsonObject): EventKind {
  const needed = typeof event["type"] === "string" ? NEEDED[event["type"]] : undefined;
  if (needed === undefined) return "metadata";
  return isObject(event[needed]) ? "part" : "unreadable";
}

/** True for a message: an empty one has at least a stop reason. */
export function isMessage({ content, stop_reason: reason }: JsonObject): boolean {
  return isObjectList(content) && (content.length > 0 || isSet(reason));
}

/** Blocks that start empty, or whose content only the vendor can read. */
const SILENT_BLOCKS: ReadonlySet<unknown> = new Set(["text", "thinking", "redacted_thinking", "compaction", undefined]);

/** True for an event that shows the client a piece of the message. */
export function showsBlock(event: JsonObject): boolean {
  if (event["type"] === "content_block_delta")
    return anyText(object(event, "delta"), "text", "thinking", "partial_json", "content") !== "";
  const block = event["type"] === "content_block_start" ? object(event, "content_block") : undefined;
  if (block === undefined) return false;
  return !SILENT_BLOCKS.has(block["type"]) || anyText(block, "text", "thinking", "content") !== "";
}

/** True for a refused message: a whole one, or the event that ends one. */
export function isRefusedMessage(answer: JsonObject): boolean {
  return (object(answer, "delta") ?? answer)["stop_reason"] === "refusal";
}
