import type { PricingRow, PromptBorders } from "@fairway/wire";
import {
  CACHE_RATIOS,
  COMPLETION_RATIOS,
  resolveCompletionRatio,
  GROUP_RATIOS,
  isTaskModel,
  TASK_PRICE,
} from "./default-ratios.ts";
import { listedName } from "./listed-name.ts";
import { mappedResolver, type MappedNames, type Resolver } from "./mapped-price.ts";
import { priceFromList } from "./list-price.ts";
import { listedEntry } from "./listed-entry.ts";
import { findModelFacts, type ModelFacts, type UpstreamFacts } from "./model-facts.ts";
import { isOwnLimit, resolveModelLimits, resolveMappedLimits, type ModelLimits } from "./model-limits.ts";
import { withBorders } from "./prompt-borders.ts";
import { OPERATOR, type CallPrice, type Origin, type Price, type TokenPrice } from "./rates.ts";
import { BUILT_IN, compatiblePrices, type ListPrice, listPrices } from "./price-data.ts";
import { type DecimalTable, defaultModelPrices, defaultModelRatios } from "./price-tables.ts";
import { createSurcharges, type Surcharges } from "./surcharges.ts";
import { reduceFraction, isZero, ONE, ratio, type Ratio, times, toNumber } from "../money/ratio.ts";
import { compatibleRates, override, type Overrides, tokenPrice } from "./token-price.ts";

/**
 * The price options as they are stored; an absent option has its default. Numbers are read by their shortest decimal.
 */
export interface PriceOptions {
  readonly ModelPrice?: DecimalTable;
  readonly ModelRatio?: DecimalTable;
  readonly CompletionRatio?: DecimalTable;
  readonly CacheRatio?: DecimalTable;
  readonly CreateCacheRatio?: DecimalTable;
  readonly ImageRatio?: DecimalTable;
  readonly AudioRatio?: DecimalTable;
  readonly AudioCompletionRatio?: DecimalTable;
  readonly GroupRatio?: DecimalTable;
  readonly ModelOutputTokens?: DecimalTable;
  readonly ModelContextTokens?: DecimalTable;
  readonly ModelModalities?: Readonly<Record<string, string>>;
  readonly RealtimeSecondPrice?: DecimalTable;
  readonly PromptBorders?: PromptBorders;
  readonly ToolPrice?: DecimalTable;
  readonly ServiceTierRatio?: DecimalTable;
  readonly SelfUseModeEnabled?: boolean;
}

/** The columns of the pricing page. */
export interface PriceRow {
  readonly quotaType: 0 | 1;
  readonly modelRatio: number;
  /** US dollars per call. */
  readonly modelPrice: number;
  readonly completionRatio: number;
  /** The highest first; absent if there are none. */
  readonly borders?: PricingRow["borders"];
}

/** Prices by model name and group; immutable, rebuilt when an option changes. */
export interface PriceBook {
  /** Returns the price; undefined if the model has none: then the call is refused with instructions for pricing it. */
  find(model: string): Price | undefined;
  /**
   * Returns the price that a call of the model is charged by: its own, or that of self-use mode. Pages show the same
   * price.
   */
  charged(model: string): Price | undefined;
  /** Like `charged`, for a realtime session, whose seconds may have a price. */
  session(model: string): Price | undefined;
  /** Returns the context and output limits of the models that serve the name, which channels may map. */
  limits(model: string): ModelLimits;
  /** Returns the limits of the name that an upstream gets. */
  upstreamLimits(model: string): ModelLimits;
  /** Returns the properties that model lists show for the model. */
  facts(model: string): ModelFacts;
  /** Surcharges of vendors for tools and tiers. */
  readonly surcharges: Surcharges;
  /** The price of unknown models in self-use mode: ratio 1. */
  readonly selfUsePrice: Price;
  /** Returns decimal text; a group without a ratio counts as 1. */
  groupRatio(group: string): string;
  hasGroup(group: string): boolean;
  row(model: string): PriceRow;
  /** Returns every name that has a price, in ascending order. */
  models(): string[];
}

/** Ratio that the pricing page of compatible gateways shows for a model without a price, whose calls are refused. */
const UNPRICED_RATIO = 37.5;
/** Clients choose the names of models, so the number of cached names is limited. */
const MAX_NAMES = 10_000;

/**
 * Creates the price book. An operator's entry always wins. An entry that equals the default of compatible gateways is
 * not the operator's: if the vendor's current list price is known, that price applies. A name that channels map has the
 * price of its target unless the operator gave it its own price; if channels map it differently, the dearest target
 * counts.
 */
export function createPriceBook(
  options: PriceOptions = {},
  mapped: MappedNames = new Map(),
  listed: ReadonlyMap<string, UpstreamFacts> = new Map(),
): PriceBook {
  const found = new Map<string, Price>();
  const groups = options.GroupRatio ?? GROUP_RATIOS;
  const groupRatios = new Map(Object.entries(groups).map(([name, value]) => [name, String(value)]));
  const plain = resolver(options);
  const bordered = (name: string, price: Price | undefined) =>
    price && withBorders(name, price, options.PromptBorders?.[name]);
  const resolve = mappedResolver((name) => bordered(name, plain(name)), mapped);

  const find = (model: string): Price | undefined => {
    const name = listedName(model);
    const known = found.get(name);
    if (known) return known;
    const price = bordered(name, resolve(name));
    if (price) found.set(name, price);
    return price;
  };

  const own = { outputTokens: options.ModelOutputTokens, contextTokens: options.ModelContextTokens };
  const targets = (name: string) => mapped.get(name)?.map((path) => path.at(-1) ?? name);
  const known = new Map<string, ModelLimits>();
  const limits = (model: string): ModelLimits => {
    const name = listedName(model);
    const limited = known.get(name);
    if (limited) return limited;
    const found = resolveMappedLimits(name, own, targets(name));
    if (known.size < MAX_NAMES) known.set(name, found);
    return found;
  };

  const charged = (model: string) => find(model) ?? (options.SelfUseModeEnabled ? SELF_USE_PRICE : undefined);

  return {
    find,
    charged,
    session: sessionPrices(options, charged),
    limits,
    upstreamLimits: (model) => resolveModelLimits(model, own),
    facts: (model) => {
      const name = listedName(model);
      const modalities = options.ModelModalities;
      const set = modalities && Object.hasOwn(modalities, name) ? modalities[name] : undefined;
      return findModelFacts(find(name)?.pricedAs ?? name, {
        limits: limits(name),
        isSetByOperator: (member) => [name, ...(targets(name) ?? [])].some((one) => isOwnLimit(own, member, one)),
        modalities: set,
        upstream: listed.get(model),
      });
    },
    surcharges: createSurcharges(options.ToolPrice, options.ServiceTierRatio, (name) => find(name)?.pricedAs ?? name),
    selfUsePrice: SELF_USE_PRICE,
    groupRatio: (group) => groupRatios.get(group) ?? "1",
    hasGroup: (group) => groupRatios.has(group),
    row: (model) => buildPriceRow(charged(model), listedName(model)),
    models: () =>
      [...new Set([...pricedNames(options), ...mapped.keys()])].filter((name) => find(name) !== undefined).sort(),
  };
}

function buildPriceRow(price: Price | undefined, name: string): PriceRow {
  if (price === undefined) {
    return {
      quotaType: 0,
      modelRatio: UNPRICED_RATIO,
      modelPrice: 0,
      completionRatio: toNumber(resolveCompletionRatio(name)),
    };
  }
  return price.kind === "call"
    ? { quotaType: 1, modelRatio: 0, modelPrice: price.modelPrice, completionRatio: 0 }
    : {
        quotaType: 0,
        modelRatio: price.modelRatio,
        modelPrice: 0,
        completionRatio: price.completionRatio,
        ...(price.tiers.length > 0 && { borders: price.tiers.map(borderRow) }),
      };
}

function borderRow({ above, modelRatio, completionRatio }: TokenPrice["tiers"][number]) {
  return { above, model_ratio: modelRatio, completion_ratio: completionRatio };
}

function pricedNames({ ModelPrice, ModelRatio }: PriceOptions): Set<string> {
  return new Set([
    ...Object.keys(ModelPrice ?? {}),
    ...Object.keys(ModelRatio ?? {}),
    ...compatiblePrices().keys(),
    ...listPrices().keys(),
  ]);
}

function resolver(options: PriceOptions): Resolver {
  const prices = optionTable(options.ModelPrice, defaultModelPrices);
  const ratios = optionTable(options.ModelRatio, defaultModelRatios);
  const completions = optionTable(options.CompletionRatio, () => COMPLETION_RATIOS);
  const caches = optionTable(options.CacheRatio, () => CACHE_RATIOS);
  const writes = optionTable(options.CreateCacheRatio, () => ({}));
  const images = optionTable(options.ImageRatio, () => ({}));
  const audio = optionTable(options.AudioRatio, () => ({}));
  const audioOutputs = optionTable(options.AudioCompletionRatio, () => ({}));

  const resolveOverrides = (name: string, listed: ListPrice | undefined): Overrides => ({
    completionRatio: pickRatio(completions.get(name), listed),
    cacheRatio: pickRatio(caches.get(name), listed),
    cacheWriteRatio: writes.get(name)?.value,
    imageRatio: images.get(name)?.value,
    audioRatio: audio.get(name)?.value,
    audioCompletionRatio: audioOutputs.get(name)?.value,
  });

  return (name) => {
    const listed = listedEntry(name);
    const price = prices.get(name);
    if (counts(price, listed)) return callPrice(price.value, price.isOwn ? OPERATOR : BUILT_IN);
    const modelRatio = ratios.get(name);
    const cacheRatio = caches.get(name)?.value ?? ONE;
    const by = resolveOverrides(name, listed);
    if (counts(modelRatio, listed)) return byRatio({ name, modelRatio, cacheRatio, by, listed });
    if (listed) return byList({ name, cacheRatio, by, listed });
    return isTaskModel(name) ? callPrice(TASK_PRICE, BUILT_IN) : undefined;
  };
}

interface Entry {
  readonly value: Ratio;
  /** False if the entry equals the default of the same name. */
  readonly isOwn: boolean;
}

function optionTable(table: DecimalTable | undefined, getDefaults: () => Readonly<Record<string, number>>) {
  const defaults = getDefaults();
  const entries = table ?? defaults;
  return {
    get(name: string): Entry | undefined {
      const value = Object.hasOwn(entries, name) ? entries[name] : undefined;
      if (value === undefined) return undefined;
      const isOwn = !Object.hasOwn(defaults, name) || Number(value) !== defaults[name];
      return { value: ratio(value), isOwn };
    },
  };
}

/** Returns true if the entry applies: a list price replaces the defaults of compatible gateways. */
function counts(entry: Entry | undefined, listed: ListPrice | undefined): entry is Entry {
  return entry !== undefined && (entry.isOwn || !listed);
}

function pickRatio(entry: Entry | undefined, listed: ListPrice | undefined): Ratio | undefined {
  return counts(entry, listed) ? entry.value : undefined;
}

interface ListParts {
  readonly name: string;
  readonly cacheRatio: Ratio;
  readonly by: Overrides;
  readonly listed: ListPrice;
}

function byList({ name, cacheRatio, by, listed }: ListParts): Price | undefined {
  const price = priceFromList(name, listed, cacheRatio, by);
  const isChanged = Object.values(by).some((value) => value !== undefined);
  return price && isChanged ? { ...price, ...OPERATOR } : price;
}

interface RatioParts extends Omit<ListParts, "listed"> {
  readonly modelRatio: Entry;
  readonly listed: ListPrice | undefined;
}

/**
 * Returns the price by the operator's ratio, which on a listed model keeps the list's proportions of output, caches and
 * audio.
 */
function byRatio({ name, modelRatio, cacheRatio, by, listed }: RatioParts): Price {
  const current = listed && priceFromList(name, listed, cacheRatio, { ...by, modelRatio: modelRatio.value });
  if (current?.kind === "tokens" && current.modelRatio > 0) return { ...current, ...OPERATOR };
  return tokenPrice({
    name,
    rates: override(compatibleRates(name, modelRatio.value, cacheRatio), by),
    hasImageFactors: true,
    ...(modelRatio.isOwn ? OPERATOR : BUILT_IN),
  });
}

function callPrice(exact: Ratio, origin: Origin): CallPrice {
  return {
    kind: "call",
    modelPrice: toNumber(exact),
    exact,
    unit: "call",
    hasImageFactors: true,
    isFree: isZero(exact),
    isSelfUse: false,
    ...origin,
  };
}

/** Returns prices of realtime sessions: by the second if the operator set such a price, else as for other calls. */
function sessionPrices({ RealtimeSecondPrice }: PriceOptions, charged: Resolver): Resolver {
  const seconds = optionTable(RealtimeSecondPrice, () => ({}));
  return (model) => {
    const perSecond = seconds.get(listedName(model));
    return perSecond ? secondPrice(perSecond.value) : charged(model);
  };
}

function secondPrice(dollars: Ratio): CallPrice {
  const price = callPrice(times(dollars, reduceFraction(1n, 10n)), OPERATOR);
  return { ...price, unit: "tenth", modelPrice: toNumber(dollars), hasImageFactors: false };
}

const SELF_USE_PRICE = tokenPrice({
  name: "",
  rates: compatibleRates("", ONE, ONE),
  hasImageFactors: true,
  isSelfUse: true,
  source: "self-use",
  date: "",
});
