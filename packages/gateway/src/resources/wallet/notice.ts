import type { OptionValues } from "@fairway/wire";
import { withDefaults } from "../../lib/defaults.ts";
import type { Logger } from "../../observability/log.ts";
import { parseCents } from "./amounts.ts";
import { isSigned, type EpayFields } from "./epay.ts";
import type { WalletStore } from "./store.ts";

type PaymentOptions = Pick<OptionValues, "PayAddress" | "EpayId" | "EpayKey">;

export interface NoticeDeps {
  readonly store: WalletStore;
  readonly log: Logger;
  readonly options: () => PaymentOptions;
}

type NoticeAnswer = "success" | "fail";

const BLANK = { pid: "", trade_no: "", out_trade_no: "", trade_status: "", money: "" };

export function isPaymentConfigured({ PayAddress, EpayId, EpayKey }: PaymentOptions): boolean {
  return PayAddress !== "" && EpayId !== "" && EpayKey !== "";
}

/** Reads the fields of a notice; if a name is repeated, the first one counts, for the signature and for the order. */
export function readNotice(parameters: URLSearchParams): EpayFields {
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of parameters) fields[name] ??= value;
  return fields;
}

/** Answers the provider: `success` ends its retries, and is sent only after the credit is committed. */
export async function answerNotice({ store, log, options }: NoticeDeps, notice: EpayFields): Promise<NoticeAnswer> {
  const settings = options();
  const { pid, trade_no, out_trade_no: tradeNo, trade_status, money: paid } = withDefaults(BLANK, notice);
  const fail = (reason: string): NoticeAnswer => {
    log.warn("payment notice refused", { reason, tradeNo: tradeNo.slice(0, 64) });
    return "fail";
  };
  if (!isPaymentConfigured(settings)) return fail("payment is not configured");
  if (!isSigned(notice, settings.EpayKey)) return fail("wrong signature");
  if (pid !== settings.EpayId) return fail("another merchant");
  if (trade_status !== "TRADE_SUCCESS") return "success";
  const money = parseCents(paid);
  if (money === undefined) return fail("unreadable money");
  try {
    const outcome = await store.markPaid(tradeNo, money, trade_no.slice(0, 191));
    return outcome === "credited" || outcome === "known" ? "success" : fail(outcome);
  } catch (error) {
    log.error("payment not booked", { tradeNo, error });
    return "fail";
  }
}
