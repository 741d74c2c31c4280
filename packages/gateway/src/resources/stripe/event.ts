import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../observability/log.ts";
import { isObject, parseObject, type JsonObject } from "../../lib/text/json.ts";
import type { Database } from "../../storage/database.ts";
import { buildCardMethod } from "../wallet/payment-method.ts";
import { recordMismatch, type PaidOutcome, type WalletStore } from "../wallet/store.ts";
import { closeOrder, findCardOrder, reportCharge } from "./card-orders.ts";
import { toCents } from "./money.ts";

export interface EventDeps {
  readonly database: Database;
  readonly wallet: Pick<WalletStore, "markPaid">;
  readonly clock: Clock;
  readonly log: Logger;
}

const PAID = new Set(["checkout.session.completed", "checkout.session.async_payment_succeeded"]);
const ENDED: Readonly<Record<string, "expired" | "failed">> = {
  "checkout.session.expired": "expired",
  "checkout.session.async_payment_failed": "failed",
};

/** Processes a verified event. Events about unknown orders are logged, and get the same response as all others. */
export async function takeEvent(deps: EventDeps, text: string): Promise<void> {
  const event = parseObject(text);
  const data = event?.["data"];
  const session = isObject(data) && isObject(data["object"]) ? data["object"] : undefined;
  const type = readText(event, "type");
  if (!session) return;
  if (type === "charge.refunded") return reportRefund(deps, session);
  if (type === "charge.dispute.created") return reportDispute(deps, session);
  const tradeNo = readText(session, "client_reference_id");
  if (PAID.has(type) && session["payment_status"] === "paid") {
    const outcome = await credit(deps, session, tradeNo);
    if (outcome !== "credited" && outcome !== "known")
      deps.log.warn("payment event without effect", { outcome, tradeNo: tradeNo.slice(0, 64) });
  }
  const status = ENDED[type];
  if (status !== undefined) await closeOrder(deps, tradeNo, status);
}

async function credit(deps: EventDeps, session: JsonObject, tradeNo: string): Promise<PaidOutcome> {
  const currency = readText(session, "currency").toLowerCase();
  const money = toCents(session["amount_total"], currency);
  const order = await findCardOrder(deps.database.raw, "trade_no", tradeNo);
  if (!order) return "unknown order";
  if (money === undefined) return "wrong money";
  if (order.payment_method !== buildCardMethod(currency)) {
    await recordMismatch(deps.database.raw, deps, order, { money, currency });
    return "wrong money";
  }
  const reference = readText(session, "payment_intent") || readText(session, "id");
  return deps.wallet.markPaid(tradeNo, money, reference.slice(0, 191));
}

/** A charge was returned in part or whole; it tells the sum of what was returned so far. */
async function reportRefund(deps: EventDeps, charge: JsonObject): Promise<void> {
  const money = toCents(charge["amount_refunded"], readText(charge, "currency").toLowerCase());
  if (money === undefined) return;
  const payment = readText(charge, "payment_intent");
  await reportCharge(deps, payment, { type: "payment.refunded", money, about: String(money) });
}

async function reportDispute(deps: EventDeps, dispute: JsonObject): Promise<void> {
  const money = toCents(dispute["amount"], readText(dispute, "currency").toLowerCase());
  if (money === undefined) return;
  const payment = readText(dispute, "payment_intent");
  const more = { reason: readText(dispute, "reason").slice(0, 100) };
  await reportCharge(deps, payment, { type: "payment.disputed", money, about: readText(dispute, "id"), more });
}

function readText(object: JsonObject | undefined, name: string): string {
  const value = object?.[name];
  return typeof value === "string" ? value : "";
}
