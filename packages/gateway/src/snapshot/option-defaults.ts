import type { OptionDefaults } from "@fairway/wire";
import {
  defaultCacheRatioJson,
  defaultCompletionRatioJson,
  defaultGroupRatioJson,
  defaultModelPriceJson,
  defaultModelRatioJson,
} from "../billing/pricing/price-tables.ts";

let made: OptionDefaults | undefined;

/** What the price options are while nobody changed them; made at the first use, they are long. */
export function priceOptionDefaults(): OptionDefaults {
  made ??= Object.freeze({
    ModelRatio: defaultModelRatioJson(),
    ModelPrice: defaultModelPriceJson(),
    CompletionRatio: defaultCompletionRatioJson(),
    CacheRatio: defaultCacheRatioJson(),
    GroupRatio: defaultGroupRatioJson(),
  });
  return made;
}
