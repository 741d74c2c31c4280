import { isObject, isObjectList, object, objects, text } from "../core/read.ts";
import type { EventKind, JsonObject } from "../core/types.ts";

const OF_RESPONSE = /^response\.(?:created|queued|in_progress|completed|incomplete|failed)$/;
const OF_TEXT = /\.(?:output_text|refusal|reasoning_text|reasoning_summary_text|\w+_arguments|\w+_input)\.delta$/;

export function classifyResponseEvent(event: JsonObject): EventKind {
  const type = text(event, "type") ?? "";
  if (!type.startsWith("response.")) return "metadata";
  if (OF_RESPONSE.test(type)) return isObject(event["response"]) ? "part" : "unreadable";
  if (type.startsWith("response.output_item.")) return isObject(event["item"]) ? "part" : "unreadable";
  return OF_TEXT.test(type) && typeof event["delta"] !== "string" ? "unreadable" : "part";
}

export function isResponse({ output }: JsonObject): boolean {
  return isObjectList(output);
}

/** Items whose start shows nothing; every other item is a tool call or its result. */
const SILENT_ITEMS: ReadonlySet<string> = new Set(["message", "reasoning", "mcp_list_tools", "compaction"]);

/** True for an event that shows the client a piece of the answer. */
export function showsOutput(event: JsonObject): boolean {
  const type = text(event, "type") ?? "";
  if (type.endsWith(".delta")) return isFull(event, "delta");
  if (type.startsWith("response.output_item.")) return showsItem(object(event, "item"));
  if (type.endsWith(".partial_image")) return true;
  return (
    type.endsWith(".done") && (isFull(event, "text") || isFull(event, "refusal") || showsPart(object(event, "part")))
  );
}

function showsItem(item: JsonObject | undefined): boolean {
  if (item === undefined) return false;
  if (!SILENT_ITEMS.has(text(item, "type") ?? "message")) return true;
  return [...objects(item, "content"), ...objects(item, "summary")].some(showsPart);
}

function showsPart(part: JsonObject | undefined): boolean {
  return isFull(part, "text") || isFull(part, "refusal");
}

function isFull(from: JsonObject | undefined, key: string): boolean {
  return (text(from, key) ?? "") !== "";
}

/** True for a refused response: a whole one, or the event that ends one. */
export function isRefusedResponse(answer: JsonObject): boolean {
  const response = object(answer, "response") ?? answer;
  return text(object(response, "incomplete_details"), "reason") === "content_filter";
}
