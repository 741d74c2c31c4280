import { formatQuota, LOG_TYPE, type OptionValues } from "@fairway/wire";
import type { Ledger } from "../../billing/ledger/ledger.ts";
import { quota } from "../../billing/money/quota.ts";
import type { RequestContext } from "../../http/context.ts";
import type { Principal } from "../../identity/authentication/principal.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { operatorInfo, type WriteLog } from "../../storage/log-rows.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { moneyStyle } from "./money-style.ts";

export interface ChangeQuotaDeps {
  readonly ledger: Ledger;
  readonly options: () => OptionValues;
  readonly clock: Clock;
  readonly writeLog: WriteLog;
}

export interface QuotaChange {
  readonly userId: number;
  /** The difference that leads from the balance that is there to the wanted one. */
  readonly by: (balance: number) => number;
  readonly operator: Principal;
  readonly context: RequestContext;
  /** Added to the text of the change. */
  readonly remark?: string;
  /** Further writes of the same transaction; they may run several times. */
  readonly also?: (tx: RawTransaction) => Promise<void>;
}

interface Balance {
  readonly username: string;
  readonly quota: number;
}

/** Moves a balance by an administrator's hand and writes it to the log; answers the new one. `quota_invalid` when it would be negative. */
export async function changeQuota(deps: ChangeQuotaDeps, change: QuotaChange): Promise<number> {
  const { userId, operator, context, remark = "" } = change;
  // Requests that have ended are in the row before it is read.
  await deps.ledger.flush();
  let after = 0;
  await deps.ledger.changeWith(async (tx) => {
    const user = await lockBalance(tx, userId);
    const by = change.by(user.quota);
    after = user.quota + by;
    if (!Number.isSafeInteger(after) || (by < 0 && after < 0)) throw new Refusal("quota_invalid", { field: "quota" });
    await change.also?.(tx);
    if (by === 0) return undefined;
    const text = describe(deps.options(), user.quota, after);
    const content = remark === "" ? text : `${text}: ${remark}`;
    await deps.writeLog(tx, {
      user_id: userId,
      username: user.username,
      created_at: seconds(deps.clock),
      type: LOG_TYPE.manage,
      content,
      ip: context.ip,
      other: operatorInfo(operator, context.ip),
    });
    return { requestId: context.requestId, kind: "adjust", userId, quota: quota(by), detail: content };
  });
  return after;
}

function describe(options: OptionValues, before: number, after: number): string {
  const show = (amount: number) => formatQuota(amount, moneyStyle(options));
  return `The administrator changed the user quota from ${show(before)} to ${show(after)}`;
}

/** The write takes the row's lock before the balance is read. */
async function lockBalance(tx: RawTransaction, userId: number): Promise<Balance> {
  await tx.run("update users set quota = quota where id = ?", [userId]);
  const [user] = await tx.rows<Balance>("select username, quota from users where id = ?", [userId]);
  if (!user) throw new Refusal("user_not_found");
  return user;
}
