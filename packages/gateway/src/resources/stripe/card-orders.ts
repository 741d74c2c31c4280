import { parseCents } from "../wallet/amounts.ts";
import { recordPayment, type PaymentEvent, type PaymentOrder } from "../wallet/payment-event.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";

interface CardOrdersDeps {
  readonly database: Pick<Database, "raw">;
  readonly clock: Clock;
}

interface CardOrder extends PaymentOrder {
  /** With two decimals. */
  readonly money: string;
}

/** Finds the order of a payment by card, by its number or by that of the provider. */
export async function findCardOrder(
  tx: RawTransaction,
  column: "trade_no" | "gateway_trade_no",
  value: string,
): Promise<CardOrder | undefined> {
  const sql = `select trade_no, user_id, quota, payment_method, money from top_ups
    where ${column} = ? and payment_method like 'stripe %'`;
  return value === "" ? undefined : (await tx.rows<CardOrder>(sql, [value]))[0];
}

/** Closes an order that is not paid yet; an event says so if the payment failed, not if the page was left. */
export async function closeOrder(
  { database: { raw }, clock }: CardOrdersDeps,
  tradeNo: string,
  status: "expired" | "failed",
): Promise<void> {
  const sql =
    "update top_ups set status = ? where trade_no = ? and payment_method like 'stripe %' and status = 'pending'";
  await raw.transaction(async (tx) => {
    const isClosed = (await tx.run(sql, [status, tradeNo])) > 0;
    const order = isClosed && status === "failed" ? await findCardOrder(tx, "trade_no", tradeNo) : undefined;
    const money = order && parseCents(order.money);
    if (!order || money === undefined) return;
    await recordPayment(tx, raw.kind, order, { type: "payment.failed", atMs: clock.now(), money });
  });
}

/** Writes an event about a paid order, which the provider knows by its payment. The credit stays: a person decides. */
export async function reportCharge(
  { database: { raw }, clock }: CardOrdersDeps,
  payment: string,
  event: Omit<PaymentEvent, "atMs">,
): Promise<void> {
  const order = await findCardOrder(raw, "gateway_trade_no", payment);
  if (order) await recordPayment(raw, raw.kind, order, { ...event, atMs: clock.now() });
}
