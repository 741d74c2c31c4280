import { NEVER_EXPIRES } from "@fairway/wire";
import type { Caller } from "../../identity/authentication/caller.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { Database } from "../../storage/database.ts";

export type BillingRead = "subscription" | "usage";

/** The remaining amount reported for an unlimited token, for clients that require a number. */
const UNLIMITED_AMOUNT = 100_000_000;

interface Balance {
  readonly remain: number;
  readonly used: number;
  readonly isUnlimited: boolean;
  /** Epoch seconds; 0 = never. */
  readonly expiresAt: number;
}

/** Answers the two balance calls of old OpenAI clients, for the token or for its user as the operator chose. */
export async function readBilling(
  caller: Caller,
  read: BillingRead,
  snapshot: Snapshot,
  database: Pick<Database, "raw">,
): Promise<unknown> {
  const { DisplayTokenStatEnabled, DisplayInCurrencyEnabled, QuotaPerUnit } = snapshot.options;
  const balance = DisplayTokenStatEnabled
    ? await ofToken(database, caller.tokenId)
    : await ofUser(database, caller.userId);
  const shown = (quota: number) => (DisplayInCurrencyEnabled ? quota / Number(QuotaPerUnit) : quota);
  if (read === "usage") return { object: "list", total_usage: shown(balance.used) * 100 };
  const limit = balance.isUnlimited ? UNLIMITED_AMOUNT : shown(balance.remain + balance.used);
  return {
    object: "billing_subscription",
    has_payment_method: true,
    soft_limit_usd: limit,
    hard_limit_usd: limit,
    system_hard_limit_usd: limit,
    access_until: balance.expiresAt,
  };
}

async function ofToken({ raw }: Pick<Database, "raw">, id: number): Promise<Balance> {
  const [row] = await raw.rows<{
    remain_quota: number;
    used_quota: number;
    unlimited_quota: number;
    expired_time: number;
  }>("select remain_quota, used_quota, unlimited_quota, expired_time from tokens where id = ?", [id]);
  if (!row) return { remain: 0, used: 0, isUnlimited: false, expiresAt: 0 };
  return {
    remain: row.remain_quota,
    used: row.used_quota,
    isUnlimited: row.unlimited_quota === 1,
    expiresAt: row.expired_time === NEVER_EXPIRES ? 0 : row.expired_time,
  };
}

async function ofUser({ raw }: Pick<Database, "raw">, id: number): Promise<Balance> {
  const [row] = await raw.rows<{ quota: number; used_quota: number }>(
    "select quota, used_quota from users where id = ?",
    [id],
  );
  return { remain: row?.quota ?? 0, used: row?.used_quota ?? 0, isUnlimited: false, expiresAt: 0 };
}
