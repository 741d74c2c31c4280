import type { OptionValues } from "@fairway/wire";
import { isZero, over, ratio, type Ratio } from "../../billing/money/ratio.ts";
import { listedName } from "../../billing/pricing/listed-name.ts";
import { findListed } from "../../billing/pricing/listed-entry.ts";
import type { ListPrice } from "../../billing/pricing/price-data.ts";

/** What a request of a batch costs, as exact multiples of the rates of its model. */
export interface BatchRatio {
  readonly input: Ratio;
  readonly output: Ratio;
  /** Set if the price list has a price of its own for cached input in batches. */
  readonly cached?: Ratio | undefined;
}

type RatioOptions = Pick<OptionValues, "BatchRatios" | "BatchDefaultRatio">;

/**
 * Returns the ratio of a model: by the operator's option, else by the price list, else the default. Each side is found
 * by itself. `listedAs` is the model whose price the name has.
 */
export function findBatchRatio(
  model: string,
  listedAs: string,
  { BatchRatios, BatchDefaultRatio }: RatioOptions,
): BatchRatio {
  const name = listedName(model);
  const own = findOwn(name, BatchRatios);
  const [listed] = findListed(listedAs);
  const otherwise = ratio(String(BatchDefaultRatio));
  const side = (key: "input" | "output"): Ratio => {
    const set = own?.[key];
    return set === undefined ? (findListedRatio(listed, key, `${key}Batch`) ?? otherwise) : ratio(set);
  };
  const cached = own ? undefined : findListedRatio(listed, "cacheRead", "cacheReadBatch");
  return { input: side("input"), output: side("output"), cached };
}

function findOwn(name: string, ratios: RatioOptions["BatchRatios"]): RatioOptions["BatchRatios"][string] | undefined {
  if (Object.hasOwn(ratios, name)) return ratios[name];
  const entry = Object.entries(ratios).find(([key]) => key.endsWith("*") && name.startsWith(key.slice(0, -1)));
  return entry?.[1];
}

type Column = "input" | "output" | "cacheRead" | "inputBatch" | "outputBatch" | "cacheReadBatch";

function findListedRatio(listed: ListPrice | undefined, plain: Column, batch: Column): Ratio | undefined {
  const [full, reduced] = [listed?.[plain], listed?.[batch]];
  if (full === undefined || reduced === undefined || isZero(ratio(full))) return undefined;
  return over(ratio(reduced), ratio(full));
}
