import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";

/** Dollars in currency mode, otherwise quota units. */
const amountBody = z.strictObject({ amount: z.optional(z.number()) });

export const stripeInfo = endpoint({
  name: "stripeInfo",
  method: "GET",
  path: "/api/user/stripe",
  access: "user",
  summary: "Whether card payment is set up, and what one dollar of quota costs with it.",
  data: z.object({ enabled: z.boolean(), currency: z.string(), price: z.number() }),
});

export const stripeAmount = endpoint({
  name: "stripeAmount",
  method: "POST",
  path: "/api/user/stripe/amount",
  access: "user",
  summary: "Tells the money that an amount costs with the card payment provider.",
  body: amountBody,
  data: z.object({ money: z.string(), currency: z.string() }),
  fails: ["invalid_parameter", "invalid_field", "topup_below_minimum", "topup_too_low", "payment_not_configured"],
});

export const stripePay = endpoint({
  name: "stripePay",
  method: "POST",
  path: "/api/user/stripe/pay",
  access: "user",
  rate: "critical",
  summary: "Opens an order and answers the address of its checkout page.",
  body: amountBody,
  data: z.object({ url: z.string(), trade_no: z.string() }),
  fails: [
    "invalid_parameter",
    "invalid_field",
    "topup_below_minimum",
    "topup_too_low",
    "payment_not_configured",
    "order_not_created",
    "payment_provider_unreachable",
  ],
});

export const stripeWebhook = endpoint({
  name: "stripeWebhook",
  method: "POST",
  path: "/api/stripe/webhook",
  access: "none",
  summary: "Takes the signed events of the card payment provider; a paid order is credited once.",
  answer: "raw",
  fails: ["payment_signature_wrong", "payment_not_configured"],
});
