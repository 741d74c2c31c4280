import { QUOTA_PER_UNIT } from "@fairway/wire";
import type { RequestSpec, Usage } from "../../dialects/core/types.ts";
import { imageFactor, imageTokenFactor, pricedSpec } from "./image-factor.ts";
import { type CallPrice, type Price, ratesFor, type TokenPrice, type Weights, type WeightName } from "./rates.ts";
import { quota, ZERO, type Quota } from "../money/quota.ts";
import { reduceFraction, knownRatio, plus, ratio, type Ratio, roundHalfUp, times, ZERO_RATIO } from "../money/ratio.ts";

export type { CallPrice, Price, TokenPrice } from "./rates.ts";

/** Calls of a tool that cost extra, such as web searches. */
export interface Surcharge {
  readonly calls: number;
  /** US dollars for a thousand calls. */
  readonly pricePerThousand: Ratio;
}

export interface ChargeTerms {
  /** Decimal text. */
  readonly groupRatio: string;
  /** Tells what `usage.units` counts, and the size and quality of images. */
  readonly spec: Priced;
  readonly surcharges?: readonly Surcharge[] | undefined;
  /** Quota units of one US dollar; only prices per call and surcharges depend on it. */
  readonly quotaPerUnit?: Ratio;
}

/** The members of a request that its price depends on, in addition to usage. A task has no operation. */
export type Priced = Pick<RequestSpec, "model" | "size" | "quality"> & {
  readonly operation?: RequestSpec["operation"];
};

export const DEFAULT_QUOTA_PER_UNIT = ratio(QUOTA_PER_UNIT);

/**
 * Returns the cost of a request, computed exactly and rounded once, halves up. Any usage at a price above zero costs at
 * least 1; no usage costs nothing. Negative or fractional counts count as absent.
 */
export function charge(usage: Usage, price: Price, terms: ChargeTerms): Quota {
  return price.kind === "tokens" ? chargeTokens(usage, price, terms) : chargeCall(usage, price, terms);
}

/** Counts per weight; every token belongs to exactly one. */
export type Counts = { [K in WeightName]?: number };

/**
 * Returns the charged counts of a usage. Usage without tokens counts in `unit`, such as seconds or images; negative
 * counts are 0.
 */
export function countUsage(usage: Usage, unit: Unit | undefined): Counts {
  const input = natural(usage.input);
  const output = natural(usage.output);
  if (input + output === 0) return unit === undefined ? {} : { [unit]: counted(unit, usage.units ?? 0) };
  const cached = Math.min(natural(usage.cachedInput), input);
  const write = natural(usage.cacheWrite);
  const write1h = Math.min(natural(usage.cacheWrite1h), write);
  const audioInput = natural(usage.audioInput);
  const imageInput = natural(usage.imageInput);
  const audioOutput = natural(usage.audioOutput);
  const text = Math.max(output - audioOutput, 0);
  const reasoning = Math.min(natural(usage.reasoning), text);
  return {
    input: Math.max(input - cached - write - audioInput - imageInput, 0),
    cached,
    write: write - write1h,
    write1h,
    audioInput,
    imageInput,
    output: text - reasoning,
    reasoning,
    audioOutput,
  };
}

export type Unit = "image" | "second" | "character" | "query";

/** Returns the unit that `usage.units` counts for an operation. */
export function findOperationUnit(operation: RequestSpec["operation"] | undefined): Unit | undefined {
  switch (operation) {
    case "images.generations":
    case "images.edits":
    case "images.variations":
      return "image";
    case "audio.speech":
      return "character";
    case "audio.transcriptions":
    case "audio.translations":
      return "second";
    case "rerank":
      return "query";
    default:
      return undefined;
  }
}

function chargeTokens(usage: Usage, price: TokenPrice, terms: ChargeTerms): Quota {
  const { weights } = ratesFor(price, usage.input);
  const counts = countUsage(usage, findOperationUnit(terms.spec.operation));
  const factor = counts.image === undefined ? undefined : resolveImageFactor(price, terms.spec);
  if (terms.surcharges === undefined && factor === undefined) {
    const fast = chargeFast(counts, weights, knownRatio(terms.groupRatio));
    if (fast !== undefined) return fast;
  }
  return chargeExactly(counts, weights, terms, factor);
}

function resolveImageFactor(price: TokenPrice, spec: Priced): Ratio | undefined {
  if (price.hasImageFactors) return imageFactor(pricedSpec(price, spec));
  return price.hasImageTokens ? imageTokenFactor(spec.quality) : undefined;
}

/**
 * Computes the charge with doubles; undefined if a value exceeds the safe integers, beyond which doubles are not exact.
 */
export function chargeFast(counts: Counts, { fast }: Weights, group: Ratio): Quota | undefined {
  if (fast === undefined) return undefined;
  let sum = 0;
  for (const name in counts) sum += (counts[name as WeightName] as number) * fast[name as WeightName];
  const num = sum * group.n;
  const den = fast.denominator * group.d;
  // NaN fails this comparison as well.
  if (!(num <= HALF_SAFE && den <= HALF_SAFE)) return undefined;
  const rest = num % den;
  const floor = (num - rest) / den;
  const rounded = 2 * rest >= den ? floor + 1 : floor;
  return (rounded === 0 && num > 0 ? 1 : rounded) as Quota;
}

const HALF_SAFE = 2 ** 52;

/** Computes the charge with BigInt, for values of any size, images by ratio, and surcharges. */
export function chargeExactly(counts: Counts, { exact }: Weights, terms: ChargeTerms, factor?: Ratio): Quota {
  let sum = 0n;
  for (const [name, count] of Object.entries(counts) as [WeightName, number][]) sum += BigInt(count) * exact[name];
  const used = { num: sum, den: exact.denominator };
  const scaled = factor ? { num: used.num * factor.num, den: used.den * factor.den } : used;
  const surcharge = calculateSurcharge(terms);
  const group = knownRatio(terms.groupRatio);
  const num = (scaled.num * surcharge.den + surcharge.num * scaled.den) * group.num;
  return atLeastOne(num, scaled.den * surcharge.den * group.den);
}

function calculateSurcharge({ surcharges = [], quotaPerUnit = DEFAULT_QUOTA_PER_UNIT }: ChargeTerms): Ratio {
  let dollars = ZERO_RATIO;
  for (const { calls, pricePerThousand } of surcharges) {
    dollars = plus(dollars, times(pricePerThousand, reduceFraction(BigInt(natural(calls)), 1000n)));
  }
  return times(dollars, quotaPerUnit);
}

function chargeCall(usage: Usage, price: CallPrice, terms: ChargeTerms): Quota {
  const units = countChargedUnits(price, findOperationUnit(terms.spec.operation), usage.units);
  const factor = price.hasImageFactors ? imageFactor(pricedSpec(price, terms.spec)) : undefined;
  const dollars = factor ? times(price.exact, factor) : price.exact;
  const cost = times(dollars, terms.quotaPerUnit ?? DEFAULT_QUOTA_PER_UNIT);
  const total = plus(times(cost, reduceFraction(BigInt(units), 1n)), calculateSurcharge(terms));
  const group = knownRatio(terms.groupRatio);
  return atLeastOne(total.num * group.num, total.den * group.den);
}

/**
 * Returns the number of charged units. A price per call is multiplied by images and search units, never by characters
 * or seconds; a session price by time.
 */
export function countChargedUnits(price: CallPrice, unit: Unit | undefined, units: number | undefined): number {
  if (units === undefined) return 1;
  if (price.unit === "tenth") return natural(units);
  const isCounted = price.unit === "call" ? unit === "image" || unit === "query" : price.unit === unit;
  return unit !== undefined && isCounted ? counted(unit, units) : 1;
}

/** Returns the counted amount: a started second counts as a whole one; fractions of anything else count as absent. */
function counted(unit: Unit, units: number): number {
  return natural(unit === "second" ? Math.ceil(units) : units);
}

function atLeastOne(num: bigint, den: bigint): Quota {
  if (num === 0n) return ZERO;
  const rounded = roundHalfUp(num, den);
  return quota(rounded === 0n ? 1n : rounded);
}

function natural(count: number): number {
  return count > 0 && Number.isSafeInteger(count) ? count : 0;
}
