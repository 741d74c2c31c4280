import type { OptionKey } from "@fairway/wire";
import type { Draft, OptionTexts } from "./draft.ts";
import { memberChanges } from "./history.ts";

/** One line about what saving does. */
export interface Effect {
  /** The model, group or other member that changes; "" for an option that is one value. */
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
  /** How many times the number before the new number is; undefined if either is missing or negative, or if it was 0. */
  readonly times: number | undefined;
}

/** A ratio of 1 is two dollars per million tokens. */
const DOLLARS_PER_RATIO = 2;

function calculateFactor(before: string | null, after: string | null): number | undefined {
  const [old, now] = [Number(before ?? Number.NaN), Number(after ?? Number.NaN)];
  if (before === "" || after === "" || !(old > 0) || !(now >= 0)) return undefined;
  return Number.isFinite(now / old) ? now / old : undefined;
}

function dollars(ratio: string | null): string | null {
  return ratio === null ? null : `$${Number((Number(ratio) * DOLLARS_PER_RATIO).toPrecision(12))} / 1M`;
}

/** Returns how an option's numbers are displayed: a model ratio as the price of input, a price per call in dollars. */
function shown(key: OptionKey, value: string | null): string | null {
  if (key === "ModelRatio") return dollars(value);
  if (key === "ModelPrice" && value !== null) return `$${value}`;
  return value;
}

/** Returns the effects of saving one option, member by member for tables. */
export function listEffects(key: OptionKey, before: string, after: string): readonly Effect[] {
  const members = memberChanges(before === "" ? "{}" : before, after === "" ? "{}" : after);
  const lines = members ?? [{ name: "", before, after }];
  return lines.map(({ name, before: old, after: now }) => ({
    name,
    before: shown(key, old),
    after: shown(key, now),
    times: calculateFactor(old, now),
  }));
}

const PRICE_OPTIONS: ReadonlySet<string> = new Set([
  "ModelRatio",
  "CompletionRatio",
  "ModelPrice",
  "CacheRatio",
  "CreateCacheRatio",
  "ImageRatio",
  "AudioRatio",
  "AudioCompletionRatio",
]);

/** Returns the models whose price changes when these options are saved. */
export function modelsRepriced(changes: Draft, stored: OptionTexts): string[] {
  const models = Object.entries(changes)
    .filter(([key]) => PRICE_OPTIONS.has(key))
    .flatMap(([key, text]) => memberChanges(stored[key] || "{}", text || "{}") ?? [])
    .map(({ name }) => name);
  return [...new Set(models)].toSorted();
}
