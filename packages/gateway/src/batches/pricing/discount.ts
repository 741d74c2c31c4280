import { isZero, times, toNumber, type Ratio } from "../../billing/money/ratio.ts";
import { toRateTable } from "../../billing/pricing/prompt-borders.ts";
import {
  WEIGHT_NAMES,
  type Price,
  type RateTable,
  type TokenRates,
  type WeightName,
} from "../../billing/pricing/rates.ts";
import { tokenPrice } from "../../billing/pricing/token-price.ts";
import type { BatchRatio } from "./batch-ratio.ts";

const OUTPUTS: ReadonlySet<WeightName> = new Set(["output", "reasoning", "audioOutput", "image"]);
const CACHES: ReadonlySet<WeightName> = new Set(["cached", "write", "write1h"]);

interface Discount extends BatchRatio {
  /** The upstream charges cached tokens of batches as plain input. */
  readonly isCacheIgnored: boolean;
}

/** Returns the price of a request in a batch. A price per call has no sides; it takes the ratio of the input. */
export function discountPrice(model: string, price: Price, discount: Discount): Price {
  if (price.kind === "call") {
    const exact = times(price.exact, discount.input);
    return { ...price, exact, modelPrice: toNumber(exact), isFree: isZero(exact) };
  }
  const { pricedAs, hasImageFactors, hasImageTokens, isSelfUse, source, date } = price;
  const rates = discountRates(price, discount);
  const tiers = price.tiers.map((tier) => ({ above: tier.above, rates: discountRates(tier, discount) }));
  const parts = { name: model, rates, tiers, hasImageFactors, hasImageTokens, isSelfUse, source, date };
  return { ...tokenPrice(parts), ...(pricedAs !== undefined && { pricedAs }) };
}

function discountRates(rates: TokenRates, { input, output, cached = input, isCacheIgnored }: Discount): RateTable {
  const plain = toRateTable(rates);
  const find = (name: WeightName): Ratio => {
    if (isCacheIgnored && CACHES.has(name)) return times(plain.input, input);
    if (name === "cached") return times(plain.cached, cached);
    return times(plain[name], OUTPUTS.has(name) ? output : input);
  };
  return Object.fromEntries(WEIGHT_NAMES.map((name) => [name, find(name)])) as RateTable;
}
