import type { OptionValues } from "@fairway/wire";
import type { Outbound } from "../../lib/net/outbound.ts";
import { toProviderUnits } from "./money.ts";

export interface Order {
  readonly tradeNo: string;
  /** With two decimals. */
  readonly money: string;
  /** Address to which the browser returns after the payment. */
  readonly returnUrl: string;
}

/**
 * Returns the address of the checkout page of an order; undefined if the provider returns none. Rejects if it does not
 * respond.
 */
export async function createCheckout(
  outbound: Outbound,
  options: OptionValues,
  { tradeNo, money, returnUrl }: Order,
): Promise<string | undefined> {
  const { StripeApiUrl, StripeSecretKey, StripeCurrency: currency, SystemName } = options;
  const form = new URLSearchParams({
    mode: "payment",
    client_reference_id: tradeNo,
    success_url: returnUrl,
    cancel_url: returnUrl,
    "metadata[trade_no]": tradeNo,
    "line_items[0][quantity]": "1",
    "line_items[0][price_data][currency]": currency,
    "line_items[0][price_data][unit_amount]": toProviderUnits(money, currency),
    "line_items[0][price_data][product_data][name]": `${SystemName} top-up`,
  });
  const answer = await outbound.json({
    method: "POST",
    url: `${StripeApiUrl}/v1/checkout/sessions`,
    headers: {
      authorization: `Bearer ${StripeSecretKey}`,
      "content-type": "application/x-www-form-urlencoded",
      "idempotency-key": tradeNo,
    },
    body: form.toString(),
  });
  const url = answer?.["url"];
  return typeof url === "string" && /^https?:\/\//i.test(url) ? url : undefined;
}
