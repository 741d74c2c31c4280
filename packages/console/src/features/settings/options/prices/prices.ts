import { OPTIONS, type OptionPrice, type ShownPrice } from "@fairway/wire";

/** The options that the table writes. */
const PRICE_OPTIONS = ["ModelPrice", "ModelRatio", "CompletionRatio", "CacheRatio"] as const;
export type PriceOption = (typeof PRICE_OPTIONS)[number];
export type PriceTexts = Readonly<Record<PriceOption, string>>;

/** The option entries of one model, as decimal texts. */
type Entries = Readonly<Partial<Record<PriceOption, string>>>;

export const PRICE_CELLS = ["input", "output", "cached", "call"] as const;
export type PriceCell = (typeof PRICE_CELLS)[number];
/** Dollars per million tokens or per call, as typed; "" means the built-in price. */
export type Cells = Readonly<Record<PriceCell, string>>;

export interface PriceDraft {
  readonly cells: Cells;
  /** The options when the edit began; another user may change them before it is saved. */
  readonly began: string;
}
export type PriceDrafts = Readonly<Record<string, PriceDraft>>;

/** A model ratio of 1 means two dollars per million tokens. */
const DOLLARS_PER_RATIO = 2;
/** More digits than a charge can distinguish, but fewer than those of floating-point noise. */
const DIGITS = 12;

const NO_CELLS: Cells = { input: "", output: "", cached: "", call: "" };

function plain(value: number): string {
  return String(Number(value.toPrecision(DIGITS)));
}

/** The cells of a price, in dollars. */
export function toPriceCells(price: ShownPrice | null | undefined): Cells {
  if (!price) return NO_CELLS;
  if (price.by === "call") return { ...NO_CELLS, call: plain(price.model_price) };
  const input = price.model_ratio * DOLLARS_PER_RATIO;
  return {
    input: plain(input),
    output: plain(input * price.completion_ratio),
    cached: plain(input * price.cache_ratio),
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
  const { ModelRatio, CompletionRatio = "–", CacheRatio = "–" } = entriesFor(cells, {});
  return [ModelRatio ?? "–", CompletionRatio, CacheRatio].map(shortened).join(" · ");
}

function shortened(ratio: string): string {
  return ratio === "–" ? ratio : String(Number(Number(ratio).toPrecision(6)));
}

function entriesFor(cells: Cells, known: Entries): Entries {
  // A price per call takes precedence over ratios, which may remain in case it is removed.
  if (cells.call !== "") return { ...known, ModelPrice: plain(Number(cells.call)) };
  if (cells.input === "") return {};
  const input = Number(cells.input);
  const multiple = (text: string) => (text === "" || input === 0 ? {} : { times: plain(Number(text) / input) });
  const { times: completion } = multiple(cells.output);
  const { times: cache } = multiple(cells.cached);
  return {
    ModelRatio: plain(input / DOLLARS_PER_RATIO),
    ...(completion === undefined ? {} : { CompletionRatio: completion }),
    ...(cache === undefined ? {} : { CacheRatio: cache }),
  };
}

type Tables = Readonly<Record<PriceOption, Readonly<Record<string, string>>>>;

function parseTable(option: PriceOption, text: string): Readonly<Record<string, string>> {
  const reading = OPTIONS[option].type.read(text);
  return reading.isValid ? reading.value : {};
}

export function parseTables(texts: PriceTexts): Tables {
  const { ModelPrice, ModelRatio, CompletionRatio, CacheRatio } = texts;
  return {
    ModelPrice: parseTable("ModelPrice", ModelPrice),
    ModelRatio: parseTable("ModelRatio", ModelRatio),
    CompletionRatio: parseTable("CompletionRatio", CompletionRatio),
    CacheRatio: parseTable("CacheRatio", CacheRatio),
  };
}

function pickEntries(tables: Tables, model: string): Entries {
  const found = PRICE_OPTIONS.flatMap((option) => {
    const value = Object.hasOwn(tables[option], model) ? tables[option][model] : undefined;
    return value === undefined ? [] : [[option, value] as const];
  });
  return Object.fromEntries(found);
}

/** Returns a text that identifies the state of a model's entries. */
export function buildPriceState(tables: Tables, model: string): string {
  const entries = pickEntries(tables, model);
  return PRICE_OPTIONS.map((option) => entries[option] ?? "").join("|");
}

/** Returns the models whose entries have changed since the edit began. */
export function overtaken(drafts: PriceDrafts, texts: PriceTexts): string[] {
  const tables = parseTables(texts);
  return Object.entries(drafts)
    .filter(([model, { began }]) => buildPriceState(tables, model) !== began)
    .map(([model]) => model);
}

function formatTable(table: Iterable<readonly [string, string]>): string {
  return `{${[...table].map(([model, value]) => `${JSON.stringify(model)}:${value}`).join(",")}}`;
}

/** Returns the complete options that the drafts change; numbers of other models stay as they were typed. */
export function changedTexts(drafts: PriceDrafts, texts: PriceTexts): Partial<Record<PriceOption, string>> {
  const tables = parseTables(texts);
  const wanted = Object.entries(drafts).map(
    ([model, { cells }]) => [model, entriesFor(cells, pickEntries(tables, model))] as const,
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
