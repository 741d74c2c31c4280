import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { queryText } from "../core/envelope.ts";
import { pageFields } from "../core/paging.ts";

export const OptionView = z.object({ key: z.string(), value: z.string() });

/** Maximum body size; enough for a long list of words, escaped. */
const OPTION_BODY_BYTES = 16 * 1024 * 1024;

/** Numbers and booleans are converted to text; without a value nothing changes. */
const optionValue = z.optional(z.union([z.string(), z.number(), z.boolean()]));

export const optionList = endpoint({
  name: "optionList",
  method: "GET",
  path: "/api/option/",
  access: "root",
  summary: "Every option but the hidden ones, by key.",
  data: z.array(OptionView),
});

export const optionUpdate = endpoint({
  name: "optionUpdate",
  method: "PUT",
  path: "/api/option/",
  access: "root",
  summary: "Changes one option; it holds when the call answers.",
  body: z.strictObject({ key: z.optional(z.string()), value: optionValue }),
  bodyBytes: OPTION_BODY_BYTES,
  fails: [
    "entity_changed",
    "invalid_parameter",
    "invalid_field",
    "github_not_configured",
    "email_domains_not_configured",
    "wechat_not_configured",
    "turnstile_not_configured",
    "telegram_not_configured",
    "option_unknown",
    "option_json_invalid",
    "topup_ratio_json_invalid",
    "option_value_invalid",
    "server_address_missing",
    "price_invalid",
    "guardrail_not_configured",
    "sign_in_service_not_configured",
  ],
});

export const optionBatch = endpoint({
  name: "optionBatch",
  method: "PUT",
  path: "/api/option/batch",
  access: "root",
  summary: "Changes several options, all or none; `errors` names every refused key.",
  body: z.array(z.strictObject({ key: z.string(), value: z.union([z.string(), z.number(), z.boolean()]) })),
  bodyBytes: OPTION_BODY_BYTES,
  fails: [
    "entity_changed",
    "invalid_parameter",
    "invalid_field",
    "github_not_configured",
    "email_domains_not_configured",
    "wechat_not_configured",
    "turnstile_not_configured",
    "telegram_not_configured",
    "option_unknown",
    "option_json_invalid",
    "topup_ratio_json_invalid",
    "option_value_invalid",
    "server_address_missing",
    "price_invalid",
    "guardrail_not_configured",
    "sign_in_service_not_configured",
  ],
});

export const OptionError = z.object({ key: z.string(), code: z.string(), message: z.string() });
export type OptionError = z.output<typeof OptionError>;

export const optionReset = endpoint({
  name: "optionReset",
  method: "POST",
  path: "/api/option/rest_model_ratio",
  access: "root",
  summary: "Puts the built-in model ratios back.",
});

export const OptionChange = z.object({
  id: z.int(),
  key: z.string(),
  /** Previous text; null if nothing was stored, and for hidden options. */
  old_value: z.nullable(z.string()),
  new_value: z.nullable(z.string()),
  user_id: z.int(),
  username: z.string(),
  created_at: z.int(),
});
export type OptionChange = z.output<typeof OptionChange>;

export const optionHistory = endpoint({
  name: "optionHistory",
  method: "GET",
  path: "/api/option/history",
  access: "root",
  summary: "Who changed which option when, the latest first.",
  query: z.object({ ...pageFields, key: queryText }),
  data: z.array(OptionChange),
});

export const ShownPrice = z.object({
  by: z.enum(["tokens", "call"]),
  /** Price of input; 1 is two dollars per million tokens. The next two are multiples of it. */
  model_ratio: z.number(),
  completion_ratio: z.number(),
  cache_ratio: z.number(),
  /** US dollars per `unit`, for models that are charged per call. */
  model_price: z.number(),
  unit: z.string(),
  /**
   * "operator", "built-in defaults" or "list price of ...", with ", as MODEL" for mapped names; `date` is the date of
   * the price.
   */
  source: z.string(),
  date: z.string(),
});
export type ShownPrice = z.output<typeof ShownPrice>;

export const OptionPrice = z.object({
  model: z.string(),
  /** The current price, before the ratio of a group; null if the model has no price. */
  price: z.nullable(ShownPrice),
  /** The price without the model's entries in the options. */
  built_in: z.nullable(ShownPrice),
  /** True if an enabled channel has the model. */
  is_served: z.boolean(),
});
export type OptionPrice = z.output<typeof OptionPrice>;

export const optionPrices = endpoint({
  name: "optionPrices",
  method: "GET",
  path: "/api/option/prices",
  access: "root",
  summary: "What each model costs now and where that price comes from, models of channels without a price included.",
  data: z.array(OptionPrice),
});
