import type { Quota } from "../../billing/money/quota.ts";

/**
 * What `compute` answers, or what is reserved where that cannot be computed: a ratio of the operator can make a charge
 * larger than any balance. The request was let in for its reservation, and no answer goes unpaid.
 */
export function dueOr(reserved: Quota, compute: () => Quota, onFailure?: (error: unknown) => void): Quota {
  try {
    return compute();
  } catch (error) {
    onFailure?.(error);
    return reserved;
  }
}
