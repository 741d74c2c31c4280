import type { OptionValues } from "@fairway/wire";
import { parseCents, readAmount, type AmountReading } from "../wallet/amounts.ts";

/** Currencies without a smaller unit; the provider counts them in whole units. */
const WHOLE_UNITS: ReadonlySet<string> = new Set(
  "bif clp djf gnf jpy kmf krw mga pyg rwf ugx vnd vuv xaf xof xpf".split(" "),
);

/**
 * Returns the amount of a top-up with the price in the provider's currency, in whole units if it has no smaller ones.
 */
export function readStripeAmount(value: unknown, options: OptionValues, group: string): AmountReading {
  const reading = readAmount(value, { ...options, Price: options.StripePrice }, group);
  if ("refused" in reading || !WHOLE_UNITS.has(options.StripeCurrency)) return reading;
  const cents = parseCents(reading.money) ?? 0n;
  return { ...reading, money: `${String((cents + 99n) / 100n)}.00` };
}

/** Converts an amount to the provider's unit: cents, or whole units. */
export function toProviderUnits(money: string, currency: string): string {
  const cents = parseCents(money) ?? 0n;
  return String(WHOLE_UNITS.has(currency) ? cents / 100n : cents);
}

/** Returns an amount reported by the provider in cents; undefined if it is not an amount. */
export function toCents(units: unknown, currency: string): bigint | undefined {
  if (typeof units !== "number" || !Number.isSafeInteger(units) || units < 0) return undefined;
  return WHOLE_UNITS.has(currency) ? BigInt(units) * 100n : BigInt(units);
}
