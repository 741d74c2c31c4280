import { LOG_TYPE, REDEMPTION_STATUS, ROLE } from "@fairway/wire";
import type { BalanceChange, Ledger } from "../../billing/ledger/ledger.ts";
import { quota as asQuota } from "../../billing/money/quota.ts";
import { recordRawEvent } from "../../events/record-event.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Database } from "../../storage/database.ts";
import type { WriteLog } from "../../storage/log-rows.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { recordPayment, type PaymentOrder } from "./payment-event.ts";

export interface WalletStoreDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly ledger: Pick<Ledger, "changeWith">;
  readonly writeLog: WriteLog;
  /** Formats quota as logs show it: `$0.200000`. */
  readonly formatQuota: (quota: number) => string;
}

export interface NewOrder {
  readonly userId: number;
  readonly amount: number;
  readonly money: string;
  readonly quota: number;
  readonly tradeNo: string;
  readonly method: string;
}

export type RedeemOutcome =
  | { readonly quota: number }
  | { readonly refused: "code_invalid" | "code_redeemed" | "code_disabled" | "code_not_for_admins" };
export type PaidOutcome = "credited" | "known" | "unknown order" | "wrong money";

export type WalletStore = ReturnType<typeof createWalletStore>;

const ORDER_LIFE_SECONDS = 86_400;

/** Creates the SQL of credits to a wallet. The condition of one update decides which call gets the credit. */
export function createWalletStore(deps: WalletStoreDeps) {
  return {
    redeem: (user: { readonly userId: number; readonly username: string }, key: string) => redeem(deps, user, key),
    markPaid: (tradeNo: string, money: bigint, gatewayTradeNo: string) =>
      markPaid(deps, { tradeNo, money, gatewayTradeNo }),

    async openOrder(order: NewOrder): Promise<void> {
      await deps.database.db
        .insertInto("top_ups")
        .values({
          user_id: order.userId,
          amount: order.amount,
          money: order.money,
          trade_no: order.tradeNo,
          create_time: seconds(deps.clock),
          status: "pending",
          quota: order.quota,
          payment_method: order.method,
          gateway_trade_no: null,
        })
        .execute();
    },

    /** Closes orders that were not paid within a day; a late notice still credits them. Returns their number. */
    async expireOrders(): Promise<number> {
      const { numUpdatedRows } = await deps.database.db
        .updateTable("top_ups")
        .set({ status: "expired" })
        .where("status", "=", "pending")
        .where("create_time", "<", seconds(deps.clock) - ORDER_LIFE_SECONDS)
        .executeTakeFirstOrThrow();
      return Number(numUpdatedRows);
    },
  };
}

interface CodeRow {
  readonly id: number;
  readonly name: string;
  readonly quota: number;
  readonly status: number;
}

const FIND_CODE = `select id, name, quota, status from redemptions where "key" = ? and deleted_at is null`;
const USE_CODE =
  "update redemptions set status = ?, used_user_id = ?, redeemed_time = ? where id = ? and status = ? and deleted_at is null";

async function redeem(
  { database, ledger, clock, writeLog, formatQuota }: WalletStoreDeps,
  user: { readonly userId: number; readonly username: string },
  key: string,
): Promise<RedeemOutcome> {
  let outcome = { refused: "code_invalid" } as RedeemOutcome;
  const isApplied = await ledger.changeWith(async (tx) => {
    const now = seconds(clock);
    const [code] = await tx.rows<CodeRow>(FIND_CODE, [key]);
    if (!code) {
      outcome = { refused: "code_invalid" };
      return undefined;
    }
    if (!(await mayRedeem(tx, user.userId))) {
      outcome = { refused: "code_not_for_admins" };
      return undefined;
    }
    const used = await tx.run(USE_CODE, [REDEMPTION_STATUS.used, user.userId, now, code.id, REDEMPTION_STATUS.unused]);
    if (used === 0) {
      const [again] = await tx.rows<CodeRow>(FIND_CODE, [key]);
      outcome = {
        refused:
          again?.status === REDEMPTION_STATUS.disabled ? "code_disabled" : again ? "code_redeemed" : "code_invalid",
      };
      return undefined;
    }
    await checkRoom(tx, user.userId, code.quota);
    outcome = { quota: code.quota };
    const content = `Recharged ${formatQuota(code.quota)} with a redemption code, code ID ${code.id}`;
    const entry = { user_id: user.userId, username: user.username, created_at: now, type: LOG_TYPE.topup, content };
    await writeLog(tx, { ...entry, quota: code.quota });
    await recordRawEvent(tx, database.kind, {
      type: "redemption.used",
      atMs: clock.now(),
      accountId: user.userId,
      userId: user.userId,
      dedupKey: `redemption.used:${code.id}`,
      data: { id: code.id, name: code.name, quota: code.quota },
    });
    return change(user.userId, code.quota, `redemption-${code.id}`, `redemption code ${code.id}`);
  });
  return "quota" in outcome && !isApplied ? { refused: "code_redeemed" } : outcome;
}

/**
 * Returns whether a user may redeem codes. Administrators may not, because they manage codes and see their keys,
 * whichever user created them; their codes are for regular users.
 */
async function mayRedeem(tx: RawTransaction, userId: number): Promise<boolean> {
  const [user] = await tx.rows<{ role: number }>("select role from users where id = ?", [userId]);
  return user === undefined || user.role < ROLE.admin || user.role === ROLE.root;
}

/**
 * Throws `quota_invalid`, which rolls back the transaction, if the balance would exceed 2^53 - 1: it could not be read
 * any more, not even to correct it.
 */
async function checkRoom(tx: RawTransaction, userId: number, quota: number): Promise<void> {
  await tx.run("update users set quota = quota where id = ?", [userId]);
  const [user] = await tx.rows<{ quota: number }>("select quota from users where id = ?", [userId]);
  if (user && !Number.isSafeInteger(user.quota + quota)) throw new Refusal("quota_invalid", { field: "key" });
}

interface OrderRow extends PaymentOrder {
  readonly username: string | null;
  readonly money: string;
}

const FIND_ORDER = `select t.trade_no, t.user_id, u.username, t.money, t.quota, t.payment_method from top_ups t
  left join users u on u.id = t.user_id where t.trade_no = ?`;
const PAY_ORDER = `update top_ups set status = 'success', complete_time = ?, gateway_trade_no = ?
  where trade_no = ? and status in ('pending', 'expired')`;

interface Payment {
  readonly tradeNo: string;
  /** Cents. */
  readonly money: bigint;
  readonly gatewayTradeNo: string;
}

async function markPaid(deps: WalletStoreDeps, { tradeNo, money, gatewayTradeNo }: Payment): Promise<PaidOutcome> {
  const { database, ledger, clock, writeLog, formatQuota } = deps;
  let outcome = "unknown order" as PaidOutcome;
  const isApplied = await ledger.changeWith(async (tx) => {
    const now = seconds(clock);
    const [order] = await tx.rows<OrderRow>(FIND_ORDER, [tradeNo]);
    if (!order) {
      outcome = "unknown order";
      return undefined;
    }
    if (BigInt(order.money.replace(".", "")) !== money) {
      outcome = "wrong money";
      await recordMismatch(tx, deps, order, { money });
      return undefined;
    }
    if ((await tx.run(PAY_ORDER, [now, gatewayTradeNo, tradeNo])) === 0) {
      outcome = "known";
      return undefined;
    }
    outcome = "credited";
    const content = `Online recharge succeeded, recharged ${formatQuota(order.quota)}, paid ${order.money}`;
    const who = { user_id: order.user_id, username: order.username ?? "" };
    await writeLog(tx, { ...who, created_at: now, type: LOG_TYPE.topup, content, quota: order.quota });
    await recordPayment(tx, database.kind, order, { type: "payment.succeeded", atMs: clock.now(), money });
    return change(order.user_id, order.quota, `order-${tradeNo}`, `order ${tradeNo}`);
  });
  return outcome === "credited" && !isApplied ? "known" : outcome;
}

interface WrongPayment {
  /** Cents. */
  readonly money: bigint;
  /** Set if it is not that of the order. */
  readonly currency?: string;
}

/** A payment that does not pay its order: the provider has the money, and a person must decide. */
export async function recordMismatch(
  tx: RawTransaction,
  { database: { kind }, clock }: Pick<WalletStoreDeps, "database" | "clock">,
  order: PaymentOrder & { readonly money: string },
  { money, currency = "" }: WrongPayment,
): Promise<void> {
  await recordPayment(tx, kind, order, {
    type: "payment.mismatch",
    atMs: clock.now(),
    money,
    about: `${money} ${currency}`,
    more: { expected: Number(order.money), ...(currency !== "" && { currency }) },
  });
}

function change(userId: number, amount: number, requestId: string, detail: string): BalanceChange {
  return { requestId, kind: "topup", userId, quota: asQuota(amount), detail };
}
