import type { JsonObject } from "../../../dialects/core/types.ts";
import type { RequestTransform } from "../types.ts";

/**
 * Builds the repair for models that think unless they are instructed not to. If a client of another protocol switches
 * thinking off, the request gets the vendor's own members; chat clients write these themselves.
 */
export function thinkingOff(models: RegExp, words: JsonObject): RequestTransform {
  return {
    name: "thinking switched off",
    apply(body, spec, upstreamModel) {
      const isAsked = spec.isThinkingOff === true && spec.dialect !== "openai-chat";
      return isAsked && models.test(upstreamModel) ? { ...words, ...body } : body;
    },
  };
}
