import { lcm, type Ratio } from "../money/ratio.ts";

/** The source of a price and its date of validity, for the pricing page and the log. */
export interface Origin {
  /** "operator", "built-in defaults", "list price of <vendor>", "self-use"; with ", as <model>" for a mapped name. */
  readonly source: string;
  /** ISO date or month; "" for the operator's own. */
  readonly date: string;
  /** The model that channels map the name to, if the price is the price of that model. */
  readonly pricedAs?: string;
}

export const OPERATOR: Origin = { source: "operator", date: "" };

interface Terms extends Origin {
  /** True if no usage costs anything, so no balance is needed. */
  readonly isFree: boolean;
  /** True if the model has no price and the only user is the owner. */
  readonly isSelfUse: boolean;
}

/**
 * Quota units per counted item, as integers over one denominator, so that a charge is one exact sum. `exact` is always
 * valid; `fast` repeats it as doubles, or is undefined if a value is not a safe integer.
 */
export interface Weights {
  readonly exact: WeightTable<bigint>;
  readonly fast: WeightTable<number> | undefined;
}

export type WeightTable<N> = { readonly [K in WeightName | "denominator"]: N };

export const WEIGHT_NAMES = [
  "input",
  "output",
  "cached",
  "write",
  "write1h",
  "audioInput",
  "audioOutput",
  "imageInput",
  "reasoning",
  "image",
  "second",
  "character",
  "query",
] as const;
export type WeightName = (typeof WEIGHT_NAMES)[number];

/** Ratios as the console and the log show them; charges use `weights`. */
export interface TokenRates {
  /** 1 = 0.002 US dollars per 1,000 tokens. */
  readonly modelRatio: number;
  /** Ratio of output to input; the next ratios are to input as well. */
  readonly completionRatio: number;
  readonly cacheRatio: number;
  readonly cacheWriteRatio: number;
  readonly audioRatio: number;
  /** Ratio of audio output to audio input. */
  readonly audioCompletionRatio: number;
  readonly imageRatio: number;
  readonly weights: Weights;
}

/** Charged by tokens. A prompt longer than `above` tokens is charged by that tier as a whole. */
export interface TokenPrice extends TokenRates, Terms {
  readonly kind: "tokens";
  /** Highest threshold first. */
  readonly tiers: readonly (TokenRates & { readonly above: number })[];
  /** The vendor counts generated images as output tokens. */
  readonly hasImageTokens: boolean;
  readonly hasImageFactors: boolean;
}

/** Charged per call, or per thing that the call counts. */
export interface CallPrice extends Terms {
  readonly kind: "call";
  /** US dollars; for a session, US dollars per second. */
  readonly modelPrice: number;
  /** The price of one unit; the unit of sessions is a tenth of a second. */
  readonly exact: Ratio;
  readonly unit: "call" | "image" | "second" | "query" | "tenth";
  /** True if size and quality of an image change the price; a list price is for one size. */
  readonly hasImageFactors: boolean;
}

export type Price = TokenPrice | CallPrice;

/** Returns the rates that apply to a prompt of this length. */
export function ratesFor(price: TokenPrice, promptTokens: number): TokenRates {
  for (const tier of price.tiers) if (promptTokens > tier.above) return tier;
  return price;
}

export type RateTable = { readonly [K in WeightName]: Ratio };

/** Converts rates to their common denominator. */
export function toWeights(rates: RateTable): Weights {
  let denominator = 1n;
  for (const name of WEIGHT_NAMES) denominator = lcm(denominator, rates[name].den);
  const exact = { denominator } as Record<WeightName | "denominator", bigint>;
  const fast = { denominator: Number(denominator) } as Record<WeightName | "denominator", number>;
  for (const name of WEIGHT_NAMES) {
    exact[name] = rates[name].num * (denominator / rates[name].den);
    fast[name] = Number(exact[name]);
  }
  return { exact, fast: Object.values(fast).every(Number.isSafeInteger) ? fast : undefined };
}
