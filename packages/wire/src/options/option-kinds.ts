import { characters } from "../core/characters.ts";
import { decimalText } from "../core/decimals.ts";
import type { Limits } from "../core/limits.ts";
import type { MessageKey } from "../core/message-codes.ts";
import { byteLength, isObject, KIB, MAX_BYTES, parseJson } from "./read-json.ts";

/** A text that passed its check, or the message that refuses it (with `rule` and `name` for its placeholders). */
export type Reading<T> =
  | { readonly isValid: true; readonly value: T; readonly text: string }
  | { readonly isValid: false; readonly messageKey: MessageKey; readonly rule?: string; readonly name?: string };

/** How a settings form edits the option. */
export type OptionKind =
  | "flag"
  | "integer"
  | "number"
  | "text"
  | "long-text"
  | "url"
  | "choice"
  | "comma-list"
  | "lines"
  | "ratios"
  | "labels"
  | "json";

export interface OptionType<T> {
  readonly kind: OptionKind;
  /** The accepted texts, if they can be listed. */
  readonly choices?: readonly string[];
  readonly read: (text: string) => Reading<T>;
}

/** Decimal texts, exactly as they were entered, by names of models or groups; no prototype. */
export type Ratios = Readonly<Record<string, string>>;

function valid<T>(value: T, text: string): Reading<T> {
  return { isValid: true, value, text };
}

function broken(rule: string): Reading<never> {
  return { isValid: false, messageKey: "option_value_invalid", rule };
}

export const flagType: OptionType<boolean> = {
  kind: "flag",
  read: (text) => (text === "true" || text === "false" ? valid(text === "true", text) : broken("true or false")),
};

/** Creates a type for a whole number from `min` to `max`; without `max`, the rule contains only the lower bound. */
export function integerType(min: number, max?: number): OptionType<number> {
  const rule = max === undefined ? `an integer not below ${min}` : `an integer from ${min} to ${max}`;
  const read = (text: string): Reading<number> => {
    const value = /^[+-]?\d{1,16}$/.test(text.trim()) ? Number(text) : Number.NaN;
    const isInside = Number.isSafeInteger(value) && value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER);
    return isInside ? valid(value, String(value)) : broken(rule);
  };
  return { kind: "integer", read };
}

export function numberType(bound: "not below 0" | "above 0"): OptionType<number> {
  const read = (text: string): Reading<number> => {
    const plain = decimalText(text.trim());
    const value = plain === undefined ? Number.NaN : Number(plain);
    const isInside = Number.isFinite(value) && (bound === "above 0" ? value > 0 : value >= 0);
    return isInside && plain !== undefined ? valid(value, plain) : broken(`a number ${bound}`);
  };
  return { kind: "number", read };
}

/** Creates a type for any text up to 512 KiB. */
export function textType(kind: "text" | "long-text" = "text"): OptionType<string> {
  return { kind, read: (text) => (byteLength(text) > MAX_BYTES ? broken("at most 512 KiB long") : valid(text, text)) };
}

/** Creates a type for a trimmed text of 1 to `max` characters. */
export function nameType(max: number): OptionType<string> {
  const read = (text: string): Reading<string> => {
    const trimmed = text.trim();
    const length = characters(trimmed);
    return length >= 1 && length <= max ? valid(trimmed, trimmed) : broken(`1 to ${max} characters long`);
  };
  return { kind: "text", read };
}

/** An http(s) address or "", without trailing slashes. */
export const urlType: OptionType<string> = {
  kind: "url",
  read: (text) => {
    const trimmed = text.trim().replace(/\/+$/, "");
    return trimmed === "" || isHttp(trimmed) ? valid(trimmed, trimmed) : broken("an http(s) address or empty");
  },
};

/** A link or link template whose scheme cannot run code. */
export const linkType: OptionType<string> = {
  kind: "text",
  read: (text) => {
    const trimmed = text.trim();
    return isScript(trimmed) ? broken("a link without a script scheme") : valid(trimmed, trimmed);
  },
};

export function choiceType<const T extends string>(choices: readonly T[], rule: string): OptionType<T> {
  const read = (text: string): Reading<T> => {
    const choice = choices.find((one) => one === text);
    return choice === undefined ? broken(rule) : valid(choice, choice);
  };
  return { kind: "choice", choices, read };
}

/** Comma-separated list, trimmed, lower-cased, without blanks and duplicates. */
export const commaListType: OptionType<readonly string[]> = {
  kind: "comma-list",
  read: (text) => {
    const items = withoutRepeats(text.toLowerCase().split(","));
    return valid(items, items.join(","));
  },
};

/** One item per line, trimmed, without blank lines. */
export const linesType = createLinesType(512);

/** Like `linesType`, but large enough for a hundred thousand words. */
export const wordsType = createLinesType(4096);

function createLinesType(kib: number): OptionType<readonly string[]> {
  const rule = `at most ${kib < 1024 ? `${kib} KiB` : `${kib / 1024} MiB`} long`;
  const read = (text: string): Reading<readonly string[]> => {
    if (byteLength(text) > kib * KIB) return broken(rule);
    const lines = withoutRepeats(text.split("\n"));
    return valid(lines, lines.join("\n"));
  };
  return { kind: "lines", read };
}

/** The largest ratio: no larger one can be charged or stored as a JSON number. */
const RATIO_MAX = Number.MAX_SAFE_INTEGER;

/** Creates a type for a JSON object of numbers of at least 0; `messageKey` refuses everything else. */
export function ratiosType(
  messageKey: "option_json_invalid" | "topup_ratio_json_invalid" = "option_json_invalid",
): OptionType<Ratios> {
  const read = (text: string): Reading<Ratios> => {
    if (byteLength(text) > MAX_BYTES) return broken("at most 512 KiB long");
    const parsed = parseNumbers(text);
    if (!isObject(parsed) || parsed instanceof NumberText) return { isValid: false, messageKey };
    const ratios = Object.create(null) as Record<string, string>;
    for (const [name, value] of Object.entries(parsed)) {
      const plain = value instanceof NumberText ? decimalText(value.source) : undefined;
      if (plain === undefined || plain.startsWith("-")) return { isValid: false, messageKey: "price_invalid", name };
      if (Number(plain) > RATIO_MAX) return broken(`a number not above ${RATIO_MAX} for ${name}`);
      ratios[name] = plain;
    }
    return valid<Ratios>(ratios, text);
  };
  return { kind: "ratios", read };
}

/** JSON object of texts. */
export const labelsType: OptionType<Readonly<Record<string, string>>> = {
  kind: "labels",
  read: (text) => {
    const parsed = parseJson(text);
    if (!isObject(parsed)) return { isValid: false, messageKey: "option_json_invalid" };
    const labels = Object.create(null) as Record<string, string>;
    for (const [name, value] of Object.entries(parsed)) {
      if (typeof value !== "string") return { isValid: false, messageKey: "option_json_invalid" };
      labels[name] = value;
    }
    return valid(labels, text);
  },
};

const MODALITY = "(?:text|image|audio|video|file|embeddings)";
const MODALITIES = new RegExp(`^${MODALITY}(?:\\+${MODALITY})*->${MODALITY}(?:\\+${MODALITY})*$`);

/** JSON object of input and output kinds by model. */
export const modalitiesType: OptionType<Readonly<Record<string, string>>> = {
  kind: "labels",
  read: (text) => {
    const labels = labelsType.read(text);
    if (!labels.isValid) return labels;
    const wrong = Object.entries(labels.value).find(([, value]) => !MODALITIES.test(value));
    return wrong
      ? broken(
          `modalities such as text+image->text, of text, image, audio, video, file and embeddings, for ${wrong[0]}`,
        )
      : labels;
  },
};

const LIMIT_NAMES: ReadonlySet<string> = new Set(["rpm", "tpm", "concurrency"]);

/** Returns limits from settings; undefined if a member is not a whole number above 0 or has an unknown name. */
export function readLimits(value: unknown): Limits | undefined {
  if (!isObject(value)) return undefined;
  const isGood = Object.entries(value).every(
    ([name, limit]) => LIMIT_NAMES.has(name) && Number.isSafeInteger(limit) && (limit as number) > 0,
  );
  return isGood ? (value as Limits) : undefined;
}

/** Limits of each one of many subjects; none by default. */
export const ownLimitsType: OptionType<Limits> = {
  kind: "json",
  read: (text) => {
    const limits = readLimits(parseJson(text));
    return limits ? valid(limits, text) : broken('limits such as {"rpm":60,"tpm":100000,"concurrency":5}');
  },
};

/** JSON object of limits by name; `*` applies to all other names. */
export const limitsType: OptionType<Readonly<Record<string, Limits>>> = {
  kind: "json",
  read: (text) => {
    const parsed = parseJson(text);
    if (!isObject(parsed)) return { isValid: false, messageKey: "option_json_invalid" };
    const limits = Object.create(null) as Record<string, Limits>;
    for (const [name, value] of Object.entries(parsed)) {
      const read = readLimits(value);
      if (!read) return broken(`limits such as {"rpm":60,"tpm":100000,"concurrency":5} for ${name}`);
      limits[name] = read;
    }
    return valid(limits, text);
  },
};

/** JSON array of texts. */
export const namesType: OptionType<readonly string[]> = {
  kind: "json",
  read: (text) => {
    const parsed = parseJson(text);
    if (!Array.isArray(parsed) || !parsed.every((item) => typeof item === "string"))
      return { isValid: false, messageKey: "option_json_invalid" };
    return valid(parsed, text);
  },
};

/** JSON array of objects with one member each: a label with its link template. */
export const chatsType: OptionType<readonly Readonly<Record<string, string>>[]> = {
  kind: "json",
  read: (text) => {
    const parsed = parseJson(text);
    if (!Array.isArray(parsed)) return { isValid: false, messageKey: "option_json_invalid" };
    for (const item of parsed) {
      const links = isObject(item) ? Object.values(item) : [];
      if (links.length !== 1 || typeof links[0] !== "string")
        return { isValid: false, messageKey: "option_json_invalid" };
      if (isScript(links[0])) return broken("a link without a script scheme");
    }
    return valid(parsed as Record<string, string>[], text);
  },
};

class NumberText {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** Parses JSON whose numbers retain their original text. */
function parseNumbers(text: string): unknown {
  const keep = (_name: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === "number" ? new NumberText(context?.source ?? String(value)) : value;
  try {
    return JSON.parse(text, keep);
  } catch {
    return undefined;
  }
}

function isHttp(text: string): boolean {
  return /^https?:\/\/[^\s]+$/i.test(text) && URL.canParse(text);
}

/**
 * Returns true for links that run code. Browsers skip white space and control characters before and inside a scheme.
 */
function isScript(link: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /^(javascript|data|vbscript):/i.test(link.replace(/[\u0000-\u0020\u007f-\u00a0]/g, ""));
}

function withoutRepeats(parts: readonly string[]): string[] {
  return [...new Set(parts.map((part) => part.trim()).filter((part) => part !== ""))];
}
