import {
  AUDIO_COMPLETION_RATIO,
  resolveAudioRatio,
  CACHE_WRITE_RATIO,
  hasAudioRule,
  ONE_HOUR_FACTOR,
} from "./default-ratios.ts";
import type { CallPrice, Price, RateTable } from "./rates.ts";
import { LIST_DATE, type ListPrice } from "./price-data.ts";
import {
  reduceFraction,
  isZero,
  ONE,
  over,
  plus,
  ratio,
  type Ratio,
  times,
  toNumber,
  ZERO_RATIO,
} from "../money/ratio.ts";
import { IMAGE_UNIT, override, type Overrides, type Tier, tokenPrice, TOKENS_PER_SECOND } from "./token-price.ts";

/** One US dollar per million tokens. */
const PER_MILLION = ratio("0.5");
/** One US dollar. */
const DOLLAR = ratio(500_000);
/** Tokens of one square image of medium quality, for image models whose answer reports none. */
const TOKENS_PER_IMAGE = ratio(1056);

/**
 * Converts a list price to rates. Speech by characters or seconds gets a price by tokens, as compatible gateways bill
 * it (a character is a token, a second is 10/3 tokens); images, searches and seconds of video are charged per item.
 * Undefined if the list has no price that a request can be charged by.
 */
export function priceFromList(name: string, entry: ListPrice, cacheRatio: Ratio, by: Overrides): Price | undefined {
  const origin = { source: `list price of ${entry.provider}`, date: LIST_DATE };
  const perCall = pricedThing(entry);
  if (perCall) {
    const exact = ratio(perCall.price);
    const isFree = isZero(exact);
    return {
      kind: "call",
      unit: perCall.unit,
      exact,
      modelPrice: toNumber(exact),
      hasImageFactors: false,
      isFree,
      isSelfUse: false,
      ...origin,
    };
  }
  if (isOnlyByTime(entry) && entry.mode !== "audio_transcription") return undefined;
  const rates = override(tokenRates(name, entry, cacheRatio), by);
  const tiers = buildTiers(name, entry, cacheRatio).map((tier) => scaled(tier, by));
  return tokenPrice({ name, rates, tiers, hasImageTokens: hasImageTokens(entry), ...origin });

  function scaled(tier: Tier, { modelRatio, ...others }: Overrides): Tier {
    const base = dollars(entry.input);
    const ofTier = modelRatio && !isZero(base) ? times(tier.rates.input, over(modelRatio, base)) : undefined;
    return { above: tier.above, rates: override(tier.rates, { modelRatio: ofTier, ...others }) };
  }
}

const TOKEN_COLUMNS = ["input", "output", "inputAudio", "outputAudio", "inputImageToken", "outputImageToken"] as const;

function hasTokenPrice(entry: ListPrice): boolean {
  return TOKEN_COLUMNS.some((column) => Number(entry[column] ?? 0) > 0);
}

function isOnlyByTime(entry: ListPrice): boolean {
  return !hasTokenPrice(entry) && entry.perCharacter === undefined && entry.perSecondIn !== undefined;
}

/** Returns the charged unit, and US dollars for one. */
function pricedThing(entry: ListPrice): { readonly unit: CallPrice["unit"]; readonly price: string } | undefined {
  if (hasTokenPrice(entry) || entry.perCharacter !== undefined) return undefined;
  if (entry.perQuery !== undefined) return { unit: "query", price: entry.perQuery };
  const image = entry.perImage ?? (entry.perSecondOut === undefined ? entry.perInputImage : undefined);
  if (image !== undefined) return { unit: "image", price: image };
  if (entry.mode !== "video_generation" || entry.perSecondOut === undefined) return undefined;
  return { unit: "second", price: entry.perSecondOut };
}

function dollars(perMillion: string | undefined): Ratio {
  return perMillion === undefined ? ZERO_RATIO : times(ratio(perMillion), PER_MILLION);
}

function tokenRates(name: string, entry: ListPrice, cacheRatio: Ratio): RateTable {
  const input = inputRate(entry);
  const text = entry.output === undefined && !hasTokenPrice(entry) ? input : dollars(entry.output);
  const audioInput = audioInputRate(name, entry, input);
  const audioOutput = audioOutputRate(name, entry, { audioInput, text });
  return {
    input,
    output: hasImageTokens(entry) ? dollars(entry.outputImageToken) : text,
    cached: entry.cacheRead === undefined ? times(input, cacheRatio) : dollars(entry.cacheRead),
    ...writeRates(entry, input),
    audioInput,
    audioOutput,
    imageInput: entry.inputImageToken === undefined ? input : dollars(entry.inputImageToken),
    reasoning: entry.reasoning === undefined ? text : dollars(entry.reasoning),
    image: imageRate(entry, input),
    second: secondRate(entry, input),
    character: characterRate(entry, input, audioOutput),
    query: entry.perQuery === undefined ? ZERO_RATIO : perUnit(entry.perQuery),
  };
}

function hasImageTokens(entry: ListPrice): boolean {
  return entry.mode === "image_generation" && entry.outputImageToken !== undefined;
}

function writeRates(entry: ListPrice, input: Ratio): Pick<RateTable, "write" | "write1h"> {
  const write = entry.cacheWrite === undefined ? times(input, CACHE_WRITE_RATIO) : dollars(entry.cacheWrite);
  return {
    write,
    write1h: entry.cacheWrite1h === undefined ? times(write, ONE_HOUR_FACTOR) : dollars(entry.cacheWrite1h),
  };
}

function imageRate(entry: ListPrice, input: Ratio): Ratio {
  if (entry.perImage !== undefined) return perUnit(entry.perImage);
  return hasImageTokens(entry) ? times(dollars(entry.outputImageToken), TOKENS_PER_IMAGE) : times(input, IMAGE_UNIT);
}

function perUnit(price: string): Ratio {
  return times(ratio(price), DOLLAR);
}

function inputRate(entry: ListPrice): Ratio {
  if (hasTokenPrice(entry)) return dollars(entry.input);
  if (entry.perCharacter !== undefined) return perUnit(entry.perCharacter);
  return entry.perSecondIn === undefined ? ZERO_RATIO : over(perUnit(entry.perSecondIn), TOKENS_PER_SECOND);
}

function secondRate(entry: ListPrice, input: Ratio): Ratio {
  const listed = entry.perSecondIn ?? entry.perSecondOut;
  return listed === undefined ? times(input, TOKENS_PER_SECOND) : perUnit(listed);
}

/**
 * Returns the rate of speech whose answer reports no tokens: a quarter of a token of input, and 20 audio tokens for a
 * second of 15 characters.
 */
function characterRate(entry: ListPrice, input: Ratio, audioOutput: Ratio): Ratio {
  if (entry.perCharacter !== undefined) return perUnit(entry.perCharacter);
  if (entry.mode !== "audio_speech") return input;
  return plus(times(input, reduceFraction(1n, 4n)), times(audioOutput, reduceFraction(4n, 3n)));
}

/** Returns the rate of audio input. A listed model without a price for audio charges audio like text. */
function audioInputRate(name: string, entry: ListPrice, input: Ratio): Ratio {
  if (entry.inputAudio !== undefined) return dollars(entry.inputAudio);
  return hasAudioRule(name) ? times(input, resolveAudioRatio(name)) : input;
}

function audioOutputRate(
  name: string,
  entry: ListPrice,
  { audioInput, text }: { audioInput: Ratio; text: Ratio },
): Ratio {
  if (entry.outputAudio !== undefined) return dollars(entry.outputAudio);
  return hasAudioRule(name) ? times(audioInput, AUDIO_COMPLETION_RATIO) : text;
}

/** Returns the tiers of long prompts, whose rates apply to all tokens and not only to those above the threshold. */
function buildTiers(name: string, entry: ListPrice, cacheRatio: Ratio): Tier[] {
  const tiers: Tier[] = [];
  for (const column of Object.keys(entry)) {
    const match = /^inputAbove(\d+)k$/.exec(column);
    if (match)
      tiers.push({ above: Number(match[1]) * 1000, rates: tierRates(name, entry, Number(match[1]), cacheRatio) });
  }
  return tiers;
}

function tierRates(name: string, entry: ListPrice, thousands: number, cacheRatio: Ratio): RateTable {
  const base = tokenRates(name, entry, cacheRatio);
  const input = dollars(entry[`inputAbove${thousands}k`]);
  const factor = isZero(base.input) ? ONE : over(input, base.input);
  const listed = entry[`outputAbove${thousands}k`];
  const output = listed === undefined ? times(base.output, factor) : dollars(listed);
  const cached = entry[`cacheReadAbove${thousands}k`];
  return {
    ...base,
    input,
    output: hasImageTokens(entry) ? base.output : output,
    reasoning: entry.reasoning === undefined ? output : base.reasoning,
    cached: cached === undefined ? times(base.cached, factor) : dollars(cached),
    write: times(base.write, factor),
    write1h: times(base.write1h, factor),
    audioInput: times(base.audioInput, factor),
    imageInput: times(base.imageInput, factor),
  };
}
