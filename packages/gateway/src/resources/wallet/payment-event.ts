import { createHash } from "node:crypto";
import { recordRawEvent } from "../../events/record-event.ts";
import type { RawDatabase, RawTransaction } from "../../storage/engines/raw.ts";
import { readCurrency } from "./payment-method.ts";

/** The columns of an order that its events need. */
export interface PaymentOrder {
  readonly trade_no: string;
  readonly user_id: number;
  readonly quota: number;
  readonly payment_method: string;
}

export interface PaymentEvent {
  readonly type: `payment.${"succeeded" | "failed" | "refunded" | "disputed" | "mismatch"}`;
  readonly atMs: number;
  /** Cents. */
  readonly money: bigint;
  /** What differs between events of one type about one order. */
  readonly about?: string;
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Writes an event about an order, for the person whose order it is. */
export async function recordPayment(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  order: PaymentOrder,
  { type, atMs, money, about, more }: PaymentEvent,
): Promise<void> {
  const { trade_no: tradeNo, user_id: userId, quota, payment_method: method } = order;
  const subject = about === undefined ? tradeNo : `${tradeNo} ${about}`;
  const currency = readCurrency(method);
  await recordRawEvent(tx, kind, {
    type,
    atMs,
    accountId: userId,
    userId,
    dedupKey: `${type}:${createHash("sha256").update(subject).digest("hex")}`,
    data: { order: tradeNo, amount: Number(money) / 100, ...(currency && { currency }), quota, ...more },
  });
}
