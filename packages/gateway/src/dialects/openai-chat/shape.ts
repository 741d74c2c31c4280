import { isObject, isObjectList, isSet, object, objects, text } from "../core/read.ts";
import type { EventKind, JsonObject, JsonValue } from "../core/types.ts";

/**
 * Classifies a chunk: chunks without a choice are metadata, such as usage, filter results of the prompt, keep-alives.
 */
export function classifyChunk({ choices }: JsonObject): EventKind {
  if (!isSet(choices)) return "metadata";
  if (!isObjectList(choices) || !choices.every(isChoice)) return "unreadable";
  return choices.length === 0 ? "metadata" : "part";
}

export function isChatAnswer({ choices }: JsonObject): boolean {
  return isObjectList(choices) && choices.every((choice) => isObject(choice["message"]) && isChoice(choice));
}

export function isTextAnswer({ choices }: JsonObject): boolean {
  return isObjectList(choices);
}

function isChoice(choice: JsonObject): boolean {
  const said = choice["delta"] ?? choice["message"];
  if (!isSet(said)) return true;
  return (
    isObject(said) && isContent(said["content"]) && (!isSet(said["tool_calls"]) || isObjectList(said["tool_calls"]))
  );
}

function isContent(content: JsonValue | undefined): boolean {
  return !isSet(content) || typeof content === "string" || Array.isArray(content);
}

/**
 * Members of a delta that hold a text. `reasoning` and `reasoning_content` are different servers' names for thoughts.
 */
const TEXTS = ["content", "reasoning_content", "reasoning", "refusal"] as const;
/** Members of a delta that hold a list of things to show. */
const LISTS = ["content", "images", "reasoning_details"] as const;

/** True for a chunk that shows the client something in any of its choices. */
export function showsChoice(chunk: JsonObject): boolean {
  return objects(chunk, "choices").some(
    (choice) => isFull(choice, "text") || showsMessage(object(choice, "delta") ?? object(choice, "message")),
  );
}

function showsMessage(message: JsonObject | undefined): boolean {
  if (message === undefined) return false;
  if (TEXTS.some((key) => isFull(message, key))) return true;
  if (objects(message, "tool_calls").some(showsCall)) return true;
  const legacy = object(message, "function_call");
  if (legacy !== undefined && showsCall({ function: legacy })) return true;
  const audio = object(message, "audio");
  if (isFull(audio, "data") || isFull(audio, "transcript")) return true;
  return LISTS.some((key) => objects(message, key).some(showsPart));
}

function showsCall(call: JsonObject): boolean {
  const target = object(call, "function") ?? object(call, "custom");
  return isFull(target, "name") || isFull(target, "arguments") || isFull(target, "input");
}

/**
 * True for a part that shows something: a part without a text is a picture, a sound or a file; encrypted reasoning
 * shows nothing.
 */
function showsPart(part: JsonObject): boolean {
  if (part["type"] === "reasoning.encrypted") return false;
  const said = text(part, "text") ?? text(part, "summary");
  return said === undefined ? Object.keys(part).some((key) => key !== "type" && key !== "index") : said !== "";
}

function isFull(from: JsonObject | undefined, key: string): boolean {
  return (text(from, key) ?? "") !== "";
}

/** True for a filtered answer: a whole one, or the chunk that ends one. */
export function isFilteredChoice(answer: JsonObject): boolean {
  return objects(answer, "choices").some((choice) => choice["finish_reason"] === "content_filter");
}
