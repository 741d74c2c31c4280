import type { OptionDefaults } from "@fairway/wire";
import {
  defaultCacheRatioJson,
  defaultCompletionRatioJson,
  defaultGroupRatioJson,
  defaultModelPriceJson,
  defaultModelRatioJson,
} from "../billing/pricing/price-tables.ts";

let made: OptionDefaults | undefined;

/** Returns the defaults of the price options; they are created at the first use because they are long. */
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
