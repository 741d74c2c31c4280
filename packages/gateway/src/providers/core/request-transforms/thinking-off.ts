import type { JsonObject } from "../../../dialects/core/types.ts";
import type { RequestTransform } from "../types.ts";

/**
 * Models that think unless they are instructed not to. A client of another protocol that switches thinking off is put into the
 * vendor's words; chat clients write these themselves.
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
