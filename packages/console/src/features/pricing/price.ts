import type { PricingRow } from "@fairway/wire";
import { formatDecimal } from "../../lib/format.ts";

/** Dollars per million tokens, or per call, in one group. */
export interface Price {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly call: number | undefined;
}

const BY_CALL = 1;
/** A model ratio of 1 means two dollars per million tokens. */
const DOLLARS_PER_RATIO = 2;

export function isByCall(row: PricingRow): boolean {
  return row.quota_type === BY_CALL;
}

export function calculatePrice(row: PricingRow, groupRatio: number): Price {
  if (isByCall(row)) return { input: undefined, output: undefined, call: row.model_price * groupRatio };
  const input = row.model_ratio * DOLLARS_PER_RATIO * groupRatio;
  return { input, output: input * row.completion_ratio, call: undefined };
}

/** Rounds to six significant digits, which removes floating-point noise. */
export function short(value: number): number {
  return Number(value.toPrecision(6));
}

export function dollars(amount: number | undefined, locale: string): string {
  return amount === undefined ? "–" : `$${formatDecimal(short(amount), locale, 2, 10)}`;
}
