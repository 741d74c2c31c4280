import { claudeModel, thinksAdaptively } from "../../../dialects/bridges/parts/models/claude-models.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { count } from "../../../dialects/core/read.ts";
import { omitMembers } from "../../../dialects/core/json-edit.ts";
import type { RequestTransform } from "../../core/types.ts";

const SUFFIX = "-thinking";
const MIN_TOKENS = 1280;
const DEFAULT_TOKENS = 8192;
const SHARE = 0.8;

/**
 * For models that decide themselves how long to think; without `display`, the newest ones do not show their thinking.
 */
const ADAPTIVE: JsonObject = { type: "adaptive", display: "summarized" };

const SAMPLING = ["temperature", "top_p", "top_k"];

/**
 * Reads the names `claude-…-thinking` of compatible gateways: sends the model without the suffix, with thinking
 * switched on.
 */
export const thinkingSuffix: RequestTransform = {
  name: "thinking by suffix",
  on: ["anthropic-messages", "anthropic-count-tokens"],
  apply(body, spec, upstreamModel) {
    if (!upstreamModel.endsWith(SUFFIX)) return body;
    const model = upstreamModel.slice(0, -SUFFIX.length);
    if (body["thinking"] !== undefined || spec.operation === "count_tokens") return { ...body, model };
    const plain = omitMembers(body, SAMPLING);
    return thinksAdaptively(claudeModel(model)) ? { ...plain, model, thinking: ADAPTIVE } : withBudget(plain, model);
  },
};

function withBudget(body: JsonObject, model: string): JsonObject {
  const limit = Math.max(MIN_TOKENS, count(body, "max_tokens") ?? DEFAULT_TOKENS);
  return { ...body, model, max_tokens: limit, thinking: { type: "enabled", budget_tokens: Math.floor(limit * SHARE) } };
}
