import type { PricingRow } from "@fairway/wire";
import { calculatePrice } from "./price.ts";

/** A typical request of the reader. */
export interface Usual {
  /** Tokens of the prompt and of the answer. */
  readonly input: number;
  readonly output: number;
  /** How many such requests. */
  readonly requests: number;
}

const MILLION = 1_000_000;
const MOST = 1_000_000_000;

/** Returns the dollars that these requests cost in a group. */
export function calculateCost(row: PricingRow, groupRatio: number, { input, output, requests }: Usual): number {
  const price = calculatePrice(row, groupRatio);
  if (price.call !== undefined) return price.call * requests;
  return (((price.input ?? 0) * input + (price.output ?? 0) * output) / MILLION) * requests;
}

/** Reads a count from a field or the address; anything else is 0. */
export function parseCount(text: string): number {
  const value = Number(text);
  return Number.isSafeInteger(value) && value > 0 ? Math.min(value, MOST) : 0;
}
