import type { Quota } from "../../billing/money/quota.ts";

/**
 * The result of `compute`, or the reserved amount where it throws: a ratio of the operator can make a charge
 * larger than any balance. The request was admitted for its reservation, and every answer is paid.
 */
export function chargeOrReserved(reserved: Quota, compute: () => Quota, onFailure?: (error: unknown) => void): Quota {
  try {
    return compute();
  } catch (error) {
    onFailure?.(error);
    return reserved;
  }
}
