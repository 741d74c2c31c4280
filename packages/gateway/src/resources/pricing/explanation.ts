import type { PricingExplanation } from "@fairway/wire";
import { explain } from "../../billing/pricing/explain.ts";
import { exactText, knownRatio } from "../../billing/money/ratio.ts";
import { NO_USAGE } from "../../dialects/core/types.ts";
import type { Snapshot } from "../../snapshot/types.ts";

export interface Explained {
  readonly model: string;
  readonly group: string;
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
}

/** More than any response has; the charge of any number up to this can be computed. */
const MAX_TOKENS = 1_000_000_000;

/** Explains a charge with the prices and arithmetic of real charges; returns null for a model without a price. */
export function explainPrice(
  { prices, options }: Pick<Snapshot, "prices" | "options">,
  { model, group, prompt, completion, cached }: Explained,
): PricingExplanation | null {
  const price = prices.charged(model);
  if (!price) return null;
  const most = (count: number) => Math.min(count, MAX_TOKENS);
  const usage = { ...NO_USAGE, input: most(prompt), output: most(completion), cachedInput: most(cached) };
  const groupRatio = prices.groupRatio(group);
  const spec = { model, operation: "chat" as const };
  const terms = { groupRatio, spec, quotaPerUnit: knownRatio(String(options.QuotaPerUnit)) };
  const { parts, rates, exact, quota } = explain(usage, price, terms);
  const tier = price.kind === "tokens" ? price.tiers.find((one) => one === rates) : undefined;
  return {
    model,
    group,
    source: price.source,
    date: price.date,
    quota_type: price.kind === "call" ? 1 : 0,
    ...(tier ? { tier_above: tier.above } : {}),
    ...(rates
      ? { ratios: { model: rates.modelRatio, completion: rates.completionRatio, cache: rates.cacheRatio } }
      : {}),
    parts: parts.map(({ name, count, rate, quota: part }) => ({
      name,
      count,
      rate: exactText(rate),
      quota: exactText(part),
    })),
    group_ratio: exactText(knownRatio(groupRatio)),
    exact: exactText(exact),
    quota,
    quota_per_unit: options.QuotaPerUnit,
  };
}
