import type { OptionValues } from "@fairway/wire";
import { exactText, isZero, ONE, ratio, readExact, times, type Ratio } from "../../billing/money/ratio.ts";
import type { PriceBook } from "../../billing/pricing/price-book.ts";
import type { Price } from "../../billing/pricing/rates.ts";
import { scaledPrice, type Surcharges } from "../../billing/pricing/surcharges.ts";
import type { Operation } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { findBatchRatio } from "./batch-ratio.ts";
import { discountPrice } from "./discount.ts";
import { freezePrice, thawPrice, type FrozenPrice } from "./frozen-price.ts";

/** What requests of one model cost in a batch; numbers are exact texts. */
interface FrozenModel {
  readonly price: FrozenPrice;
  readonly inputRatio: string;
  readonly outputRatio: string;
  readonly cachedRatio?: string;
  readonly isCacheIgnored?: true;
  /** US dollars for a thousand calls of each tool that the vendor runs. */
  readonly tools: Readonly<Record<string, string>>;
  /** Factors of places and speeds that cost more. */
  readonly tiers: Readonly<Record<string, string>>;
}

/** Everything that decides what a batch costs, frozen when it is created. It is stored as JSON in its row. */
export interface BatchTerms {
  readonly operation: Operation;
  readonly group: string;
  readonly groupRatio: string;
  readonly quotaPerUnit: string;
  /** In the order of the settlements. */
  readonly models: Readonly<Record<string, FrozenModel>>;
}

interface FreezeRequest {
  /** As clients name them. */
  readonly models: Iterable<string>;
  readonly operation: Operation;
  readonly group: string;
  /** False if the upstream charges cached tokens of batches as plain input. Default true. */
  readonly hasCachePrices?: boolean;
}

interface FreezeContext {
  readonly prices: PriceBook;
  readonly options: Pick<OptionValues, "BatchRatios" | "BatchDefaultRatio" | "QuotaPerUnit">;
}

/** Freezes the prices of a batch. Throws `model_price_error` if a model has none. */
export function freezeTerms(request: FreezeRequest, context: FreezeContext): BatchTerms {
  const { models, operation, group } = request;
  const { prices, options } = context;
  return {
    operation,
    group,
    groupRatio: prices.groupRatio(group),
    quotaPerUnit: String(options.QuotaPerUnit),
    models: Object.fromEntries([...models].map((model) => [model, freezeModel(model, request, context)])),
  };
}

function freezeModel(
  model: string,
  { hasCachePrices = true }: FreezeRequest,
  { prices, options }: FreezeContext,
): FrozenModel {
  const price = prices.charged(model);
  if (!price) throw new AppError("model_price_error", { param: "model", values: { model } });
  const { input, output, cached } = findBatchRatio(model, price.pricedAs ?? model, options);
  return {
    price: freezePrice(price),
    inputRatio: exactText(input),
    outputRatio: exactText(output),
    ...(cached && { cachedRatio: exactText(cached) }),
    ...(!hasCachePrices && { isCacheIgnored: true }),
    tools: freezeTools(model, prices.surcharges),
    tiers: freezeTiers(model, prices.surcharges),
  };
}

/** Service tiers are left out: the batch is one. */
const EXTRA_TIER = /^(?:geo_|fast$)/;

function freezeTiers(model: string, surcharges: Surcharges): Record<string, string> {
  const tiers: Record<string, string> = {};
  for (const tier of surcharges.tiers) {
    const factor = EXTRA_TIER.test(tier) ? surcharges.tierRatio(tier, model) : undefined;
    if (factor && factor.num > factor.den) tiers[tier] = exactText(factor);
  }
  return tiers;
}

function freezeTools(model: string, surcharges: Surcharges): Record<string, string> {
  const tools: Record<string, string> = {};
  for (const tool of surcharges.tools) {
    const price = surcharges.toolPrice(tool, model);
    if (price && !isZero(price)) tools[tool] = exactText(price);
  }
  return tools;
}

/** What a request costs in the batch, and outside of it. */
interface BatchPrices {
  readonly price: Price;
  readonly full: Price;
}

/** The terms of one model, ready to compute with. */
export interface ModelTerms extends BatchPrices {
  readonly model: string;
  /** Returns the prices for a request of these tiers, or for an answer that names them. */
  pricesOf(tiers: readonly string[]): BatchPrices;
  readonly inputRatio: Ratio;
  readonly outputRatio: Ratio;
  readonly surcharges: Pick<Surcharges, "toolPrice">;
}

export interface OpenTerms {
  readonly operation: Operation;
  readonly group: string;
  readonly groupRatio: string;
  readonly quotaPerUnit: Ratio;
  readonly models: ReadonlyMap<string, ModelTerms>;
}

/** Prepares frozen terms for use; once for a batch, because exact prices take time to build. */
export function openTerms({ operation, group, groupRatio, quotaPerUnit, models }: BatchTerms): OpenTerms {
  const opened = Object.entries(models).map(([model, frozen]) => [model, openModel(model, frozen)] as const);
  return { operation, group, groupRatio, quotaPerUnit: ratio(quotaPerUnit), models: new Map(opened) };
}

function openModel(model: string, frozen: FrozenModel): ModelTerms {
  const plain = thawPrice(model, frozen.price);
  const { isCacheIgnored = false, cachedRatio, tools, tiers } = frozen;
  const [inputRatio, outputRatio] = [readExact(frozen.inputRatio), readExact(frozen.outputRatio)];
  const cached = cachedRatio === undefined ? undefined : readExact(cachedRatio);
  const prices: BatchPrices = {
    price: discountPrice(model, plain, { input: inputRatio, output: outputRatio, cached, isCacheIgnored }),
    full: discountPrice(model, plain, { input: ONE, output: ONE, isCacheIgnored }),
  };
  return {
    model,
    ...prices,
    pricesOf: scalePrices(prices, tiers),
    inputRatio,
    outputRatio,
    surcharges: {
      toolPrice: (tool) => (Object.hasOwn(tools, tool) ? readExact(tools[tool] ?? "0") : undefined),
    },
  };
}

function scalePrices(prices: BatchPrices, factors: FrozenModel["tiers"]): ModelTerms["pricesOf"] {
  const known = new Map<string, BatchPrices>();
  return (tiers) => {
    const dear = tiers.filter((tier) => Object.hasOwn(factors, tier));
    if (dear.length === 0) return prices;
    const key = dear.join(" ");
    const scaled = known.get(key) ?? scaleBoth(prices, dear, factors);
    known.set(key, scaled);
    return scaled;
  };
}

function scaleBoth({ price, full }: BatchPrices, tiers: readonly string[], factors: FrozenModel["tiers"]): BatchPrices {
  const factor = tiers.reduce((product, tier) => times(product, readExact(factors[tier] ?? "1")), ONE);
  return { price: scaledPrice(price, factor), full: scaledPrice(full, factor) };
}
