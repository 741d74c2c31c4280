import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { queryInt, queryText } from "../core/envelope.ts";

/** A purchase of quota through any payment service. */
export const Order = z.object({
  id: z.int(),
  user_id: z.int(),
  /** Dollars in currency mode, otherwise quota units. */
  amount: z.int(),
  /** The amount to pay, in the currency of the payment service. */
  money: z.number(),
  /** Quota units that the payment credits. */
  quota: z.int(),
  trade_no: z.string(),
  payment_method: z.string(),
  create_time: z.int(),
  /** 0 = not paid. */
  complete_time: z.int(),
  /** `pending`, `success`, `expired` or `failed`. */
  status: z.string(),
});
export type Order = z.output<typeof Order>;

export const OrderPage = z.object({ items: z.array(Order), total: z.int(), page: z.int(), page_size: z.int() });
export type OrderPage = z.output<typeof OrderPage>;

const fields = {
  /** Page number, from 1. */
  p: queryInt,
  page_size: queryInt,
  /** Part of the order number. */
  keyword: queryText,
};

export const orderListSelf = endpoint({
  name: "orderListSelf",
  method: "GET",
  path: "/api/user/topup/self",
  access: "user",
  summary: "The caller's purchases of quota, newest first.",
  query: z.object(fields),
  data: OrderPage,
});

export const orderList = endpoint({
  name: "orderList",
  method: "GET",
  path: "/api/user/topup",
  access: "admin",
  summary: "All purchases of quota, or those of one user, newest first.",
  query: z.object({ ...fields, user_id: queryInt }),
  data: OrderPage,
});

export const topUpInfo = endpoint({
  name: "topUpInfo",
  method: "GET",
  path: "/api/user/topup/info",
  access: "user",
  summary: "Payment methods and the minimum amount, as the wallet of later compatible consoles reads them.",
  data: z.object({
    enable_online_topup: z.boolean(),
    /** Always false: card payment has its own calls, `/api/user/stripe`. */
    enable_stripe_topup: z.literal(false),
    enable_creem_topup: z.literal(false),
    pay_methods: z.array(z.object({ name: z.string(), type: z.string(), color: z.string(), min_topup: z.string() })),
    min_topup: z.int(),
    /** Amounts to choose from; always empty here. */
    amount_options: z.array(z.int()),
    discount: z.record(z.string(), z.number()),
    topup_link: z.string(),
  }),
});
