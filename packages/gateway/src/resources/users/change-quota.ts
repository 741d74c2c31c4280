import { ACCOUNT_KIND, formatQuota, LOG_TYPE, type OptionValues } from "@fairway/wire";
import type { Ledger } from "../../billing/ledger/ledger.ts";
import { quota } from "../../billing/money/quota.ts";
import type { RequestContext } from "../../http/context.ts";
import type { Principal } from "../../identity/principal.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { operatorInfo, type WriteLog } from "../../storage/log-rows.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { isApplied, type Once } from "./once.ts";
import { moneyStyle } from "./money-style.ts";

export interface ChangeQuotaDeps {
  readonly ledger: Ledger;
  readonly options: () => OptionValues;
  readonly clock: Clock;
  readonly writeLog: WriteLog;
}

export interface QuotaChange {
  readonly userId: number;
  /** Returns the difference from the current balance to the new one. */
  readonly by: (balance: number) => number;
  readonly operator: Principal;
  readonly context: RequestContext;
  /** Set if repeating the change must have no effect. */
  readonly once?: Once | undefined;
  /** True for the wallet of a team. */
  readonly isWallet?: boolean;
  /** Added to the text of the change. */
  readonly remark?: string;
  /** Further writes of the same transaction; it may run several times. */
  readonly also?: (tx: RawTransaction) => Promise<void>;
}

interface Balance {
  readonly username: string;
  readonly quota: number;
}

/**
 * Changes a balance on behalf of an administrator and logs the change. Returns the new balance, or the current one if
 * the change was applied before. Throws `quota_invalid` if the balance would be negative.
 */
export async function changeQuota(deps: ChangeQuotaDeps, change: QuotaChange): Promise<number> {
  const { userId, operator, once } = change;
  // Completed requests must be in the row before it is read.
  await deps.ledger.flush();
  let after = 0;
  await deps.ledger.changeWith(async (tx) => {
    const user = await lockBalance(tx, userId, once && operator.userId);
    after = user.quota;
    if (once && (await isApplied(tx, once))) return undefined;
    const by = change.by(user.quota);
    after = user.quota + by;
    if (!Number.isSafeInteger(after) || (by < 0 && after < 0)) throw new Refusal("quota_invalid", { field: "quota" });
    await change.also?.(tx);
    if (by === 0) return once && { requestId: once.requestId, kind: "adjust", userId, quota: quota(0) };
    const content = await note(deps, tx, change, { user, after });
    return {
      requestId: once?.requestId ?? change.context.requestId,
      kind: "adjust",
      userId,
      quota: quota(by),
      detail: content,
    };
  });
  return after;
}

interface Move {
  readonly user: Balance;
  readonly after: number;
}

/** Writes the change to the log; returns its text. */
async function note(
  deps: ChangeQuotaDeps,
  tx: RawTransaction,
  { userId, operator, context, remark = "", isWallet = false }: QuotaChange,
  { user, after }: Move,
): Promise<string> {
  const text = describe(deps.options(), { from: user.quota, to: after, isWallet });
  const content = remark === "" ? text : `${text}: ${remark}`;
  await deps.writeLog(tx, {
    user_id: userId,
    username: user.username,
    created_at: seconds(deps.clock),
    type: LOG_TYPE.manage,
    content,
    ip: context.ip,
    other: operatorInfo(operator, context.ip),
    ...(isWallet && { account_kind: ACCOUNT_KIND.wallet }),
  });
  return content;
}

interface Described {
  readonly from: number;
  readonly to: number;
  readonly isWallet: boolean;
}

function describe(options: OptionValues, { from, to, isWallet }: Described): string {
  const show = (amount: number) => formatQuota(amount, moneyStyle(options));
  if (isWallet) return `The administrator changed the balance of the team from ${show(from)} to ${show(to)}`;
  return `The administrator changed the user quota from ${show(from)} to ${show(to)}`;
}

/**
 * Locks the row before the balance is read. Because the caller's row is locked too, changes with one key run one after
 * the other; because of the order by id, two administrators cannot deadlock.
 */
async function lockBalance(tx: RawTransaction, userId: number, callerId: number | undefined): Promise<Balance> {
  const ids = [...new Set([userId, callerId ?? userId])].toSorted((a, b) => a - b);
  for (const id of ids) await tx.run("update users set quota = quota where id = ?", [id]);
  const [user] = await tx.rows<Balance>("select username, quota from users where id = ?", [userId]);
  if (!user) throw new Refusal("user_not_found");
  return user;
}
