import type { BatchPrice } from "@fairway/wire";
import { toNumber } from "../../billing/money/ratio.ts";
import { openTerms, type BatchTerms, type ModelTerms } from "../pricing/terms.ts";
import type { BatchRow } from "../row.ts";

const BY_TOKENS =
  "((input_tokens + cached_tokens * cache_ratio) * input_ratio + output_tokens * completion_ratio * output_ratio) * model_ratio * group_ratio";
const BY_CALL = "model_price * input_ratio * QuotaPerUnit * group_ratio";

/** Returns the prices of a batch, one for each model; none for a batch whose lines were refused before they had a price. */
export function describePrices({ terms }: Pick<BatchRow, "terms">): BatchPrice[] {
  const stored = JSON.parse(terms) as Partial<BatchTerms>;
  if (stored.models === undefined) return [];
  const { models, groupRatio } = openTerms(stored as BatchTerms);
  return [...models.values()].map((model) => describePrice(model, groupRatio));
}

function describePrice({ model, full, inputRatio, outputRatio }: ModelTerms, groupRatio: string): BatchPrice {
  const ratios = {
    group_ratio: Number(groupRatio),
    input_ratio: toNumber(inputRatio),
    output_ratio: toNumber(outputRatio),
  };
  if (full.kind === "call") {
    const none = { model_ratio: 0, completion_ratio: 0, cache_ratio: 0 };
    return { model, formula: BY_CALL, ...none, model_price: full.modelPrice, ...ratios };
  }
  const { modelRatio: model_ratio, completionRatio: completion_ratio, cacheRatio: cache_ratio } = full;
  return { model, formula: BY_TOKENS, model_ratio, completion_ratio, cache_ratio, model_price: -1, ...ratios };
}
