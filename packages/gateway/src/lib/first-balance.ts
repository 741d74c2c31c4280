/** The balance of the first account of an installation, in quota units. */
export const FIRST_BALANCE = 100_000_000;

/** Returns the request id of the ledger row of that balance. */
export function firstBalanceId(userId: number): string {
  return `first-balance-${userId}`;
}
