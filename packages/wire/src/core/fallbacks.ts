import { findByModel } from "./by-model.ts";

/** Why a request may leave its model for the next one of its list. */
export const FALLBACK_CAUSES = ["error", "context", "content", "budget", "limit"] as const;
export type FallbackCause = (typeof FALLBACK_CAUSES)[number];

/** A model that may serve in place of another one, and the causes that lead to it. */
export interface FallbackEntry {
  readonly model: string;
  readonly on: readonly FallbackCause[];
  /** Seconds for which a conversation that fell back to the model stays with it; absent = for one call. */
  readonly sticky_seconds?: number;
}

/** Most seconds for which a conversation stays with a model of a list. */
export const MAX_STICKY_SECONDS = 7 * 86_400;

/** Most models of one list. */
export const MAX_FALLBACKS = 5;
const MAX_NAME = 200;
const DEFAULT_CAUSES: readonly FallbackCause[] = ["error"];

const isCause = (value: unknown): value is FallbackCause => (FALLBACK_CAUSES as readonly unknown[]).includes(value);

/** A list that was read, or the sentence that says what is wrong with it. */
export type FallbackReading<T> = { readonly value: T } | { readonly fault: string };

/**
 * Reads a list of names or of objects `{"model","on","sticky_seconds"}`; a name stands for `on: ["error"]`. `owner` is the model whose
 * list it is, or a pattern.
 */
export function readFallbackList(value: unknown, owner = ""): FallbackReading<readonly FallbackEntry[]> {
  if (!Array.isArray(value)) return { fault: "must be a list of models" };
  if (value.length > MAX_FALLBACKS) return { fault: `has more than ${MAX_FALLBACKS} models` };
  const entries: FallbackEntry[] = [];
  for (const item of value as unknown[]) {
    const entry = readEntry(item);
    if ("fault" in entry) return entry;
    const { model } = entry.value;
    if (model === owner) return { fault: `names ${model} itself` };
    if (entries.some((other) => other.model === model)) return { fault: `names ${model} twice` };
    entries.push(entry.value);
  }
  return { value: entries };
}

function readEntry(item: unknown): FallbackReading<FallbackEntry> {
  if (typeof item === "string") return readEntry({ model: item });
  if (typeof item !== "object" || item === null || Array.isArray(item))
    return { fault: 'has an item that is neither a name nor an object such as {"model":"b","on":["error"]}' };
  const { model, on = DEFAULT_CAUSES, sticky_seconds: sticky = 0, ...rest } = item as Record<string, unknown>;
  const unknown = Object.keys(rest)[0];
  if (unknown !== undefined)
    return { fault: `has the unknown member ${unknown}; members are model, on and sticky_seconds` };
  if (!isOneModel(model)) return { fault: "has an item without the name of one model" };
  if (!isStickyTime(sticky))
    return { fault: `has a time for ${model} that is no whole number from 0 to ${MAX_STICKY_SECONDS} seconds` };
  const causes = readCauses(on);
  if (!causes) return { fault: `has causes for ${model} other than ${FALLBACK_CAUSES.join(", ")}` };
  return { value: { model, on: causes, ...(sticky > 0 && { sticky_seconds: sticky }) } };
}

/** Returns the causes in their order; undefined if they are none. */
function readCauses(on: unknown): readonly FallbackCause[] | undefined {
  if (!Array.isArray(on) || on.length === 0 || !on.every(isCause)) return undefined;
  return FALLBACK_CAUSES.filter((cause) => on.includes(cause));
}

function isStickyTime(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_STICKY_SECONDS;
}

function isOneModel(name: unknown): name is string {
  return typeof name === "string" && name.trim() !== "" && name.length <= MAX_NAME && !name.endsWith("*");
}

/** Lists by model name, prefix with a trailing `*`, or `*`. */
export type FallbackTable = Readonly<Record<string, readonly FallbackEntry[]>>;

export function readFallbackTable(value: unknown): FallbackReading<FallbackTable> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { fault: 'must be an object such as {"model-a":["model-b"]}' };
  const table = Object.create(null) as Record<string, readonly FallbackEntry[]>;
  for (const [name, list] of Object.entries(value)) {
    if (name.slice(0, -1).includes("*") || name.trim() === "")
      return { fault: `has the name "${name}"; * may stand only at its end` };
    const read = readFallbackList(list, name);
    if ("fault" in read) return { fault: `${name} ${read.fault}` };
    table[name] = read.value;
  }
  return { value: table };
}

/** Returns the list of a model: the exact name goes before the longest prefix, and that before `*`. */
export function findFallbacks(table: FallbackTable, model: string): readonly FallbackEntry[] | undefined {
  return findByModel(table, model);
}

/** A token's own list, `off` for none, or `inherit` for the operator's. */
export type TokenFallbacks = readonly FallbackEntry[] | "off" | "inherit";

/** Reads `inherit`, `off` or the JSON text of a list; "" means `inherit`. */
export function readTokenFallbacks(text: string): FallbackReading<TokenFallbacks> {
  const word = text.trim();
  if (word === "" || word === "inherit") return { value: "inherit" };
  if (word === "off") return { value: word };
  let list: unknown;
  try {
    list = JSON.parse(word);
  } catch {
    return { fault: "must be inherit, off or a JSON list of models" };
  }
  const read = readFallbackList(list);
  return "value" in read && read.value.length === 0 ? { value: "off" } : read;
}

/** Returns the text for `readTokenFallbacks`; causes that are the default are left out. */
export function formatTokenFallbacks(fallbacks: TokenFallbacks): string {
  if (typeof fallbacks === "string") return fallbacks;
  if (fallbacks.length === 0) return "off";
  const isDefault = ({ on, sticky_seconds: sticky }: FallbackEntry) =>
    on.length === 1 && on[0] === "error" && sticky === undefined;
  return JSON.stringify(fallbacks.map((entry) => (isDefault(entry) ? entry.model : entry)));
}
