import { isSet } from "../../../core/read.ts";
import type { BridgeContext, JsonObject } from "../../../core/types.ts";
import { leastEffort } from "../models/openai-models.ts";

/**
 * A chat request in which a client's switched-off thinking is the least effort that the model takes: without a word, models
 * that reason do so at their medium. An effort that is more than none is named, as the client asked for none.
 */
export function withLeastEffort(body: JsonObject, context: BridgeContext): JsonObject {
  if (body["fw_reasoning"] !== "none" || isSet(body["reasoning_effort"])) return body;
  const least = leastEffort(context.upstreamModel);
  if (least === undefined) return body;
  if (least !== "none") context.dropped("reasoning_effort");
  return { ...body, reasoning_effort: least };
}
