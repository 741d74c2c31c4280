import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";

export const walletRedeem = endpoint({
  name: "walletRedeem",
  method: "POST",
  path: "/api/user/topup",
  access: "user",
  summary: "Redeems a code; the answer is the credited quota.",
  body: z.strictObject({ key: z.optional(z.string()) }),
  data: z.int(),
  fails: ["code_missing", "code_invalid", "code_redeemed", "code_disabled", "code_not_for_admins", "quota_invalid"],
});

const amountFields = {
  /**
   * Dollars in currency mode, otherwise quota units; anything but an integer is refused in the format of these calls.
   */
  amount: z.optional(z.unknown()),
  /** Sent by compatible consoles; ignored. */
  top_up_code: z.optional(z.unknown()),
};

/**
 * The response of amount and payment calls: `message` is `success` or `error`, and the text of a failure is in `data`.
 */
export const MoneyAnswer = z.object({ success: z.boolean(), message: z.string(), data: z.string() });

export const walletAmount = endpoint({
  name: "walletAmount",
  method: "POST",
  path: "/api/user/amount",
  access: "user",
  summary: "Tells the money to pay for an amount, with two decimals.",
  body: z.strictObject(amountFields),
  answer: "raw",
  fails: ["invalid_parameter", "topup_below_minimum", "topup_too_low"],
});

export const walletPay = endpoint({
  name: "walletPay",
  method: "POST",
  path: "/api/user/pay",
  access: "user",
  summary: "Opens an order and returns the form fields for the payment page, whose address is `url`.",
  body: z.strictObject({ ...amountFields, payment_method: z.optional(z.unknown()) }),
  answer: "raw",
  fails: [
    "invalid_parameter",
    "topup_below_minimum",
    "topup_too_low",
    "payment_not_configured",
    "payment_method_unknown",
    "order_not_created",
  ],
});

/** Maximum size of a notice: it has a dozen short fields, and anyone may send one. */
const NOTICE_BYTES = 16 * 1024;

const noticeFacts = {
  path: "/api/user/epay/notify",
  access: "none",
  summary: "Takes the payment provider's notice; answers `success` or `fail` as plain text.",
  answer: "text",
  bodyBytes: NOTICE_BYTES,
} as const;

export const walletNotice = endpoint({ name: "walletNotice", method: "GET", ...noticeFacts });
export const walletNoticeForm = endpoint({ name: "walletNoticeForm", method: "POST", ...noticeFacts });
