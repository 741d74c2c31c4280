import {
  AUDIO_COMPLETION_RATIO,
  resolveAudioRatio,
  CACHE_WRITE_RATIO,
  resolveCompletionRatio,
  ONE_HOUR_FACTOR,
} from "./default-ratios.ts";
import {
  toWeights,
  type Origin,
  type RateTable,
  type TokenPrice,
  type TokenRates,
  type WeightName,
  WEIGHT_NAMES,
} from "./rates.ts";
import { reduceFraction, isZero, ONE, over, ratio, type Ratio, times, toNumber, ZERO_RATIO } from "../money/ratio.ts";

/** Ratios that an operator set for one model; each replaces the default. */
export interface Overrides {
  readonly modelRatio?: Ratio | undefined;
  readonly completionRatio?: Ratio | undefined;
  readonly cacheRatio?: Ratio | undefined;
  readonly cacheWriteRatio?: Ratio | undefined;
  readonly imageRatio?: Ratio | undefined;
  readonly audioRatio?: Ratio | undefined;
  readonly audioCompletionRatio?: Ratio | undefined;
}

/** Price of an image for a model that is priced by tokens and reports none: 0.0025 US dollars at ratio 1. */
export const IMAGE_UNIT = ratio(1250);
/** Tokens per second of speech, at 200 tokens a minute. */
export const TOKENS_PER_SECOND = reduceFraction(10n, 3n);

/** Returns the rates of a model that has only ratios; `cacheRatio` is the value of the option or its default. */
export function compatibleRates(name: string, modelRatio: Ratio, cacheRatio: Ratio): RateTable {
  const output = times(modelRatio, resolveCompletionRatio(name));
  const write = times(modelRatio, CACHE_WRITE_RATIO);
  const audioInput = times(modelRatio, resolveAudioRatio(name));
  return {
    input: modelRatio,
    output,
    cached: times(modelRatio, cacheRatio),
    write,
    write1h: times(write, ONE_HOUR_FACTOR),
    audioInput,
    audioOutput: times(audioInput, AUDIO_COMPLETION_RATIO),
    imageInput: modelRatio,
    reasoning: output,
    image: times(modelRatio, IMAGE_UNIT),
    second: times(modelRatio, TOKENS_PER_SECOND),
    character: modelRatio,
    query: ZERO_RATIO,
  };
}

/** Applies overrides. A model ratio scales the whole table, so that the proportions of a list price remain. */
export function override(rates: RateTable, by: Overrides): RateTable {
  const table: Record<WeightName, Ratio> = { ...rates };
  if (by.modelRatio && !isZero(rates.input)) {
    const factor = over(by.modelRatio, rates.input);
    for (const name of WEIGHT_NAMES) table[name] = times(rates[name], factor);
  }
  if (by.completionRatio) table.output = table.reasoning = times(table.input, by.completionRatio);
  if (by.cacheRatio) table.cached = times(table.input, by.cacheRatio);
  if (by.cacheWriteRatio) {
    table.write = times(table.input, by.cacheWriteRatio);
    table.write1h = times(table.write, ONE_HOUR_FACTOR);
  }
  if (by.imageRatio) table.imageInput = times(table.input, by.imageRatio);
  if (by.audioRatio) {
    const outputRatio = isZero(rates.audioInput) ? AUDIO_COMPLETION_RATIO : over(rates.audioOutput, rates.audioInput);
    table.audioInput = times(table.input, by.audioRatio);
    table.audioOutput = times(table.audioInput, outputRatio);
  }
  if (by.audioCompletionRatio) table.audioOutput = times(table.audioInput, by.audioCompletionRatio);
  return table;
}

export interface Tier {
  readonly above: number;
  readonly rates: RateTable;
}

export interface TokenPriceParts extends Origin {
  readonly isSelfUse?: boolean;
  readonly name: string;
  readonly rates: RateTable;
  readonly tiers?: readonly Tier[];
  readonly hasImageTokens?: boolean;
  readonly hasImageFactors?: boolean;
}

/** Returns a price by tokens: each rate as a ratio to the input rate, the highest tier first. */
export function tokenPrice(parts: TokenPriceParts): TokenPrice {
  const {
    name,
    rates,
    tiers = [],
    hasImageTokens = false,
    hasImageFactors = false,
    isSelfUse = false,
    source,
    date,
  } = parts;
  return {
    kind: "tokens",
    ...shown(name, rates),
    tiers: tiers.map((tier) => ({ above: tier.above, ...shown(name, tier.rates) })).sort((a, b) => b.above - a.above),
    hasImageTokens,
    hasImageFactors,
    isFree: [rates, ...tiers.map((tier) => tier.rates)].every((table) =>
      WEIGHT_NAMES.every((weight) => isZero(table[weight])),
    ),
    isSelfUse,
    source,
    date,
  };
}

function shown(name: string, rates: RateTable): TokenRates {
  const toInput = (rate: Ratio, otherwise: Ratio) =>
    toNumber(isZero(rates.input) ? otherwise : over(rate, rates.input));
  return {
    modelRatio: toNumber(rates.input),
    completionRatio: toInput(rates.output, resolveCompletionRatio(name)),
    cacheRatio: toInput(rates.cached, ONE),
    cacheWriteRatio: toInput(rates.write, CACHE_WRITE_RATIO),
    audioRatio: toInput(rates.audioInput, resolveAudioRatio(name)),
    audioCompletionRatio: toNumber(
      isZero(rates.audioInput) ? AUDIO_COMPLETION_RATIO : over(rates.audioOutput, rates.audioInput),
    ),
    imageRatio: toInput(rates.imageInput, ONE),
    weights: toWeights(rates),
  };
}
