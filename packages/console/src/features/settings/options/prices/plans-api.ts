import { pricePlanCancel, pricePlanCreate, pricePlanList, pricePreview, type PlannedPrice } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../../lib/http.ts";
import { queryKeys } from "../../../../lib/query-keys.ts";
import { queryClient } from "../../../../lib/query.ts";
import { type Cells, type PriceDrafts } from "./prices.ts";

export const pricePlansQuery = queryOptions({
  queryKey: queryKeys.options.pricePlans,
  queryFn: ({ signal }) => call(pricePlanList, { signal }),
});

/** Returns what the last 24 hours would have cost at these prices. */
export function previewQuery(prices: readonly PlannedPrice[]) {
  return queryOptions({
    queryKey: queryKeys.options.pricePreview(JSON.stringify(prices)),
    queryFn: ({ signal }) => call(pricePreview, { body: { prices: [...prices] }, signal }),
    enabled: prices.length > 0,
    retry: false,
  });
}

function toPlannedPrice(model: string, cells: Cells): PlannedPrice | undefined {
  const names = cells.call === "" ? (["input", "output", "cached"] as const) : (["call"] as const);
  const given = names.filter((cell) => cells[cell] !== "");
  if (given.length === 0) return undefined;
  return { model, ...Object.fromEntries(given.map((cell) => [cell, String(Number(cells[cell]))])) };
}

/** Returns the models whose drafts cannot be planned: they return to the built-in price, and a plan needs a price. */
export function listUnplannable(drafts: PriceDrafts): string[] {
  return Object.entries(drafts).flatMap(([model, { cells }]) => (toPlannedPrice(model, cells) ? [] : [model]));
}

/** Returns the prices of the drafts that can be planned. */
export function toPlannedPrices(drafts: PriceDrafts): PlannedPrice[] {
  return Object.entries(drafts).flatMap(([model, { cells }]) => toPlannedPrice(model, cells) ?? []);
}

export async function planPrices(startsAt: number, prices: readonly PlannedPrice[]): Promise<void> {
  await call(pricePlanCreate, { body: { starts_at: startsAt, prices: [...prices] } });
  await queryClient.invalidateQueries({ queryKey: queryKeys.options.pricePlans });
}

export async function cancelPricePlan(id: number): Promise<void> {
  await call(pricePlanCancel, { params: { id } });
  await queryClient.invalidateQueries({ queryKey: queryKeys.options.pricePlans });
}
