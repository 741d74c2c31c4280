import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams } from "../core/envelope.ts";

/** Models of one plan. */
export const MAX_PLANNED_MODELS = 200;
/** The latest start of a plan, from now. */
export const MAX_PLAN_SECONDS = 366 * 86_400;

const dollars = z.string().check(z.regex(/^\d{1,9}(?:\.\d{1,12})?$/));

/** A new price of a model before the ratio of a group: by tokens, with `input`, or per call. */
export const PlannedPrice = z.strictObject({
  model: z.string().check(z.minLength(1), z.maxLength(191)),
  /** US dollars per million tokens of input, as a decimal text. */
  input: z.optional(dollars),
  /** US dollars per million tokens of output; absent: the usual multiple of the input. */
  output: z.optional(dollars),
  /** US dollars per million tokens of input that came from a cache; absent: the usual multiple of the input. */
  cached: z.optional(dollars),
  /** US dollars per call, instead of the others. */
  call: z.optional(dollars),
});
export type PlannedPrice = z.output<typeof PlannedPrice>;

export const PRICE_PLAN_STATES = ["planned", "applied", "cancelled"] as const;

/** A change of prices at a time. */
export const PricePlan = z.object({
  id: z.int(),
  /** Epoch seconds. */
  created_at: z.int(),
  /** Name of the user who planned it. */
  created_by: z.string(),
  /** Epoch seconds; requests that begin then or later have the new prices. */
  starts_at: z.int(),
  prices: z.array(PlannedPrice),
  state: z.enum(PRICE_PLAN_STATES),
  /** Epoch seconds of the change or of the cancellation; 0 while planned. */
  ended_at: z.int(),
});
export type PricePlan = z.output<typeof PricePlan>;

/** What the requests of the last 24 hours cost, and would have cost. */
export const PricePreview = z.object({
  models: z.array(
    z.object({
      model: z.string(),
      /** Charged requests of the last 24 hours that were counted. */
      requests: z.int(),
      /** What they were charged, in quota units. */
      charged: z.int(),
      /** What they would have been charged at the new price. */
      would_charge: z.int(),
    }),
  ),
  /** False if only the newest requests were counted. */
  complete: z.boolean(),
});
export type PricePreview = z.output<typeof PricePreview>;

const prices = z.array(PlannedPrice).check(z.minLength(1), z.maxLength(MAX_PLANNED_MODELS));

export const pricePlanList = endpoint({
  name: "pricePlanList",
  method: "GET",
  path: "/api/price/plan",
  access: "root",
  summary: "Lists planned changes of prices, the next first, then the latest that ended.",
  data: z.array(PricePlan),
});

export const pricePlanCreate = endpoint({
  name: "pricePlanCreate",
  method: "POST",
  path: "/api/price/plan",
  access: "root",
  summary: "Plans new prices of models from a time on; every replica charges them from that second.",
  body: z.strictObject({ starts_at: z.int(), prices }),
  data: PricePlan,
  fails: ["price_invalid", "price_plan_time_wrong"],
});

export const pricePlanCancel = endpoint({
  name: "pricePlanCancel",
  method: "POST",
  path: "/api/price/plan/{id}/cancel",
  access: "root",
  summary: "Cancels a planned change of prices that has not begun.",
  params: idParams,
  data: PricePlan,
  fails: ["price_plan_not_found", "price_plan_over"],
});

export const pricePreview = endpoint({
  name: "pricePreview",
  method: "POST",
  path: "/api/price/preview",
  access: "root",
  summary: "Says what the requests of the last 24 hours would have cost at new prices. Changes nothing.",
  body: z.strictObject({ prices }),
  data: PricePreview,
  fails: ["price_invalid", "log_unreachable"],
});
