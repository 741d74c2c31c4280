import {
  checkOption,
  MAX_PLAN_SECONDS,
  parseOptions,
  PRICE_OPTIONS,
  pricePlanCancel,
  pricePlanCreate,
  pricePlanList,
  pricePreview,
  type OptionRow,
  type OptionValues,
  type PlannedPrice,
  type PricePlan,
} from "@fairway/wire";
import { createPriceBook } from "../../billing/pricing/price-book.ts";
import { implement, type Route } from "../../http/endpoint.ts";
import { seconds } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { priceOptionDefaults } from "../../snapshot/option-defaults.ts";
import { withPrices } from "../../snapshot/planned-prices.ts";
import { previewPrices, type PreviewDeps } from "./preview.ts";
import type { PricePlanStore } from "./store.ts";

export interface PricePlanRoutesDeps extends PreviewDeps {
  readonly store: PricePlanStore;
  /** The stored options in clear text. */
  readonly stored: () => Promise<OptionRow[]>;
}

/** Creates the routes of planned prices, and of what new prices would have cost. */
export function pricePlanRoutes(deps: PricePlanRoutesDeps): Route[] {
  const { store, clock, stored } = deps;
  const requirePlan = async (id: number): Promise<PricePlan> => {
    const plan = await store.find(id);
    if (!plan) throw new Refusal("price_plan_not_found");
    return plan;
  };
  return [
    implement(pricePlanList, () => store.list()),
    implement(pricePlanCreate, async ({ body, caller }) => {
      const now = seconds(clock);
      if (body.starts_at <= now || body.starts_at > now + MAX_PLAN_SECONDS)
        throw new Refusal("price_plan_time_wrong", { field: "starts_at" });
      readOptionsWith(body.prices, await stored());
      const { userId, username } = caller;
      return requirePlan(await store.create({ userId, username, startsAt: body.starts_at, prices: body.prices }));
    }),
    implement(pricePlanCancel, async ({ params }) => {
      await requirePlan(params.id);
      if (!(await store.cancel(params.id))) throw new Refusal("price_plan_over");
      return requirePlan(params.id);
    }),
    implement(pricePreview, async ({ body }) => {
      const book = createPriceBook(readOptionsWith(body.prices, await stored()));
      return previewPrices(deps, body.prices, book);
    }),
  ];
}

/** Returns the options with the prices; throws `price_invalid` for a price that cannot be stored. */
function readOptionsWith(prices: readonly PlannedPrice[], rows: readonly OptionRow[]): OptionValues {
  for (const price of prices) {
    if (!isWhole(price)) throw new Refusal("price_invalid", { field: "prices", values: { name: price.model } });
  }
  const texts = withPrices(rows, prices);
  const values = parseOptions(texts, { defaults: priceOptionDefaults() });
  for (const { key, value } of texts) {
    if (!PRICE_OPTIONS.some((option) => option === key)) continue;
    const check = checkOption(key, value, values);
    if (!check.isValid) throw new Refusal(check.messageKey, { values: check.values, field: "prices" });
  }
  return values;
}

/** A price is per call, or has an input; the others are multiples of the input, which must then be above 0. */
function isWhole({ input, output, cached, call }: PlannedPrice): boolean {
  if (call !== undefined) return input === undefined && output === undefined && cached === undefined;
  if (input === undefined) return false;
  return Number(input) > 0 || (Number(output ?? 0) === 0 && Number(cached ?? 0) === 0);
}
