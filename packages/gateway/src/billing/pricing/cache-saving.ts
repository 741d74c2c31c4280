import type { Usage } from "../../dialects/core/types.ts";
import { knownRatio } from "../money/ratio.ts";
import { ratesFor, type TokenPrice } from "./rates.ts";

/**
 * Returns the quota units by which a prompt was cheaper than without a cache, rounded to the nearest: what reads saved
 * minus what writes cost more. Below 0 if nothing was read. `groupRatio` is decimal text.
 */
export function calculateCacheSaving(usage: Usage, price: TokenPrice, groupRatio: string): number {
  const { exact } = ratesFor(price, usage.input).weights;
  const group = knownRatio(groupRatio);
  const { cachedInput: read, cacheWrite, cacheWrite1h: long } = usage;
  const saved =
    BigInt(read) * (exact.input - exact.cached) -
    BigInt(cacheWrite - long) * (exact.write - exact.input) -
    BigInt(long) * (exact.write1h - exact.input);
  const [num, den] = [saved * group.num, exact.denominator * group.den];
  const half = num < 0n ? -den : den;
  return Number((2n * num + half) / (2n * den));
}
