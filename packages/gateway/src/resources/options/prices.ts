import type { OptionPrice, ShownPrice } from "@fairway/wire";
import { listedName } from "../../billing/pricing/listed-name.ts";
import { createPriceBook, type PriceBook } from "../../billing/pricing/price-book.ts";
import type { Price } from "../../billing/pricing/rates.ts";
import type { Snapshot } from "../../snapshot/types.ts";

let builtIn: PriceBook | undefined;

/** Returns every model that has a price or that an enabled channel serves, by its name in price options. */
export function listOptionPrices({ prices, index }: Pick<Snapshot, "prices" | "index">): OptionPrice[] {
  const book = (builtIn ??= createPriceBook());
  const served = new Set([...index.values()].flatMap((models) => [...models.keys()].map(listedName)));
  return [...new Set([...prices.models(), ...served])].toSorted().map((model) => ({
    model,
    price: shown(prices.find(model)),
    built_in: shown(book.find(model)),
    is_served: served.has(model),
  }));
}

function shown(price: Price | undefined): ShownPrice | null {
  if (price === undefined) return null;
  const { source, date } = price;
  return price.kind === "call"
    ? {
        by: "call",
        model_ratio: 0,
        completion_ratio: 0,
        cache_ratio: 0,
        model_price: price.modelPrice,
        unit: price.unit === "tenth" ? "second" : price.unit,
        source,
        date,
      }
    : {
        by: "tokens",
        model_ratio: price.modelRatio,
        completion_ratio: price.completionRatio,
        cache_ratio: price.cacheRatio,
        model_price: 0,
        unit: "token",
        source,
        date,
      };
}
