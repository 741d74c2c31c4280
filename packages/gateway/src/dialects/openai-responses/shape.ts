import { isObject, isObjectList, text } from "../core/read.ts";
import type { EventKind, JsonObject } from "../core/types.ts";

const OF_RESPONSE = /^response\.(?:created|queued|in_progress|completed|incomplete|failed)$/;
const OF_TEXT = /\.(?:output_text|refusal|reasoning_text|reasoning_summary_text|\w+_arguments|\w+_input)\.delta$/;

export function kindOfResponseEvent(event: JsonObject): EventKind {
  const type = text(event, "type") ?? "";
  if (!type.startsWith("response.")) return "metadata";
  if (OF_RESPONSE.test(type)) return isObject(event["response"]) ? "part" : "unreadable";
  if (type.startsWith("response.output_item.")) return isObject(event["item"]) ? "part" : "unreadable";
  return OF_TEXT.test(type) && typeof event["delta"] !== "string" ? "unreadable" : "part";
}

export function isResponse({ output }: JsonObject): boolean {
  return isObjectList(output);
}
