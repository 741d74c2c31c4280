import type { Logger } from "../../observability/log.ts";
import { isObject, parseObject, type JsonObject } from "../../lib/text/json.ts";
import type { Database } from "../../storage/database.ts";
import type { PaidOutcome, WalletStore } from "../wallet/store.ts";
import { toCents } from "./money.ts";

export interface EventDeps {
  readonly database: Database;
  readonly wallet: Pick<WalletStore, "markPaid">;
  readonly log: Logger;
}

/** Returns the payment method of an order, so that another provider's notice or another currency never pays it. */
export function buildPaymentMethod(currency: string): string {
  return `stripe ${currency}`;
}

const PAID = new Set(["checkout.session.completed", "checkout.session.async_payment_succeeded"]);
const ENDED: Readonly<Record<string, string>> = {
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
  const tradeNo = readText(session, "client_reference_id");
  if (PAID.has(type) && session["payment_status"] === "paid") {
    const outcome = await credit(deps, session, tradeNo);
    if (outcome !== "credited" && outcome !== "known")
      deps.log.warn("payment event without effect", { outcome, tradeNo: tradeNo.slice(0, 64) });
  }
  const status = ENDED[type];
  if (status !== undefined) await end(deps, tradeNo, status);
}

async function credit({ database, wallet }: EventDeps, session: JsonObject, tradeNo: string): Promise<PaidOutcome> {
  const currency = readText(session, "currency").toLowerCase();
  const cents = toCents(session["amount_total"], currency);
  const order = await database.db
    .selectFrom("top_ups")
    .select("payment_method")
    .where("trade_no", "=", tradeNo)
    .executeTakeFirst();
  if (order?.payment_method !== buildPaymentMethod(currency)) return "unknown order";
  if (cents === undefined) return "wrong money";
  const reference = readText(session, "payment_intent") || readText(session, "id");
  return wallet.markPaid(tradeNo, cents, reference.slice(0, 191));
}

function readText(object: JsonObject | undefined, name: string): string {
  const value = object?.[name];
  return typeof value === "string" ? value : "";
}

async function end({ database }: EventDeps, tradeNo: string, status: string): Promise<void> {
  await database.db
    .updateTable("top_ups")
    .set({ status })
    .where("trade_no", "=", tradeNo)
    .where("payment_method", "like", "stripe %")
    .where("status", "=", "pending")
    .execute();
}
