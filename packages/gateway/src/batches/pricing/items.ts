import type { OptionValues } from "@fairway/wire";
import { quota, quotaAtMost, ZERO, type Quota } from "../../billing/money/quota.ts";
import { ceiling } from "../../billing/money/ratio.ts";
import { estimate } from "../../billing/pricing/estimate.ts";
import { charge, type Priced } from "../../billing/pricing/price.ts";
import type { PriceBook } from "../../billing/pricing/price-book.ts";
import type { RequestSpec, Usage } from "../../dialects/core/types.ts";
import { hasOutputTokens } from "../../relay/reservation/output-reservation.ts";
import { reserveTools, toolSurcharges } from "../../relay/reservation/reservation-terms.ts";
import type { ModelTerms, OpenTerms } from "./terms.ts";

interface ItemEstimate {
  readonly amount: Quota;
  /** True if the request limits its output neither itself nor by its kind, so that a length was assumed. */
  readonly isUncapped: boolean;
}

interface EstimateContext {
  readonly prices: Pick<PriceBook, "limits">;
  readonly options: Pick<OptionValues, "PreConsumedQuota" | "BatchAssumedOutput">;
}

/** Returns what a request of a batch may cost, rounded up, like the reservation of a call. */
export function estimateItem(terms: OpenTerms, spec: RequestSpec, { prices, options }: EstimateContext): ItemEstimate {
  const { pricesOf, surcharges } = requireModel(terms, spec.model);
  const { price } = pricesOf(spec.tiers ?? []);
  const { groupRatio, quotaPerUnit } = terms;
  const longest = prices.limits(spec.model).outputTokens ?? Infinity;
  const tokens = estimate(spec, price, groupRatio, {
    preConsumedQuota: options.PreConsumedQuota,
    defaultOutputTokens: Math.min(longest, options.BatchAssumedOutput),
    quotaPerUnit,
  });
  const tools = spec.hostedTools ? reserveTools(spec, { groupRatio, quotaPerUnit, surcharges }) : ZERO;
  return {
    amount: quotaAtMost(BigInt(tokens) + BigInt(tools)),
    isUncapped: spec.outputCap === undefined && hasOutputTokens(spec) && price.kind === "tokens" && tokens > 0,
  };
}

export interface ItemCharge {
  readonly quota: Quota;
  /** What the same usage costs outside of batches. */
  readonly full: Quota;
}

/** What an answer says about its price besides its usage. */
export interface AnswerFacts extends Pick<Priced, "size" | "quality"> {
  /** Tiers that served. */
  readonly tiers?: readonly string[];
}

/** Returns the charge of one request, rounded once. Tools that the vendor ran have no discount. */
export function priceItem(
  terms: OpenTerms,
  { model, pricesOf, surcharges: tools }: ModelTerms,
  usage: Usage,
  { tiers = [], ...image }: AnswerFacts = {},
): ItemCharge {
  const { price, full } = pricesOf(tiers);
  const { groupRatio, quotaPerUnit, operation } = terms;
  const surcharges = usage.toolCalls && toolSurcharges(usage.toolCalls, { model }, { surcharges: tools });
  const spec = { model, operation, ...image };
  const how = { groupRatio, spec, quotaPerUnit, ...(surcharges && { surcharges }) };
  return { quota: charge(usage, price, how), full: charge(usage, full, how) };
}

/** Returns the deposit for the sum of all estimates. `isCovered`: a hard budget has to cover all of it. */
export function calculateDeposit(
  estimated: number,
  { BatchDepositPercent }: Pick<OptionValues, "BatchDepositPercent">,
  isCovered: boolean,
): Quota {
  const percent = isCovered ? Math.max(100, BatchDepositPercent) : BatchDepositPercent;
  // More than a balance can hold is refused by the balance, not by an error of the sum.
  const sum = quota(Math.min(estimated, Number.MAX_SAFE_INTEGER));
  return quotaAtMost(ceiling(BigInt(sum) * BigInt(percent), 100n));
}

export function requireModel({ models }: OpenTerms, model: string): ModelTerms {
  const found = models.get(model);
  if (!found) throw new Error(`the terms of the batch do not name the model ${model}`);
  return found;
}
