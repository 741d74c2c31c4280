import { serverAddress, stripeAmount, stripeInfo, stripePay, stripeWebhook, type OptionValues } from "@fairway/wire";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { randomText } from "../../lib/ids.ts";
import type { Outbound } from "../../lib/net/outbound.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Logger } from "../../observability/log.ts";
import type { Database } from "../../storage/database.ts";
import { buildCardMethod } from "../wallet/payment-method.ts";
import type { WalletStore } from "../wallet/store.ts";
import { createCheckout } from "./checkout.ts";
import { takeEvent } from "./event.ts";
import { readStripeAmount } from "./money.ts";
import { isSignedEvent } from "./signature.ts";

export interface StripeRoutesDeps {
  readonly database: Database;
  readonly wallet: WalletStore;
  readonly outbound: Outbound;
  readonly options: () => OptionValues;
  readonly clock: Clock;
  readonly log: Logger;
  /** Public address of this server, used while the option is not set. */
  readonly publicUrl: string | undefined;
}

/** Creates the routes for card payments with the provider's checkout page. */
export function stripeRoutes(deps: StripeRoutesDeps): Route[] {
  return [
    implement(stripeInfo, () => {
      const settings = deps.options();
      return { enabled: isSetUp(settings), currency: settings.StripeCurrency, price: settings.StripePrice };
    }),
    implement(stripeAmount, ({ body, caller }) => {
      const { money } = read(deps, body.amount, caller);
      return { money, currency: deps.options().StripeCurrency };
    }),
    implement(stripePay, ({ body, caller }) => pay(deps, body.amount, caller)),
    implement(stripeWebhook, async ({ request, text: read }) => {
      const { StripeWebhookSecret: secret } = deps.options();
      if (secret === "") throw new Refusal("payment_not_configured", { status: 400 });
      const text = await read();
      const header = String(request.headers["stripe-signature"] ?? "");
      if (!isSignedEvent(header, text, secret, seconds(deps.clock))) throw new Refusal("payment_signature_wrong");
      await takeEvent(deps, text);
      return { received: true };
    }),
  ];
}

function read({ options }: StripeRoutesDeps, amount: unknown, caller: Principal) {
  const settings = options();
  const reading = readStripeAmount(amount, settings, caller.group);
  if ("refused" in reading) {
    throw new Refusal(reading.refused, { field: "amount", values: { min: reading.min } });
  }
  if (!isSetUp(settings)) throw new Refusal("payment_not_configured");
  return reading;
}

function isSetUp({ StripeSecretKey, StripeWebhookSecret, StripeApiUrl }: OptionValues): boolean {
  return StripeSecretKey !== "" && StripeWebhookSecret !== "" && StripeApiUrl !== "";
}

/** Creates the order before calling the provider, because the notice can arrive before the response. */
async function pay(deps: StripeRoutesDeps, value: unknown, caller: Principal) {
  const { wallet, clock, log } = deps;
  const { amount, money, quota } = read(deps, value, caller);
  const settings = deps.options();
  const tradeNo = `USR${caller.userId}NO${randomText(12)}${seconds(clock)}`;
  const method = buildCardMethod(settings.StripeCurrency);
  await wallet.openOrder({ userId: caller.userId, amount, money, quota, tradeNo, method }).catch((cause: unknown) => {
    log.error("order not stored", { userId: caller.userId, error: cause });
    throw new Refusal("order_not_created", { cause });
  });
  const returnUrl = `${serverAddress(settings, deps.publicUrl)}/log`;
  const url = await createCheckout(deps.outbound, settings, { tradeNo, money, returnUrl }).catch((cause: unknown) => {
    log.warn("the payment provider did not answer", { error: cause });
    return undefined;
  });
  if (url === undefined) throw new Refusal("payment_provider_unreachable");
  return { url, trade_no: tradeNo };
}
