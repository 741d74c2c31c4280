const DAY = 86_400;

/** Days that a balance lasts at the spending of a time of `length` seconds; undefined if nothing was spent. */
export function daysLeft(balance: number, spent: number, length: number): number | undefined {
  if (spent <= 0 || length <= 0) return undefined;
  return Math.max(0, balance) / (spent / (length / DAY));
}
