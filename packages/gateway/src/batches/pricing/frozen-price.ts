import { exactText, isZero, readExact, toNumber } from "../../billing/money/ratio.ts";
import { toRateTable } from "../../billing/pricing/prompt-borders.ts";
import {
  WEIGHT_NAMES,
  type CallPrice,
  type Origin,
  type Price,
  type RateTable,
  type TokenPrice,
  type TokenRates,
  type WeightName,
} from "../../billing/pricing/rates.ts";
import { tokenPrice } from "../../billing/pricing/token-price.ts";

/** Exact rates as text: a decimal, or a fraction such as `4/3`. */
type FrozenRates = { readonly [K in WeightName]: string };

interface FrozenOrigin extends Origin {
  readonly isSelfUse: boolean;
  readonly hasImageFactors: boolean;
}

interface FrozenTokenPrice extends FrozenOrigin {
  readonly kind: "tokens";
  readonly rates: FrozenRates;
  readonly tiers: readonly { readonly above: number; readonly rates: FrozenRates }[];
  readonly hasImageTokens: boolean;
}

interface FrozenCallPrice extends FrozenOrigin {
  readonly kind: "call";
  readonly exact: string;
  readonly unit: CallPrice["unit"];
}

/** A price that survives JSON exactly. */
export type FrozenPrice = FrozenTokenPrice | FrozenCallPrice;

export function freezePrice(price: Price): FrozenPrice {
  const { source, date, pricedAs, isSelfUse, hasImageFactors } = price;
  const origin = { source, date, isSelfUse, hasImageFactors, ...(pricedAs !== undefined && { pricedAs }) };
  if (price.kind === "call") return { kind: "call", ...origin, exact: exactText(price.exact), unit: price.unit };
  const tiers = price.tiers.map((tier) => ({ above: tier.above, rates: freezeRates(tier) }));
  return { kind: "tokens", ...origin, rates: freezeRates(price), tiers, hasImageTokens: price.hasImageTokens };
}

export function thawPrice(model: string, frozen: FrozenPrice): Price {
  return frozen.kind === "call" ? thawCallPrice(frozen) : thawTokenPrice(model, frozen);
}

function thawCallPrice({ exact: text, ...rest }: FrozenCallPrice): CallPrice {
  const exact = readExact(text);
  return { ...rest, exact, modelPrice: toNumber(exact), isFree: isZero(exact) };
}

function thawTokenPrice(name: string, frozen: FrozenTokenPrice): TokenPrice {
  const { rates, tiers, pricedAs, kind: _kind, ...rest } = frozen;
  const thawed = tiers.map((tier) => ({ above: tier.above, rates: thawRates(tier.rates) }));
  const price = tokenPrice({ name, ...rest, rates: thawRates(rates), tiers: thawed });
  return pricedAs === undefined ? price : { ...price, pricedAs };
}

function freezeRates(rates: TokenRates): FrozenRates {
  const table = toRateTable(rates);
  return Object.fromEntries(WEIGHT_NAMES.map((name) => [name, exactText(table[name])])) as FrozenRates;
}

function thawRates(rates: FrozenRates): RateTable {
  return Object.fromEntries(WEIGHT_NAMES.map((name) => [name, readExact(rates[name])])) as RateTable;
}
