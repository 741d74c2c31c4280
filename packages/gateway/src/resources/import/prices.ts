import { checkOption, parseOptions, type OptionKey, type OptionRow } from "@fairway/wire";
import { isObject, type JsonObject } from "../../lib/text/json.ts";
import { priceOptionDefaults } from "../../snapshot/option-defaults.ts";
import type { OptionWrite } from "../options/store.ts";
import type { ImportReport } from "./report.ts";

/** Price of a token in US dollars. */
export interface TokenCost {
  readonly input: number;
  readonly output: number | undefined;
  /** Price of an input token that the upstream had in its cache. */
  readonly cachedInput?: number | undefined;
}

/** Price of a call in US dollars, whatever its length. */
export interface CallCost {
  readonly call: number;
}

export type ModelCost = TokenCost | CallCost;

/** Returns the costs in the parameters of a model, or in its description. */
export function findTokenCost(...places: readonly unknown[]): TokenCost | undefined {
  const numberAt = (name: string) =>
    places.map((place) => (isObject(place) ? place[name] : undefined)).find((one) => typeof one === "number");
  const input = numberAt("input_cost_per_token");
  if (input === undefined) return undefined;
  return { input, output: numberAt("output_cost_per_token"), cachedInput: numberAt("cache_read_input_token_cost") };
}

/** A ratio of 1 costs 2 dollars per million tokens. */
export const RATIO_DOLLARS = 2e-6;

const TABLES = ["ModelRatio", "CompletionRatio", "CacheRatio", "ModelPrice"] as const satisfies readonly OptionKey[];
type Tables = Record<(typeof TABLES)[number], JsonObject>;

/** Returns the writes of prices for models without a price set by the operator. */
export function priceWrites(
  costs: ReadonlyMap<string, ModelCost>,
  stored: readonly OptionRow[],
  report?: ImportReport,
): OptionWrite[] {
  const own = Object.fromEntries(
    TABLES.map((key) => [key, objectIn(stored.find((row) => row.key === key)?.value)]),
  ) as Record<keyof Tables, JsonObject | undefined>;
  const added: Tables = { ModelRatio: {}, CompletionRatio: {}, CacheRatio: {}, ModelPrice: {} };
  for (const [model, cost] of costs) {
    const isKnown = [own.ModelRatio, own.ModelPrice].some((table) => table !== undefined && model in table);
    report?.count("prices", isKnown ? "unchanged" : "created");
    if (!isKnown) addCost(added, model, cost);
  }
  const defaults = priceOptionDefaults();
  const current = parseOptions(stored, { defaults });
  return TABLES.filter((key) => Object.keys(added[key]).length > 0).flatMap((key) => {
    // A stored table replaces the built-in one, so the writes contain both.
    const table = { ...(own[key] ?? objectIn(defaults[key])), ...added[key] };
    const check = checkOption(key, JSON.stringify(table), current);
    return check.isValid ? [check] : [];
  });
}

function addCost(tables: Tables, model: string, cost: ModelCost): void {
  if ("call" in cost) {
    tables.ModelPrice[model] = rounded(cost.call);
    return;
  }
  const { input, output, cachedInput } = cost;
  tables.ModelRatio[model] = rounded(input / RATIO_DOLLARS);
  if (input <= 0) return;
  if (output !== undefined) tables.CompletionRatio[model] = rounded(output / input);
  if (cachedInput !== undefined) tables.CacheRatio[model] = rounded(cachedInput / input);
}

/** Rounds away the last digits of binary fractions. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}

function objectIn(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
