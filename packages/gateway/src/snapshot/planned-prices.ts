import {
  changePriceTexts,
  PlannedPrice,
  type DollarPrice,
  type OptionRow,
  type PriceOption,
  type PriceTexts,
} from "@fairway/wire";
import * as z from "zod/mini";
import { priceOptionDefaults } from "./option-defaults.ts";

/** A change of prices that is not yet in the options. */
export interface PendingPrices {
  /** Epoch seconds. */
  readonly startsAt: number;
  readonly prices: readonly PlannedPrice[];
}

const Stored = z.array(PlannedPrice);

/** Reads the prices of a row. */
export function readPlannedPrices(json: string): PlannedPrice[] {
  return Stored.parse(JSON.parse(json));
}

/** Returns the prices as the options are written from them. */
export function toDollarPrices(prices: readonly PlannedPrice[]): [model: string, price: DollarPrice][] {
  return prices.map(({ model, input = "", output = "", cached = "", call = "" }) => [
    model,
    { input, output, cached, call },
  ]);
}

/** Returns the price options of these rows; an absent one has its default. */
export function readPriceTexts(rows: readonly OptionRow[]): PriceTexts {
  const texts = new Map(rows.map(({ key, value }) => [key, value]));
  const defaults = priceOptionDefaults();
  const read = (option: PriceOption) => texts.get(option) ?? defaults[option] ?? "{}";
  return {
    ModelPrice: read("ModelPrice"),
    ModelRatio: read("ModelRatio"),
    CompletionRatio: read("CompletionRatio"),
    CacheRatio: read("CacheRatio"),
  };
}

/** Returns the rows of the options with new prices. */
export function withPrices(rows: readonly OptionRow[], prices: readonly PlannedPrice[]): OptionRow[] {
  const changed = changePriceTexts(toDollarPrices(prices), readPriceTexts(rows));
  const keys = new Set(Object.keys(changed));
  return [
    ...rows.filter(({ key }) => !keys.has(key)),
    ...Object.entries(changed).map(([key, value]) => ({ key, value })),
  ];
}
