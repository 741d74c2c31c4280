/** Quota units that the first account of an installation begins with; the only balance without a row in the ledger. */
export const FIRST_BALANCE = 100_000_000;
