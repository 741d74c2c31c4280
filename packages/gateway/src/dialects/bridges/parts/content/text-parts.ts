import { anyText, isObject, text } from "../../../core/read.ts";
import type { BridgeContext } from "../../../core/bridge.ts";
import type { JsonObject, JsonValue } from "../../../core/types.ts";
import { readPartKind, unsupportedPart } from "../answer/refused.ts";

const TEXTS = new Set(["text", "refusal"]);

/** True for a part of another kind that happens to hold a text. */
export function isUnknown(part: JsonObject): boolean {
  const type = text(part, "type");
  return type !== undefined && !TEXTS.has(type);
}

/** Returns the texts of a message that holds nothing else; throws for a part that is not a text. */
export function onlyTexts(content: JsonValue | undefined, context: BridgeContext): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.filter(isObject).map((part) => {
    if (isUnknown(part)) throw unsupportedPart(`messages.content.${readPartKind(part)}`, context);
    return anyText(part, "text", "refusal");
  });
}
