import { decimalText } from "../core/decimals.ts";
import type { OptionType, Reading } from "./option-kinds.ts";
import { isObject, parseJson } from "./read-json.ts";

/** What a request of a batch costs, as multiples of the model's own rates; plain decimal text. */
type BatchRatio = Readonly<Partial<Record<"input" | "output", string>>>;

type BatchRatios = Readonly<Record<string, BatchRatio>>;

const RULE = 'ratios not below 0 by model such as {"gpt-5.6":0.5,"claude-*":{"input":0.5,"output":0.5}}';
const MEMBERS: readonly string[] = ["input", "output"];

/** JSON object of a ratio, or one for each direction, by model; a name that ends in `*` means every name it begins. */
export const batchRatiosType: OptionType<BatchRatios> = {
  kind: "json",
  read: (text) => {
    const parsed = parseJson(text);
    if (!isObject(parsed)) return { isValid: false, messageKey: "option_json_invalid" };
    const ratios = Object.create(null) as Record<string, BatchRatio>;
    for (const [model, value] of Object.entries(parsed)) {
      const ratio = readRatio(value);
      if (!ratio) return broken();
      ratios[model] = ratio;
    }
    return { isValid: true, value: ratios, text };
  },
};

function broken(): Reading<never> {
  return { isValid: false, messageKey: "option_value_invalid", rule: RULE };
}

function readRatio(value: unknown): BatchRatio | undefined {
  if (!isObject(value)) {
    const both = readNumber(value);
    return both === undefined ? undefined : { input: both, output: both };
  }
  const sides = Object.entries(value).map(([side, ratio]) => [side, readNumber(ratio)] as const);
  const isRatio = sides.length > 0 && sides.every(([side, ratio]) => MEMBERS.includes(side) && ratio !== undefined);
  return isRatio ? (Object.fromEntries(sides) as BatchRatio) : undefined;
}

function readNumber(value: unknown): string | undefined {
  return typeof value === "number" && value >= 0 ? decimalText(String(value)) : undefined;
}
