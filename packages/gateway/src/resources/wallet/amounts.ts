import type { OptionValues } from "@fairway/wire";
import { ONE, over, ratio, roundHalfUp, times, type Ratio } from "../../billing/money/ratio.ts";

export type AmountOptions = Pick<
  OptionValues,
  "DisplayInCurrencyEnabled" | "MinTopUp" | "Price" | "QuotaPerUnit" | "TopupGroupRatio"
>;

export type AmountReading =
  | {
      readonly amount: number;
      /** Amount to pay, with two decimals. */
      readonly money: string;
      /** Amount to credit, in quota units. */
      readonly quota: number;
    }
  | { readonly refused: "invalid_parameter" | "topup_below_minimum" | "topup_too_low"; readonly min: number };

/** Reads an amount in dollars, or in quota units if currency is off; exact until it is rounded once to cents. */
export function readAmount(value: unknown, options: AmountOptions, group: string): AmountReading {
  const perUnit = ratio(options.QuotaPerUnit);
  const inCurrency = options.DisplayInCurrencyEnabled;
  const min = calculateMinimum(options);
  if (typeof value !== "number" || !Number.isSafeInteger(value)) return { refused: "invalid_parameter", min };
  if (value < min) return { refused: "topup_below_minimum", min };
  const amount = ratio(value);
  const dollars = inCurrency ? amount : over(amount, perUnit);
  const cents = times(times(times(dollars, ratio(options.Price)), groupRatio(options, group)), ratio(100));
  const rounded = roundHalfUp(cents.num, cents.den);
  if (rounded < 1n) return { refused: "topup_too_low", min };
  const quota = inCurrency ? roundToWhole(times(amount, perUnit)) : value;
  if (!Number.isSafeInteger(quota)) return { refused: "invalid_parameter", min };
  return { amount: value, money: decimals(rounded), quota };
}

/** Returns the minimum amount in the same units. */
export function calculateMinimum({
  DisplayInCurrencyEnabled,
  MinTopUp,
  QuotaPerUnit,
}: Omit<AmountOptions, "Price">): number {
  return DisplayInCurrencyEnabled ? MinTopUp : roundToWhole(times(ratio(MinTopUp), ratio(QuotaPerUnit)));
}

/** Returns the cents of a decimal text; undefined if it is not one. */
export function parseCents(money: string): bigint | undefined {
  const match = /^(\d{1,15})(?:\.(\d{1,2})0*)?$/.exec(money.trim());
  if (!match) return undefined;
  return BigInt(match[1] ?? "0") * 100n + BigInt((match[2] ?? "").padEnd(2, "0"));
}

/** Returns the ratio of a group; without a ratio, or with 0, it pays the plain price. */
function groupRatio({ TopupGroupRatio }: AmountOptions, group: string): Ratio {
  const text = Object.hasOwn(TopupGroupRatio, group) ? TopupGroupRatio[group] : undefined;
  const factor = text === undefined ? ONE : ratio(text);
  return factor.num === 0n ? ONE : factor;
}

function roundToWhole(value: Ratio): number {
  return Number(roundHalfUp(value.num, value.den));
}

function decimals(cents: bigint): string {
  const text = String(cents).padStart(3, "0");
  return `${text.slice(0, -2)}.${text.slice(-2)}`;
}
