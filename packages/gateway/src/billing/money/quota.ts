declare const quotaBrand: unique symbol;

/** An amount of money in quota units: a safe integer, 500,000 = 1 US dollar by default. May be negative for a debit. */
export type Quota = number & { readonly [quotaBrand]: true };

export const ZERO = 0 as Quota;
const MOST = BigInt(Number.MAX_SAFE_INTEGER);

/** Checks and brands a number; throws a RangeError for fractions, NaN and integers beyond 2^53 - 1. */
export function quota(value: number | bigint): Quota {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`not a quota: ${String(value)}`);
  return number as Quota;
}

/** Like `quota`, but larger integers become the maximum: no balance holds more, so no account can pay it. */
export function quotaAtMost(value: bigint): Quota {
  return quota(value > MOST ? MOST : value);
}

/** Returns the sum; throws a RangeError if it is not a safe integer. */
export function addQuota(a: Quota, b: Quota): Quota {
  return quota(a + b);
}

/** Returns the difference; throws a RangeError if it is not a safe integer. */
export function subtractQuota(a: Quota, b: Quota): Quota {
  return quota(a - b);
}
