import type { Ledger } from "./ledger.ts";
import type { Quota } from "./quota.ts";

/** Moves invitation rewards to the balance, once per request; false when there are not that many. */
export function transferRewards(
  ledger: Pick<Ledger, "changeWith">,
  userId: number,
  amount: Quota,
  requestId: string,
): Promise<boolean> {
  return ledger.changeWith(async (tx) => {
    if (amount <= 0) return undefined;
    const taken = await tx.run(
      "update users set aff_quota = aff_quota - ? where id = ? and aff_quota >= ? and deleted_at is null",
      [amount, userId, amount],
    );
    if (taken === 0) return undefined;
    return { requestId, kind: "transfer", userId, quota: amount, detail: "invitation rewards" };
  });
}
