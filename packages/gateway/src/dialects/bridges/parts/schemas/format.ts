import { object, text } from "../../../core/read.ts";
import type { BridgeContext } from "../../../core/bridge.ts";
import type { JsonObject } from "../../../core/types.ts";
import { unsupportedPart } from "../answer/refused.ts";

const KNOWN = new Set(["text", "json_object", "json_schema"]);

/** Refuses an answer format that no other protocol has, such as a grammar. */
export function checkFormat(body: JsonObject, context: BridgeContext, takesJson = true): void {
  const type = text(object(body, "response_format"), "type");
  if (type === undefined || type === "text" || (takesJson && KNOWN.has(type))) return;
  throw unsupportedPart(`response_format.${type}`, context);
}
