import type { PromptBorder } from "@fairway/wire";
import { reduceFraction, ratio, times, type Ratio } from "../money/ratio.ts";
import { WEIGHT_NAMES, type Price, type RateTable, type TokenRates, type WeightName } from "./rates.ts";
import { tokenPrice, type Tier } from "./token-price.ts";

/** Weights that do not belong to the prompt. */
const OF_OUTPUT: ReadonlySet<WeightName> = new Set(["output", "reasoning", "audioOutput"]);
/** Items that are counted individually; a long prompt does not change their price. */
const APART: ReadonlySet<WeightName> = new Set(["image", "second", "character", "query"]);

/** Returns the price with the operator's borders in place of the vendor's; a price per call has none. */
export function withBorders(name: string, price: Price, borders: readonly PromptBorder[] | undefined): Price {
  if (borders === undefined || price.kind === "call") return price;
  const rates = toRateTable(price);
  const { hasImageTokens, hasImageFactors, isSelfUse, pricedAs } = price;
  const tiers = borders.map((border) => buildTier(rates, border));
  const source = pricedAs === undefined ? "operator" : `operator, as ${pricedAs}`;
  const parts = { name, rates, tiers, hasImageTokens, hasImageFactors, isSelfUse, source, date: "" };
  return { ...tokenPrice(parts), ...(pricedAs !== undefined && { pricedAs }) };
}

function buildTier(rates: RateTable, { above, input, output = input, cached = input }: PromptBorder): Tier {
  const [ofInput, ofOutput, ofCached] = [ratio(input), ratio(output), ratio(cached)];
  return {
    above,
    rates: table((name) => {
      if (APART.has(name)) return rates[name];
      return times(rates[name], OF_OUTPUT.has(name) ? ofOutput : name === "cached" ? ofCached : ofInput);
    }),
  };
}

/** Returns the exact rates of a price or tier. */
export function toRateTable({ weights: { exact } }: TokenRates): RateTable {
  return table((name) => reduceFraction(exact[name], exact.denominator));
}

function table(calculateRate: (name: WeightName) => Ratio): RateTable {
  return Object.fromEntries(WEIGHT_NAMES.map((name) => [name, calculateRate(name)])) as RateTable;
}
