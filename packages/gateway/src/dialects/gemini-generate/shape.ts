import { isObject, isObjectList, isSet, object } from "../core/read.ts";
import type { EventKind, JsonObject, JsonValue } from "../core/types.ts";

/** Usage alone is not part of the answer; a prompt that was blocked is answered by that. */
export function kindOfPiece(piece: JsonObject): EventKind {
  const { candidates } = piece;
  if (isSet(candidates) && !(isObjectList(candidates) && candidates.every(isCandidate))) return "unreadable";
  if (Array.isArray(candidates) && candidates.length > 0) return "part";
  return isSet(object(piece, "promptFeedback")?.["blockReason"]) ? "part" : "metadata";
}

function isCandidate({ content }: JsonObject): boolean {
  return !isSet(content) || (isObject(content) && isParts(content["parts"]));
}

function isParts(parts: JsonValue | undefined): boolean {
  return !isSet(parts) || isObjectList(parts);
}
