import { CACHE_RATIOS, COMPLETION_RATIOS, GROUP_RATIOS } from "./default-ratios.ts";
import { compatiblePrices } from "./price-data.ts";

export type DecimalTable = Readonly<Record<string, number | string>>;

/** Defaults of the price options, as JSON text. */
export function defaultModelRatioJson(): string {
  return JSON.stringify(defaultModelRatios());
}

export function defaultModelPriceJson(): string {
  return JSON.stringify(defaultModelPrices());
}

export function defaultCompletionRatioJson(): string {
  return JSON.stringify(COMPLETION_RATIOS);
}

export function defaultCacheRatioJson(): string {
  return JSON.stringify(CACHE_RATIOS);
}

export function defaultGroupRatioJson(): string {
  return JSON.stringify(GROUP_RATIOS);
}

export function defaultModelRatios(): Record<string, number> {
  return column("model_ratio");
}

export function defaultModelPrices(): Record<string, number> {
  return column("model_price");
}

function column(name: "model_ratio" | "model_price"): Record<string, number> {
  const table: Record<string, number> = {};
  for (const [model, price] of compatiblePrices()) {
    const value = price[name];
    if (value !== null) table[model] = value;
  }
  return table;
}
