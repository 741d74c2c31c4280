import { isObject, isObjectList, isSet, object, objects } from "../core/read.ts";
import type { EventKind, JsonObject, JsonValue } from "../core/types.ts";

/** Classifies a piece: usage alone is metadata; the block reason of a prompt is its answer. */
export function classifyPiece(piece: JsonObject): EventKind {
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

/** Members of a part that show the client nothing by themselves. */
const SILENT_MEMBERS: ReadonlySet<string> = new Set(["text", "thought", "thoughtSignature", "thought_signature"]);

/** True for a piece that shows the client a part of a candidate. */
export function showsPiece(piece: JsonObject): boolean {
  return objects(piece, "candidates").some((candidate) =>
    objects(object(candidate, "content"), "parts").some(showsPart),
  );
}

function showsPart(part: JsonObject): boolean {
  const { text } = part;
  if (typeof text === "string" && text !== "") return true;
  return Object.keys(part).some((key) => !SILENT_MEMBERS.has(key) && isSet(part[key]));
}

const REFUSED: ReadonlySet<unknown> = new Set([
  "SAFETY",
  "RECITATION",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "IMAGE_SAFETY",
]);

/** True for a blocked prompt, or an answer that a filter ended. */
export function isBlockedPiece(piece: JsonObject): boolean {
  if (isSet(object(piece, "promptFeedback")?.["blockReason"])) return true;
  return objects(piece, "candidates").some((candidate) => REFUSED.has(candidate["finishReason"]));
}
