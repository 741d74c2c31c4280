import {
  MESSAGE_CODES,
  messageText,
  serverAddress,
  walletAmount,
  walletNotice,
  walletNoticeForm,
  walletPay,
  walletRedeem,
  type MessageKey,
  type MessageValues,
  type OptionValues,
} from "@fairway/wire";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { randomText } from "../../lib/ids.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Logger } from "../../observability/log.ts";
import { readAmount, type AmountOptions } from "./amounts.ts";
import { formFields, submitUrl } from "./epay.ts";
import { answerNotice, isPaymentConfigured, readNotice } from "./notice.ts";
import type { WalletStore } from "./store.ts";

export interface WalletRoutesDeps {
  readonly store: WalletStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly options: () => WalletOptions;
  /** Public address of this server, used while the option is not set. */
  readonly publicUrl: string | undefined;
}

export type WalletOptions = AmountOptions &
  Pick<OptionValues, "PayAddress" | "EpayId" | "EpayKey" | "CustomCallbackAddress" | "ServerAddress">;

/** Spellings of the two payment methods in compatible consoles and at the provider. */
const METHODS: ReadonlyMap<unknown, "alipay" | "wxpay"> = new Map([
  ["zfb", "alipay"],
  ["alipay", "alipay"],
  ["wx", "wxpay"],
  ["wxpay", "wxpay"],
]);

export function walletRoutes(deps: WalletRoutesDeps): Route[] {
  const { store, options } = deps;
  return [
    implement(walletRedeem, async ({ body, caller }) => {
      const key = (body.key ?? "").trim();
      if (key === "") throw new Refusal("code_missing", { field: "key" });
      const outcome = await store.redeem(caller, key);
      if ("refused" in outcome) throw new Refusal(outcome.refused, { field: "key" });
      return outcome.quota;
    }),
    implement(walletAmount, ({ body, caller }) => {
      const reading = readAmount(body.amount, options(), caller.group);
      if ("refused" in reading) return moneyFailure(reading.refused, { min: reading.min });
      return { success: true, message: "success", data: reading.money };
    }),
    implement(walletPay, ({ body, caller }) => pay(deps, caller, body)),
    implement(walletNotice, ({ request }) => {
      const query = new URL(request.url ?? "/", "http://localhost").searchParams;
      return answerNotice(deps, readNotice(query));
    }),
    implement(walletNoticeForm, async ({ text }) => answerNotice(deps, readNotice(new URLSearchParams(await text())))),
  ];
}

interface PayBody {
  readonly amount?: unknown;
  readonly payment_method?: unknown;
}

async function pay(deps: WalletRoutesDeps, caller: Principal, body: PayBody) {
  const { store, clock, log, options } = deps;
  const settings = options();
  const reading = readAmount(body.amount, settings, caller.group);
  if ("refused" in reading) return moneyFailure(reading.refused, { min: reading.min });
  const type = METHODS.get(body.payment_method);
  if (!type) return moneyFailure("payment_method_unknown");
  if (!isPaymentConfigured(settings)) return moneyFailure("payment_not_configured");
  const { amount, money, quota } = reading;
  const tradeNo = `USR${caller.userId}NO${randomText(6)}${seconds(clock)}`;
  try {
    await store.openOrder({ userId: caller.userId, amount, money, quota, tradeNo, method: type });
  } catch (error) {
    log.error("order not stored", { userId: caller.userId, error });
    return moneyFailure("order_not_created");
  }
  const address = serverAddress(settings, deps.publicUrl);
  const data = formFields({
    merchantId: settings.EpayId,
    key: settings.EpayKey,
    type,
    tradeNo,
    notifyUrl: `${settings.CustomCallbackAddress || address}/api/user/epay/notify`,
    returnUrl: `${address}/log`,
    name: `TUC${amount}`,
    money,
  });
  return { success: true, message: "success", data, url: submitUrl(settings.PayAddress) };
}

/** Returns a failure in `data`, as amount and payment calls of compatible gateways do. */
function moneyFailure(key: MessageKey, values: MessageValues = {}) {
  return { success: false, message: "error", data: messageText(key, values), code: MESSAGE_CODES[key] };
}
