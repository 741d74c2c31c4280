import type { RequestSpec } from "../../dialects/core/types.ts";
import { IMAGE_TOKENS, imageFactor, pricedSpec } from "./image-factor.ts";
import { DEFAULT_QUOTA_PER_UNIT, type Priced, findOperationUnit, countChargedUnits } from "./price.ts";
import { type CallPrice, type Price, ratesFor, type TokenPrice, type TokenRates, type WeightTable } from "./rates.ts";
import { quota, quotaAtMost, type Quota } from "../money/quota.ts";
import { ceiling, knownRatio, type Ratio } from "../money/ratio.ts";

/**
 * Tenths of a second that a session charged by the second reserves: one minute at the start, and one minute ahead while
 * it lasts.
 */
export const SESSION_TENTHS_AHEAD = 600;

export interface EstimateOptions {
  /** Minimum number of tokens to reserve for the prompt. */
  readonly preConsumedQuota: number;
  /** Output tokens to reserve for a request without a limit. */
  readonly defaultOutputTokens: number;
  readonly quotaPerUnit?: Ratio;
}

/** The members of a request that determine its reservation. */
export type Estimated = Priced & Pick<RequestSpec, "promptEstimate" | "outputCap" | "units" | "dearTokens">;

/**
 * Returns the amount to reserve before the upstream is called: the upper estimate of the prompt and the maximum output,
 * rounded up; 0 if the call is free. `groupRatio` is decimal text.
 */
export function estimate(ask: Estimated, price: Price, groupRatio: string, options: EstimateOptions): Quota {
  const group = knownRatio(groupRatio);
  if (price.isFree || group.num === 0n) return quota(0);
  return price.kind === "call" ? estimateCall(ask, price, group, options) : estimateTokens(ask, price, group, options);
}

/**
 * Returns the output tokens that a reservation of `amount` covers, the inverse of `estimate`; Infinity if output costs
 * nothing.
 */
export function outputCarried(
  amount: Quota,
  ask: Estimated,
  { price, groupRatio }: PriceTerms,
  options: EstimateOptions,
): number {
  const group = knownRatio(groupRatio);
  if (price.kind === "call" || price.isFree || group.num === 0n) return Infinity;
  const prompt = Math.max(ask.promptEstimate, options.preConsumedQuota);
  const { exact } = ratesFor(price, prompt).weights;
  const perToken = dearestOutput(exact, ask) * BigInt(Math.max(ask.units, 1)) * group.num;
  if (perToken === 0n) return Infinity;
  const rest = BigInt(amount) * exact.denominator * group.den - BigInt(prompt) * dearestInput(exact, ask) * group.num;
  return rest <= 0n ? 0 : Number(rest / perToken);
}

interface PriceTerms {
  readonly price: Price;
  readonly groupRatio: string;
}

function estimateCall(
  ask: Estimated,
  price: CallPrice,
  group: Ratio,
  { quotaPerUnit = DEFAULT_QUOTA_PER_UNIT }: EstimateOptions,
): Quota {
  const asked = price.unit === "tenth" ? SESSION_TENTHS_AHEAD : ask.units;
  const units = BigInt(countChargedUnits(price, findOperationUnit(ask.operation), asked));
  const { num, den } = calculateImageFactor(ask, price);
  return quotaAtMost(
    ceiling(
      price.exact.num * num * units * quotaPerUnit.num * group.num,
      price.exact.den * den * quotaPerUnit.den * group.den,
    ),
  );
}

function estimateTokens(ask: Estimated, price: TokenPrice, group: Ratio, options: EstimateOptions): Quota {
  const prompt = Math.max(ask.promptEstimate, options.preConsumedQuota);
  const rates = ratesFor(price, prompt);
  const cost = calculateCost(ask, { price, rates, prompt }, options);
  return quotaAtMost(ceiling(cost.num * group.num, rates.weights.exact.denominator * cost.den * group.den));
}

interface Priceable {
  readonly price: TokenPrice;
  readonly rates: TokenRates;
  /** Tokens. */
  readonly prompt: number;
}

function calculateCost(ask: Estimated, { price, rates, prompt }: Priceable, options: EstimateOptions): Cost {
  switch (findOperationUnit(ask.operation)) {
    case "image":
      return imageCost(ask, price, prompt);
    case "character":
      return { num: BigInt(Math.max(ask.units, options.preConsumedQuota)) * rates.weights.exact.character, den: 1n };
    default:
      return textCost(ask, rates, prompt, options);
  }
}

interface Cost {
  readonly num: bigint;
  readonly den: bigint;
}

/** Returns the cost in units of the denominator of the rates. */
function textCost(
  ask: Estimated,
  { weights }: TokenRates,
  prompt: number,
  { defaultOutputTokens }: EstimateOptions,
): Cost {
  const output = hasOutput(ask.operation) ? (ask.outputCap ?? defaultOutputTokens) * Math.max(ask.units, 1) : 0;
  const { exact } = weights;
  return { num: BigInt(prompt) * dearestInput(exact, ask) + BigInt(output) * dearestOutput(exact, ask), den: 1n };
}

function dearestInput(rates: WeightTable<bigint>, { dearTokens = [] }: Estimated): bigint {
  const kinds = dearTokens.filter((kind) => kind !== "audioOutput");
  return dearest(kinds.length === 0 ? [rates.input] : [rates.input, ...kinds.map((kind) => rates[kind])]);
}

function dearestOutput({ output, reasoning, audioOutput }: WeightTable<bigint>, { dearTokens }: Estimated): bigint {
  return dearest(dearTokens?.includes("audioOutput") ? [output, reasoning, audioOutput] : [output, reasoning]);
}

function dearest(rates: readonly bigint[]): bigint {
  return rates.reduce((highest, rate) => (rate > highest ? rate : highest));
}

const IMAGE_TOKENS_AT_MOST = 6240n;

function imageCost(ask: Estimated, price: TokenPrice, prompt: number): Cost {
  const { exact } = price.weights;
  const text = BigInt(prompt) * exact.input;
  const units = BigInt(Math.max(ask.units, 1));
  if (price.hasImageTokens)
    return { num: text + units * (IMAGE_TOKENS[ask.quality ?? ""] ?? IMAGE_TOKENS_AT_MOST) * exact.output, den: 1n };
  const { num, den } = calculateImageFactor(ask, price);
  return { num: text * den + units * exact.image * num, den };
}

function calculateImageFactor(ask: Estimated, price: Price): Cost {
  return price.hasImageFactors && findOperationUnit(ask.operation) === "image"
    ? imageFactor(pricedSpec(price, ask))
    : { num: 1n, den: 1n };
}

function hasOutput(operation: RequestSpec["operation"] | undefined): boolean {
  switch (operation) {
    case "embeddings":
    case "moderations":
    case "rerank":
    case "count_tokens":
      return false;
    default:
      return true;
  }
}
