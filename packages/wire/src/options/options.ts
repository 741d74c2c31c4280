import type { MessageKey } from "../core/message-codes.ts";
import type { MessageValues } from "../core/reasons.ts";
import type { Reading } from "./option-kinds.ts";
import type { OptionDefinition } from "./option-definition.ts";
import { OPTIONS } from "./option-table.ts";

export { readLimits, type OptionKind, type Ratios, type Reading } from "./option-kinds.ts";
export type { OptionDefinition, OptionGroup } from "./option-definition.ts";
export { OPTIONS } from "./option-table.ts";

export type OptionKey = keyof typeof OPTIONS;

/** Every option with its checked value: booleans, numbers, lists, and maps without a prototype. */
export type OptionValues = {
  readonly [K in OptionKey]: (typeof OPTIONS)[K] extends OptionDefinition<infer T> ? T : never;
};

export interface OptionRow {
  readonly key: string;
  readonly value: string;
}

/** Texts that replace the fallback of the table, such as the gateway's price tables. */
export type OptionDefaults = Partial<Readonly<Record<OptionKey, string>>>;

export const OPTION_KEYS = Object.keys(OPTIONS) as readonly OptionKey[];

const PRICE_TABLE_EMPTY = "{}";
/** The address used while `ServerAddress` is empty. */
const LOCAL_ADDRESS = "http://localhost:3000";

/** Switches in the forms of compatible consoles that have no meaning here; a change is accepted and has no effect. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(["StopOnSensitiveEnabled", "StreamCacheQueueLength"]);

export function isWithoutEffect(key: string): boolean {
  return WITHOUT_EFFECT.has(key);
}

export function isOptionKey(key: string): key is OptionKey {
  return Object.hasOwn(OPTIONS, key);
}

/** Returns true for options whose value is never sent, judged only by the name, in any letter case. */
export function isHiddenOption(key: string): boolean {
  return /(token|secret|key)$/i.test(key);
}

/** Returns true for options that are stored sealed: the hidden ones except for the public site key. */
export function isSecretOption(key: OptionKey): boolean {
  return isHiddenOption(key) && OPTIONS[key].shownAs === undefined;
}

/** Returns the text used if nothing is stored. */
export function optionDefault(key: OptionKey, defaults: OptionDefaults = {}): string {
  const text = defaults[key] ?? OPTIONS[key].fallback;
  return text === "" && OPTIONS[key].type.kind === "ratios" ? PRICE_TABLE_EMPTY : text;
}

/** Returns the values of all options; a stored text that fails its check is reported, and the default is used. */
export function parseOptions(
  rows: readonly OptionRow[],
  settings: {
    readonly defaults?: OptionDefaults;
    readonly warn?: (key: string, reading: Reading<unknown>) => void;
  } = {},
): OptionValues {
  const values = Object.create(null) as Record<string, unknown>;
  for (const key of OPTION_KEYS) values[key] = requireValue(readOption(key, optionDefault(key, settings.defaults)));
  for (const { key, value } of rows) {
    if (!isOptionKey(key)) continue;
    const reading = readOption(key, value);
    if (reading.isValid) values[key] = reading.value;
    else settings.warn?.(key, reading);
  }
  return Object.freeze(values) as OptionValues;
}

export type OptionCheck =
  | { readonly isValid: true; readonly key: OptionKey; readonly text: string; readonly value: unknown }
  | { readonly isValid: false; readonly messageKey: MessageKey; readonly values: MessageValues };

/** Checks one change against the current values; returns the text to store or the refusal. */
export function checkOption(key: string, text: string, current: OptionValues): OptionCheck {
  if (!isOptionKey(key)) return { isValid: false, messageKey: "option_unknown", values: { key } };
  const reading = readOption(key, text);
  if (!reading.isValid) {
    return {
      isValid: false,
      messageKey: reading.messageKey,
      values: { key, rule: reading.rule ?? "", name: reading.name ?? "" },
    };
  }
  const { needs, needsMessage } = OPTIONS[key];
  const isSwitchedOn = reading.value !== false && reading.value !== "";
  if (needsMessage && isSwitchedOn && needs.some((other) => isBlank(current, other))) {
    return { isValid: false, messageKey: needsMessage, values: { key } };
  }
  return { isValid: true, key, text: reading.text, value: reading.value };
}

/** Returns the server's public address; if the option is empty, `fallback` or the address of a local start. */
export function serverAddress(options: Pick<OptionValues, "ServerAddress">, fallback: string = LOCAL_ADDRESS): string {
  return options.ServerAddress === "" ? fallback.replace(/\/+$/, "") : options.ServerAddress;
}

function readOption(key: OptionKey, text: string): Reading<unknown> {
  return OPTIONS[key].type.read(text);
}

function requireValue(reading: Reading<unknown>): unknown {
  if (!reading.isValid) throw new Error("a default does not pass its own check");
  return reading.value;
}

function isBlank(values: OptionValues, key: string): boolean {
  const value: unknown = values[key as OptionKey];
  return value === "" || (Array.isArray(value) && value.length === 0);
}
