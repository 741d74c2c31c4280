import { isObject, isObjectList, isSet } from "../core/read.ts";
import type { EventKind, JsonObject, JsonValue } from "../core/types.ts";

/** Chunks without a choice are not part of the answer: usage, filters of the prompt, signs of life. */
export function kindOfChunk({ choices }: JsonObject): EventKind {
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
