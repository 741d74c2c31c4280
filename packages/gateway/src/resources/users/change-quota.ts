import { formatQuota, LOG_TYPE, type OptionValues } from "@fairway/wire";
import type { Ledger } from "../../billing/ledger.ts";
import { quota } from "../../billing/quota.ts";
import type { RequestContext } from "../../http/context.ts";
import type { Principal } from "../../identity/principal.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Database } from "../../storage/database.ts";
import { operatorInfo, type WriteLog } from "../../storage/log-rows.ts";
import { moneyStyle } from "./money-style.ts";
import type { UserStore } from "./store.ts";

export interface ChangeQuotaDeps {
  readonly database: Database;
  readonly store: Pick<UserStore, "find">;
  readonly ledger: Ledger;
  readonly options: () => OptionValues;
  readonly clock: Clock;
  readonly writeLog: WriteLog;
}

export interface QuotaChange {
  readonly userId: number;
  /** New balance as the difference to the one that is there. */
  readonly by: (balance: number) => number;
  readonly operator: Principal;
  readonly context: RequestContext;
}

/** Moves a balance by an administrator's hand and tells so in the log; answers the new one. U16 when it would be negative. */
export async function changeQuota(deps: ChangeQuotaDeps, change: QuotaChange): Promise<number> {
  const { ledger, options, clock } = deps;
  const { userId, operator, context } = change;
  // Settled requests are in the row before it is read.
  await ledger.flush();
  const user = await deps.store.find(userId);
  if (!user) throw new Refusal("U1");
  const by = change.by(user.quota);
  const after = user.quota + by;
  if (by === 0) return after;
  if (!Number.isSafeInteger(after) || (by < 0 && after < 0)) throw new Refusal("U16", { field: "quota" });
  const show = (amount: number) => formatQuota(amount, moneyStyle(options()));
  const content = `The administrator changed the user quota from ${show(user.quota)} to ${show(after)}`;
  await ledger.change({ requestId: context.requestId, kind: "adjust", userId, quota: quota(by), detail: content });
  await deps.writeLog(deps.database.raw, {
    user_id: userId,
    username: user.username,
    created_at: seconds(clock),
    type: LOG_TYPE.manage,
    content,
    ip: context.ip,
    other: operatorInfo(operator, context.ip),
  });
  return after;
}
