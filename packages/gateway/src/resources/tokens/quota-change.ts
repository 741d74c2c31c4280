import type { Token } from "@fairway/wire";
import { Refusal } from "../../lib/refusal.ts";
import type { TokenUpdate } from "./store.ts";

interface QuotaForm {
  readonly remain_quota?: number | undefined;
  readonly original_remain_quota?: number | undefined;
}

/**
 * Returns the difference of the quota. If the form sends the quota that it started with, only the difference counts,
 * because calls may have spent quota in the meantime. An overdrawn token that is saved unchanged still owes its debt.
 * Returns undefined if the call sets the quota.
 */
export function calculateDifference(
  { remain_quota: wanted = 0, original_remain_quota: original }: QuotaForm,
  { remain_quota: remain }: Token,
): number | undefined {
  if (original === undefined) return wanted < 0 && wanted === remain ? 0 : undefined;
  if (!Number.isSafeInteger(original)) throw new Refusal("quota_invalid", { field: "original_remain_quota" });
  return wanted - original;
}

export function movedBy(by: number): TokenUpdate["remainFrom"] {
  return (remain) => {
    const left = remain + by;
    if (!Number.isSafeInteger(left) || (by < 0 && left < 0))
      throw new Refusal("quota_invalid", { field: "remain_quota" });
    return left;
  };
}
