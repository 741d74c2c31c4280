import { isSet } from "../../../core/read.ts";
import type { BridgeContext } from "../../../core/bridge.ts";
import type { JsonObject } from "../../../core/types.ts";
import { leastEffort } from "../models/openai-models.ts";

/**
 * Returns a chat request in which switched-off thinking becomes the least effort that the model takes: without an
 * effort, reasoning models use their medium one. An effort above none is reported, because the client requested none.
 */
export function withLeastEffort(body: JsonObject, context: BridgeContext): JsonObject {
  if (body["fw_reasoning"] !== "none" || isSet(body["reasoning_effort"])) return body;
  const least = leastEffort(context.upstreamModel);
  if (least === undefined) return body;
  if (least !== "none") context.dropped("reasoning_effort");
  return { ...body, reasoning_effort: least };
}
