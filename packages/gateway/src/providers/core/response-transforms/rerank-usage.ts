import type { JsonObject } from "../../../dialects/core/types.ts";
import { count, object } from "../../../dialects/core/read.ts";
import type { ResponseTransform } from "../types.ts";

/**
 * Completes rerank usage: rerankers report tokens only as `usage.total_tokens`, in `meta.tokens` or in
 * `meta.billed_units`.
 */
export const rerankUsage: ResponseTransform = {
  name: "rerank usage",
  on: ["rerank"],
  answer(body) {
    const usage = object(body, "usage");
    if (count(usage, "prompt_tokens") !== undefined) return body;
    const total = count(usage, "total_tokens");
    if (total !== undefined) return { ...body, usage: { prompt_tokens: total, ...usage } };
    const found = metaUsage(object(body, "meta"));
    return found ? { ...body, usage: found } : body;
  },
};

function metaUsage(meta: JsonObject | undefined): JsonObject | undefined {
  const tokens = object(meta, "tokens") ?? object(meta, "billed_units");
  const input = count(tokens, "input_tokens") ?? count(tokens, "search_units");
  if (input === undefined) return undefined;
  const output = count(tokens, "output_tokens") ?? 0;
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}
