import { existsSync, readFileSync } from "node:fs";

/** Text columns are decimal; token prices are US dollars per million tokens, all others US dollars each. */
export interface ListPrice {
  readonly provider: string;
  readonly mode: string;
  readonly input?: string;
  readonly output?: string;
  readonly cacheRead?: string;
  readonly cacheWrite?: string;
  readonly cacheWrite1h?: string;
  readonly inputAudio?: string;
  readonly outputAudio?: string;
  readonly inputImageToken?: string;
  readonly outputImageToken?: string;
  readonly reasoning?: string;
  readonly perImage?: string;
  readonly perInputImage?: string;
  readonly perSecondIn?: string;
  readonly perSecondOut?: string;
  readonly perCharacter?: string;
  readonly perQuery?: string;
  readonly inputPriority?: string;
  readonly outputPriority?: string;
  readonly inputBatch?: string;
  readonly outputBatch?: string;
  readonly cacheReadBatch?: string;
  /** Maximum tokens of prompt and answer together, or of the prompt alone if the vendor defines it so. */
  readonly contextTokens?: number;
  readonly maxOutputTokens?: number;
  readonly supports?: readonly string[];
  /** ISO date on which the vendor retires the model. */
  readonly deprecated?: string;
  /** Prices of long prompts: `inputAbove200k`, `outputAbove272k`, ... */
  readonly [aboveThreshold: `${string}Above${number}k`]: string | undefined;
}

export interface CompatiblePrice {
  readonly model_ratio: number | null;
  readonly completion_ratio: number | null;
  readonly model_price: number | null;
}

export const BUILT_IN = { source: "built-in defaults", date: "2025-04-11" } as const;
export const LIST_DATE = "2026-11";

/** The echo model, which answers before a provider is connected; it has a price so that its log rows show a charge. */
const DEMO_MODEL = "fairway-demo";
const DEMO_PRICE: ListPrice = { provider: "fairway", mode: "chat", input: "1", output: "2" };

let list: ReadonlyMap<string, ListPrice> | undefined;
let builtIn: ReadonlyMap<string, CompatiblePrice> | undefined;

/** Returns list prices by model; reads them once, on first use. */
export function listPrices(): ReadonlyMap<string, ListPrice> {
  if (list) return list;
  const { models } = read("prices-current.json") as { models: Record<string, ListPrice> };
  list = new Map(Object.entries(models)).set(DEMO_MODEL, DEMO_PRICE);
  return list;
}

/** Returns default ratios and prices of compatible gateways by model; reads them once, on first use. */
export function compatiblePrices(): ReadonlyMap<string, CompatiblePrice> {
  builtIn ??= new Map(Object.entries(read("model-prices.json") as Record<string, CompatiblePrice>));
  return builtIn;
}

/** The data folder of the package, relative to the sources and to the bundle. */
const FOLDERS = ["../../../data/", "../data/"];

function read(name: string): unknown {
  for (const folder of FOLDERS) {
    const file = new URL(`${folder}${name}`, import.meta.url);
    if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8"));
  }
  throw new Error(`the price data ${name} is missing from the installation`);
}
