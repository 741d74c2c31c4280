import { checkOption, parseOptions, type OptionKey, type OptionRow } from "@fairway/wire";
import { isObject, type JsonObject } from "../../lib/text/json.ts";
import { priceOptionDefaults } from "../../snapshot/option-defaults.ts";
import type { OptionWrite } from "../options/store.ts";
import type { ImportReport } from "./report.ts";

/** US dollars of a token. */
export interface TokenCost {
  readonly input: number;
  readonly output: number | undefined;
}

/** The costs in the parameters of a model, or in its description. */
export function costOf(...places: readonly unknown[]): TokenCost | undefined {
  const numberAt = (name: string) =>
    places.map((place) => (isObject(place) ? place[name] : undefined)).find((one) => typeof one === "number");
  const input = numberAt("input_cost_per_token");
  return input === undefined ? undefined : { input, output: numberAt("output_cost_per_token") };
}

/** A ratio of 1 is 2 dollars a million tokens. */
const RATIO_DOLLARS = 2e-6;

/** Ratios of the models that have none of the operator's here. */
export function priceWrites(
  costs: ReadonlyMap<string, TokenCost>,
  stored: readonly OptionRow[],
  report: ImportReport,
): OptionWrite[] {
  const own = (key: OptionKey) => objectIn(stored.find((row) => row.key === key)?.value);
  const [ratios, completions] = [{ ...own("ModelRatio") }, { ...own("CompletionRatio") }];
  let created = 0;
  for (const [model, { input, output }] of costs) {
    if (model in ratios) {
      report.count("prices", "unchanged");
      continue;
    }
    ratios[model] = rounded(input / RATIO_DOLLARS);
    if (output !== undefined && input > 0) completions[model] = rounded(output / input);
    report.count("prices", "created");
    created += 1;
  }
  if (created === 0) return [];
  const defaults = priceOptionDefaults();
  const current = parseOptions(stored, { defaults });
  // A stored table replaces the built-in one: both are written.
  const texts = {
    ModelRatio: { ...objectIn(own("ModelRatio") ? undefined : defaults.ModelRatio), ...ratios },
    CompletionRatio: { ...objectIn(own("CompletionRatio") ? undefined : defaults.CompletionRatio), ...completions },
  };
  return Object.entries(texts).flatMap(([key, table]) => {
    const check = checkOption(key, JSON.stringify(table), current);
    return check.isValid ? [check] : [];
  });
}

/** Without the last digits of binary fractions. */
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
