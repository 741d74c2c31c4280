import type { Usage } from "../../dialects/core/types.ts";
import {
  charge,
  countUsage,
  DEFAULT_QUOTA_PER_UNIT,
  findOperationUnit,
  type ChargeTerms,
  type Price,
} from "./price.ts";
import type { Quota } from "../money/quota.ts";
import { ratesFor, type TokenRates, WEIGHT_NAMES } from "./rates.ts";
import { reduceFraction, knownRatio, plus, type Ratio, times, ZERO_RATIO } from "../money/ratio.ts";

/** A counted item with the quota of one and of all. */
export interface ChargePart {
  readonly name: string;
  readonly count: number;
  readonly rate: Ratio;
  readonly quota: Ratio;
}

export interface ChargeExplanation {
  readonly parts: readonly ChargePart[];
  /** Rates of the tier that applies to the prompt; undefined for prices per call. */
  readonly rates: TokenRates | undefined;
  /** The sum of all parts times the group ratio, before rounding. */
  readonly exact: Ratio;
  readonly quota: Quota;
}

/** Returns how `charge` computes its amount, for usage without images, media and surcharges. */
export function explain(usage: Usage, price: Price, terms: ChargeTerms): ChargeExplanation {
  const rates = price.kind === "tokens" ? ratesFor(price, usage.input) : undefined;
  const parts = rates ? tokenParts(usage, rates, terms) : [callPart(price, terms)];
  const sum = parts.reduce((total, { quota }) => plus(total, quota), ZERO_RATIO);
  return { parts, rates, exact: times(sum, knownRatio(terms.groupRatio)), quota: charge(usage, price, terms) };
}

function tokenParts(usage: Usage, { weights: { exact } }: TokenRates, { spec }: ChargeTerms): ChargePart[] {
  const counts = countUsage(usage, findOperationUnit(spec.operation));
  return WEIGHT_NAMES.flatMap((name) => {
    const count = counts[name] ?? 0;
    return count === 0 ? [] : [buildChargePart(name, count, reduceFraction(exact[name], exact.denominator))];
  });
}

function callPart(price: Price, { quotaPerUnit = DEFAULT_QUOTA_PER_UNIT }: ChargeTerms): ChargePart {
  return buildChargePart("call", 1, price.kind === "call" ? times(price.exact, quotaPerUnit) : ZERO_RATIO);
}

function buildChargePart(name: string, count: number, rate: Ratio): ChargePart {
  return { name, count, rate, quota: times(rate, reduceFraction(BigInt(count), 1n)) };
}
