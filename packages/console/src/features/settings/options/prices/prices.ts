import {
  changePriceTexts,
  formatPlainNumber,
  parsePriceTables,
  pickPriceEntries,
  PRICE_OPTIONS,
  toPriceEntries,
  type DollarPrice,
  type OptionPrice,
  type PriceEntryTables,
  type PriceOption,
  type PriceTexts,
  type ShownPrice,
} from "@fairway/wire";

export const PRICE_CELLS = ["input", "output", "cached", "call"] as const;
export type PriceCell = (typeof PRICE_CELLS)[number];
/** Dollars per million tokens or per call, as typed; "" means the built-in price. */
export type Cells = DollarPrice;

export interface PriceDraft {
  readonly cells: Cells;
  /** The options when the edit began; another user may change them before it is saved. */
  readonly began: string;
}
export type PriceDrafts = Readonly<Record<string, PriceDraft>>;

/** A model ratio of 1 means two dollars per million tokens. */
const DOLLARS_PER_RATIO = 2;
const NO_CELLS: Cells = { input: "", output: "", cached: "", call: "" };

/** The cells of a price, in dollars. */
export function toPriceCells(price: ShownPrice | null | undefined): Cells {
  if (!price) return NO_CELLS;
  if (price.by === "call") return { ...NO_CELLS, call: formatPlainNumber(price.model_price) };
  const input = price.model_ratio * DOLLARS_PER_RATIO;
  return {
    input: formatPlainNumber(input),
    output: formatPlainNumber(input * price.completion_ratio),
    cached: formatPlainNumber(input * price.cache_ratio),
    call: "",
  };
}

const DOLLARS = /^\d{0,9}(?:\.\d{0,12})?$/;

function isDollars(text: string): boolean {
  return DOLLARS.test(text) && Number.isFinite(Number.parseFloat(text));
}

/** Returns the cells that cannot be saved as they are. */
export function findFaults(cells: Cells): ReadonlySet<PriceCell> {
  const faults = new Set(PRICE_CELLS.filter((cell) => cells[cell] !== "" && !isDollars(cells[cell])));
  if (cells.call !== "") return new Set([...faults].filter((cell) => cell === "call"));
  const isFree = !(Number(cells.input) > 0);
  for (const cell of ["output", "cached"] as const) {
    // They are stored as multiples of the input price, so that must not be zero.
    if (isFree && Number(cells[cell]) > 0) faults.add(cell);
  }
  return faults;
}

/** Returns the ratios behind the cells, for reading: of the model, of the output, of cached input. */
export function formatRatios(cells: Cells): string | undefined {
  if (cells.call !== "" || !(Number(cells.input) > 0) || findFaults(cells).size > 0) return undefined;
  const { ModelRatio, CompletionRatio = "–", CacheRatio = "–" } = toPriceEntries(cells);
  return [ModelRatio ?? "–", CompletionRatio, CacheRatio].map(shortened).join(" · ");
}

function shortened(ratio: string): string {
  return ratio === "–" ? ratio : String(Number(Number(ratio).toPrecision(6)));
}

/** Returns a text that identifies the state of a model's entries. */
export function buildPriceState(tables: PriceEntryTables, model: string): string {
  const entries = pickPriceEntries(tables, model);
  return PRICE_OPTIONS.map((option) => entries[option] ?? "").join("|");
}

/** Returns the models whose entries have changed since the edit began. */
export function overtaken(drafts: PriceDrafts, texts: PriceTexts): string[] {
  const tables = parsePriceTables(texts);
  return Object.entries(drafts)
    .filter(([model, { began }]) => buildPriceState(tables, model) !== began)
    .map(([model]) => model);
}

/** Returns the complete options that the drafts change; numbers of other models stay as they were typed. */
export function changedTexts(drafts: PriceDrafts, texts: PriceTexts): Partial<Record<PriceOption, string>> {
  return changePriceTexts(
    Object.entries(drafts).map(([model, { cells }]) => [model, cells] as const),
    texts,
  );
}

/**
 * Returns what restores the built-in price. The list price applies as soon as no entry is left; prices of compatible
 * tables are part of the options themselves and have to be written.
 */
export function builtInCells({ built_in: price }: Pick<OptionPrice, "built_in">): Cells {
  return !price || price.source.startsWith("list price") ? NO_CELLS : toPriceCells(price);
}

const TOLERANCE = 1e-9;

/** Returns whether a saved price is charged as typed: an entry that repeats an old default yields to the list price. */
export function isInForce(cells: Cells, price: ShownPrice | null | undefined): boolean {
  const now = toPriceCells(price);
  const own = cells.call === "" ? PRICE_CELLS : (["call"] as const);
  return own.every((cell) => {
    const typed = cells[cell];
    return typed === "" || Math.abs(Number(typed) - Number(now[cell])) <= TOLERANCE * Math.max(1, Number(typed));
  });
}
