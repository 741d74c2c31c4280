const DAY = 86_400;

/** Returns how many days a balance lasts if `spent` was spent in `length` seconds; undefined if nothing was spent. */
export function daysLeft(balance: number, spent: number, length: number): number | undefined {
  if (spent <= 0 || length <= 0) return undefined;
  return Math.max(0, balance) / (spent / (length / DAY));
}
