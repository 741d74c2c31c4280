/** Quota units that the first account of an installation begins with. */
export const FIRST_BALANCE = 100_000_000;

/** The request id of the ledger row of that balance. */
export function firstBalanceId(userId: number): string {
  return `first-balance-${userId}`;
}
