import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";

/** What a model costs: by tokens (`quota_type` 0) or per call (1). */
export const PricingRow = z.object({
  model_name: z.string(),
  quota_type: z.int(),
  model_ratio: z.number(),
  /** US dollars per call. */
  model_price: z.number(),
  owner_by: z.literal(""),
  completion_ratio: z.number(),
  enable_groups: z.array(z.string()),
});
export type PricingRow = z.output<typeof PricingRow>;

export const pricingList = endpoint({
  name: "pricingList",
  method: "GET",
  path: "/api/pricing",
  access: "try",
  summary:
    "Prices of the models that the caller's groups may use; `group_ratio` and `usable_group` stand beside `data`.",
  data: z.array(PricingRow),
});
