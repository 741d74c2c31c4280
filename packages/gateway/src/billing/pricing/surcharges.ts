import { listedName } from "./listed-name.ts";
import { listedEntry } from "./listed-entry.ts";
import type { ListPrice } from "./price-data.ts";
import type { DecimalTable } from "./price-tables.ts";
import { type Price, type TokenRates, toWeights, WEIGHT_NAMES, type Weights, type RateTable } from "./rates.ts";
import { reduceFraction, isZero, ONE, over, ratio, type Ratio, times, toNumber } from "../money/ratio.ts";

/** Surcharges of vendors on the price of tokens. Keys of both tables are `name` or `name/model`. */
export interface Surcharges {
  /** US dollars for a thousand calls of a tool that the vendor runs; undefined if there is no price. */
  toolPrice(tool: string, model: string): Ratio | undefined;
  /** Every tool that has a price, for some model at least. */
  readonly tools: readonly string[];
  /** Every tier that has a price, for some model at least. */
  readonly tiers: readonly string[];
  /** Factor by which a tier multiplies the price of a model; undefined if there is no price. */
  tierRatio(tier: string, model: string): Ratio | undefined;
}

/**
 * Prices of November 2026, from openai.com/api/pricing, platform.claude.com/docs/en/about-claude/pricing,
 * ai.google.dev/gemini-api/docs/pricing, docs.x.ai/docs/models, openrouter.ai/docs/features/web-search and
 * help.aliyun.com. The price of an image is that of the largest at high quality; that of a container includes one hour.
 */
const TOOL_PRICES: DecimalTable = {
  code_execution: 50,
  code_interpreter: 30,
  code_interpreter_4g: 120,
  code_interpreter_16g: 480,
  code_interpreter_64g: 1920,
  collections_search: 2.5,
  enable_search: 1,
  enterprise_web_search: 45,
  file_search: 2.5,
  google_maps: 25,
  google_search: 14,
  "google_search/gemini-2.0-flash": 35,
  "google_search/gemini-2.5-flash": 35,
  "google_search/gemini-2.5-flash-lite": 35,
  "google_search/gemini-2.5-pro": 35,
  image_generation: 250,
  plugin_web: 20,
  shell: 30,
  shell_4g: 120,
  shell_16g: 480,
  shell_64g: 1920,
  web_search: 10,
  web_search_preview: 25,
  x_search: 5,
};

/** Discounts are not passed on: not every upstream gives them. Fast mode: platform.claude.com/docs/build-with-claude/fast-mode. */
const TIER_RATIOS: DecimalTable = {
  batch: 1,
  flex: 1,
  geo_us: 1.1,
  "fast/claude-opus-4-6": 6,
  "fast/claude-opus-4-7": 6,
  "fast/claude-opus-4-8": 2,
  "fast/claude-opus-5": 2,
  "fast/claude-opus-5-5": 2,
  "fast/claude-fable-5-2": 2,
};

/**
 * Options win over built-in prices, and an entry for a model over one for all models. `pricedAs` names the model whose
 * price a mapped name has; an entry for the name itself wins.
 */
export function createSurcharges(
  tools: DecimalTable | undefined,
  tiers: DecimalTable | undefined,
  pricedAs: (model: string) => string = (model) => model,
): Surcharges {
  return {
    tools: listNames(tools, TOOL_PRICES),
    tiers: listNames(tiers, TIER_RATIOS),
    toolPrice(tool, name) {
      const model = ownEntry(tools, tool, name) === undefined ? pricedAs(name) : name;
      return findEntry(tools, tool, model) ?? findEntry(TOOL_PRICES, tool, model);
    },
    tierRatio(tier, name) {
      const model = ownEntry(tiers, tier, name) === undefined ? pricedAs(name) : name;
      return findEntry(tiers, tier, model) ?? listedRatio(tier, model) ?? findEntry(TIER_RATIOS, tier, model);
    },
  };
}

/** Returns the names before the models in the keys of both tables. */
function listNames(own: DecimalTable | undefined, builtIn: DecimalTable): string[] {
  const keys = [...Object.keys(own ?? {}), ...Object.keys(builtIn)];
  return [...new Set(keys.map((key) => key.split("/", 1)[0] ?? ""))];
}

/** The date suffix of a model's name. */
const SNAPSHOT = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;

function findEntry(table: DecimalTable | undefined, name: string, model: string): Ratio | undefined {
  if (!table) return undefined;
  const value = ownEntry(table, name, model) ?? (Object.hasOwn(table, name) ? table[name] : undefined);
  return value === undefined ? undefined : ratio(value);
}

/** Returns the entry for this model, not the one for all models. */
function ownEntry(table: DecimalTable | undefined, name: string, model: string): DecimalTable[string] | undefined {
  if (!table) return undefined;
  const bare = model.slice(model.lastIndexOf("/") + 1);
  const names = [listedName(model), bare, bare.replace(SNAPSHOT, "")].map((one) => `${name}/${one}`);
  const key = names.find((candidate) => Object.hasOwn(table, candidate));
  return key === undefined ? undefined : table[key];
}

/** Returns the ratio of priority service from the price list, using the dearer direction. */
function listedRatio(tier: string, model: string): Ratio | undefined {
  const entry = tier === "priority" ? listedEntry(model) : undefined;
  if (!entry) return undefined;
  const ratios = (["input", "output"] as const).flatMap((side) => calculatePriorityRatio(entry, side) ?? []);
  return ratios.length === 0 ? undefined : ratios.reduce((a, b) => (toNumber(b) > toNumber(a) ? b : a));
}

function calculatePriorityRatio(entry: ListPrice, side: "input" | "output"): Ratio | undefined {
  const [plain, dear] = [entry[side], entry[`${side}Priority`]];
  if (plain === undefined || dear === undefined || isZero(ratio(plain))) return undefined;
  return over(ratio(dear), ratio(plain));
}

/** Returns the price with all its parts multiplied. */
export function scaledPrice(price: Price, factor: Ratio): Price {
  if (factor.num === factor.den) return price;
  if (price.kind === "call") {
    const exact = times(price.exact, factor);
    return { ...price, exact, modelPrice: toNumber(exact), isFree: isZero(exact) };
  }
  const tiers = price.tiers.map(({ above, ...rates }) => ({ above, ...scaledRates(rates, factor) }));
  return { ...price, ...scaledRates(price, factor), tiers, isFree: price.isFree || isZero(factor) };
}

function scaledRates(rates: TokenRates, factor: Ratio): TokenRates {
  const { weights, modelRatio } = rates;
  return { ...rates, modelRatio: toNumber(times(ratio(modelRatio), factor)), weights: scaledWeights(weights, factor) };
}

function scaledWeights({ exact }: Weights, { num, den }: Ratio): Weights {
  const rates = {} as { -readonly [K in keyof RateTable]: Ratio };
  for (const name of WEIGHT_NAMES) rates[name] = reduceFraction(exact[name] * num, exact.denominator * den);
  return toWeights(rates);
}

/** Returns the combined ratio of all tiers of a request; undefined if one of them has no price. */
export function tiersRatio(
  tiers: readonly string[],
  model: string,
  { tierRatio }: Pick<Surcharges, "tierRatio">,
): Ratio | undefined {
  let product: Ratio | undefined = ONE;
  for (const tier of tiers) {
    const factor = tierRatio(tier, model);
    product = product && factor && times(product, factor);
  }
  return product;
}
