import type { JsonObject } from "../../dialects/types.ts";
import { count } from "../../dialects/read.ts";
import { without } from "../json-edit.ts";
import type { Quirk } from "../types.ts";

const SUFFIX = "-thinking";
const MIN_TOKENS = 1280;
const DEFAULT_TOKENS = 8192;
const SHARE = 0.8;

/** Models that decide themselves how long to think; a budget is refused from 4-7 on. */
const ADAPTIVE = /^claude-(?:[a-z]+-)(?:4-[6-9]|[5-9])/;

const SAMPLING = ["temperature", "top_p", "top_k"];

/** `claude-…-thinking` of the family: the model without the suffix, with thinking switched on. */
export const thinkingSuffix: Quirk = {
  name: "thinking by suffix",
  on: ["anthropic-messages"],
  drops: SAMPLING,
  apply(body, _ask, upstreamModel) {
    if (!upstreamModel.endsWith(SUFFIX)) return body;
    const model = upstreamModel.slice(0, -SUFFIX.length);
    if (body["thinking"] !== undefined) return { ...body, model };
    const plain = without(body, SAMPLING);
    return ADAPTIVE.test(model) ? { ...plain, model, thinking: { type: "adaptive" } } : withBudget(plain, model);
  },
};

function withBudget(body: JsonObject, model: string): JsonObject {
  const limit = Math.max(MIN_TOKENS, count(body, "max_tokens") ?? DEFAULT_TOKENS);
  return { ...body, model, max_tokens: limit, thinking: { type: "enabled", budget_tokens: Math.floor(limit * SHARE) } };
}
