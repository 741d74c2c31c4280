import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { queryInt, queryText } from "../core/envelope.ts";

/** The price of a model: by tokens (`quota_type` 0) or per call (1). */
export const PricingRow = z.object({
  model_name: z.string(),
  quota_type: z.int(),
  model_ratio: z.number(),
  /** US dollars per call. */
  model_price: z.number(),
  owner_by: z.literal(""),
  completion_ratio: z.number(),
  enable_groups: z.array(z.string()),
  /**
   * Borders, the highest first; a prompt longer than one of them is charged by its rates as a whole. Absent if there
   * are none.
   */
  borders: z.optional(z.array(z.object({ above: z.int(), model_ratio: z.number(), completion_ratio: z.number() }))),
});
export type PricingRow = z.output<typeof PricingRow>;

export const pricingList = endpoint({
  name: "pricingList",
  method: "GET",
  path: "/api/pricing",
  access: "try",
  summary:
    "Prices of the models that the caller's groups may use; `group_ratio` and `usable_group` are next to `data`.",
  data: z.array(PricingRow),
});

/** How a charge is computed. Amounts that are not integers are exact decimals or fractions such as `4/3`. */
export const PricingExplanation = z.object({
  model: z.string(),
  group: z.string(),
  /**
   * `operator`, `built-in defaults`, `list price of …` or `self-use`, and the date of the price; `…, as MODEL` for a
   * name that channels map to the model.
   */
  source: z.string(),
  date: z.string(),
  /** By tokens (0) or per call (1), as in the list of prices. */
  quota_type: z.int(),
  /** Length above which prompts are charged by other rates, if this prompt is; otherwise absent. */
  tier_above: z.optional(z.int()),
  /** Ratios as the log shows them; absent for prices per call. */
  ratios: z.optional(z.object({ model: z.number(), completion: z.number(), cache: z.number() })),
  /** The counted parts, each with its rate and quota, before the ratio of the group. */
  parts: z.array(z.object({ name: z.string(), count: z.int(), rate: z.string(), quota: z.string() })),
  group_ratio: z.string(),
  /** The sum times the ratio of the group. */
  exact: z.string(),
  /** The charge: rounded once, half up, and at least 1 unless the call is free. */
  quota: z.int(),
  quota_per_unit: z.number(),
});
export type PricingExplanation = z.output<typeof PricingExplanation>;

export const pricingExplain = endpoint({
  name: "pricingExplain",
  method: "GET",
  path: "/api/pricing/explain",
  access: "user",
  summary:
    "How a chat would be charged, factor by factor; null where the model has no price, or, for users, no channel of theirs.",
  query: z.object({
    model: queryText,
    /** Group of the charge; the caller's group if empty. */
    group: queryText,
    /** All tokens of the prompt, including those from a cache. */
    prompt: queryInt,
    /** Tokens of the response. */
    completion: queryInt,
    /** Tokens of the prompt that came from a cache. */
    cached: queryInt,
  }),
  data: z.nullable(PricingExplanation),
  fails: ["token_group_not_permitted"],
});
