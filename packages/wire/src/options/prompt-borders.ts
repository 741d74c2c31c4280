import { decimalText } from "../core/decimals.ts";
import type { OptionType, Reading } from "./option-kinds.ts";
import { isObject, parseObject } from "./read-json.ts";

/** Rates for prompts above a border, as multiples of the model's own rates; decimal texts. */
export interface PromptBorder {
  /** Border in tokens. A longer prompt is charged by these rates as a whole. */
  readonly above: number;
  readonly input: string;
  /** Absent = the same multiple as for the input. */
  readonly output?: string;
  readonly cached?: string;
}

/** Borders by model; an empty list means no borders. */
export type PromptBorders = Readonly<Record<string, readonly PromptBorder[]>>;

const MAX_BORDERS = 10;
const MAX_TOKENS = 1_000_000_000;
const MAX_MULTIPLE = 1_000_000;
const MULTIPLES = ["input", "output", "cached"] as const;
const MEMBERS: ReadonlySet<string> = new Set(["above", ...MULTIPLES]);
const EXAMPLE = 'borders such as {"my-model":[{"above":200000,"input":2,"output":1.5}]}';

export const promptBordersType: OptionType<PromptBorders> = {
  kind: "json",
  read: (text): Reading<PromptBorders> => {
    const parsed = parseObject(text);
    if (!parsed) return { isValid: false, messageKey: "option_json_invalid" };
    const borders = Object.create(null) as Record<string, readonly PromptBorder[]>;
    for (const [model, value] of Object.entries(parsed)) {
      const fault = findBordersFault(value);
      if (fault !== undefined)
        return { isValid: false, messageKey: "option_value_invalid", rule: `${EXAMPLE}; for ${model} ${fault}` };
      borders[model] = (value as RawBorder[]).map(toPromptBorder);
    }
    return { isValid: true, value: borders, text };
  },
};

type RawBorder = Readonly<Record<string, number>>;

function findBordersFault(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length > MAX_BORDERS)
    return `there is not a list of at most ${MAX_BORDERS} borders`;
  const seen = new Set<unknown>();
  for (const border of value as unknown[]) {
    if (!isObject(border)) return "a border is no object";
    const unknown = Object.keys(border).find((name) => !MEMBERS.has(name));
    if (unknown !== undefined) return `${unknown} is unknown`;
    const { above } = border;
    if (!isLength(above)) return `above is not from 1 to ${MAX_TOKENS}`;
    if (seen.has(above)) return `${above} is there twice`;
    seen.add(above);
    if (border["input"] === undefined) return "input is missing";
    const wrong = MULTIPLES.find((name) => border[name] !== undefined && !isMultiple(border[name]));
    if (wrong !== undefined) return `${wrong} is not from 0 to ${MAX_MULTIPLE}`;
  }
  return undefined;
}

function isLength(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 1 && value <= MAX_TOKENS;
}

function isMultiple(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= MAX_MULTIPLE;
}

function toPromptBorder(raw: RawBorder): PromptBorder {
  const { above = 0, input, output, cached } = raw;
  return {
    above,
    input: plain(input),
    ...(output !== undefined && { output: plain(output) }),
    ...(cached !== undefined && { cached: plain(cached) }),
  };
}

function plain(value: number | undefined): string {
  return decimalText(String(value ?? 0)) ?? "0";
}
