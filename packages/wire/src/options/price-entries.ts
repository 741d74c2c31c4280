import { OPTIONS } from "./option-table.ts";

/** The options that have the prices of models. */
export const PRICE_OPTIONS = ["ModelPrice", "ModelRatio", "CompletionRatio", "CacheRatio"] as const;
export type PriceOption = (typeof PRICE_OPTIONS)[number];
export type PriceTexts = Readonly<Record<PriceOption, string>>;

/** The option entries of one model, as decimal texts. */
export type PriceEntries = Readonly<Partial<Record<PriceOption, string>>>;
export type PriceEntryTables = Readonly<Record<PriceOption, Readonly<Record<string, string>>>>;

/** Dollars per million tokens, or per call, as decimal texts; "" means none. */
export interface DollarPrice {
  readonly input: string;
  readonly output: string;
  readonly cached: string;
  readonly call: string;
}

/** A model ratio of 1 means two dollars per million tokens. */
const DOLLARS_PER_RATIO = 2;
/** More digits than a charge can distinguish, but fewer than those of floating-point noise. */
const DIGITS = 12;

/** Returns a number as a decimal text, without the noise of floating points. */
export function formatPlainNumber(value: number): string {
  return String(Number(value.toPrecision(DIGITS)));
}

/** Returns the entries of a price; `known` are those that the model has. */
export function toPriceEntries({ input, output, cached, call }: DollarPrice, known: PriceEntries = {}): PriceEntries {
  // A price per call takes precedence over ratios, which may remain in case it is removed.
  if (call !== "") return { ...known, ModelPrice: formatPlainNumber(Number(call)) };
  if (input === "") return {};
  const dollars = Number(input);
  const multiple = (text: string) =>
    text === "" || dollars === 0 ? undefined : formatPlainNumber(Number(text) / dollars);
  const [completion, cache] = [multiple(output), multiple(cached)];
  return {
    ModelRatio: formatPlainNumber(dollars / DOLLARS_PER_RATIO),
    ...(completion === undefined ? {} : { CompletionRatio: completion }),
    ...(cache === undefined ? {} : { CacheRatio: cache }),
  };
}

function parseTable(option: PriceOption, text: string): Readonly<Record<string, string>> {
  const reading = OPTIONS[option].type.read(text);
  return reading.isValid ? reading.value : {};
}

export function parsePriceTables(texts: PriceTexts): PriceEntryTables {
  const { ModelPrice, ModelRatio, CompletionRatio, CacheRatio } = texts;
  return {
    ModelPrice: parseTable("ModelPrice", ModelPrice),
    ModelRatio: parseTable("ModelRatio", ModelRatio),
    CompletionRatio: parseTable("CompletionRatio", CompletionRatio),
    CacheRatio: parseTable("CacheRatio", CacheRatio),
  };
}

/** Returns the entries that a model has. */
export function pickPriceEntries(tables: PriceEntryTables, model: string): PriceEntries {
  const found = PRICE_OPTIONS.flatMap((option) => {
    const value = Object.hasOwn(tables[option], model) ? tables[option][model] : undefined;
    return value === undefined ? [] : [[option, value] as const];
  });
  return Object.fromEntries(found);
}

function formatTable(table: Iterable<readonly [string, string]>): string {
  return `{${[...table].map(([model, value]) => `${JSON.stringify(model)}:${value}`).join(",")}}`;
}

/** Returns the complete options that new prices change; numbers of other models stay as they were typed. */
export function changePriceTexts(
  prices: readonly (readonly [model: string, price: DollarPrice])[],
  texts: PriceTexts,
): Partial<Record<PriceOption, string>> {
  const tables = parsePriceTables(texts);
  const wanted = prices.map(
    ([model, price]) => [model, toPriceEntries(price, pickPriceEntries(tables, model))] as const,
  );
  const changed = PRICE_OPTIONS.flatMap((option) => {
    const next = new Map(Object.entries(tables[option]));
    for (const [model, entries] of wanted) {
      const value = entries[option];
      if (value === undefined) next.delete(model);
      else next.set(model, value);
    }
    const text = formatTable(next);
    return text === formatTable(Object.entries(tables[option])) ? [] : [[option, text] as const];
  });
  return Object.fromEntries(changed);
}
