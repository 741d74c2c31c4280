import { reduceFraction, ONE, over, ratio, type Ratio } from "../money/ratio.ts";

/**
 * Default ratios of compatible gateways for models that have a ratio but no entry for output, caches and audio. The
 * price data contains current models with their list prices; these rules are for the older names.
 */

export const COMPLETION_RATIOS: Readonly<Record<string, number>> = {
  "gpt-4-gizmo-*": 2,
  "gpt-4o-gizmo-*": 3,
  "gpt-4-all": 2,
  "gpt-4-1106-preview": 3,
  "gpt-4-0125-preview": 3,
  "gpt-4-vision-preview": 3,
  "gpt-4-1106-vision-preview": 3,
};

type Rule = readonly [matches: (name: string) => boolean, ratio: Ratio];

const starts = (prefix: string) => (name: string) => name.startsWith(prefix);
const is =
  (...names: string[]) =>
  (name: string) =>
    names.includes(name);
const isSpecial = (name: string) => name.endsWith("-all") || name.endsWith("-gizmo-*");
const both = (prefix: string, suffix: string) => (name: string) => name.startsWith(prefix) && name.endsWith(suffix);
const FOUR_THIRDS = reduceFraction(4n, 3n);

/** The first rule that matches applies. */
const COMPLETION_RULES: readonly Rule[] = [
  [is("gpt-4o-2024-05-13"), ratio(3)],
  [(name) => name.startsWith("gpt-4o") && !isSpecial(name), ratio(4)],
  [starts("gpt-4.5-preview"), ratio(2)],
  [starts("gpt-4-turbo"), ratio(3)],
  [(name) => name.startsWith("gpt-4") && !isSpecial(name), ratio(2)],
  [(name) => name.startsWith("o1") || name.startsWith("o3"), ratio(4)],
  [is("chatgpt-4o-latest"), ratio(3)],
  [(name) => name.includes("claude-instant-1") || name.includes("claude-2"), ratio(3)],
  [(name) => name.includes("claude-3"), ratio(5)],
  [(name) => name === "gpt-3.5-turbo" || both("gpt-3.5", "0125")(name), ratio(3)],
  [both("gpt-3.5", "1106"), ratio(2)],
  [starts("gpt-3.5"), FOUR_THIRDS],
  [starts("mistral-"), ratio(3)],
  [(name) => name.startsWith("gemini-1.5") || name.startsWith("gemini-2.0"), ratio(4)],
  [starts("gemini-2.5-pro-preview"), ratio(8)],
  [starts("gemini-"), ratio(4)],
  [is("command-r"), ratio(3)],
  [is("command-r-plus"), ratio(5)],
  [starts("command"), ratio(4)],
  [(name) => is("deepseek-chat", "deepseek-reasoner")(name.toLowerCase()), ratio(4)],
  [(name) => /^ERNIE-(Speed-|Lite-|Character|Functions)/.test(name), ratio(2)],
  [is("llama2-70b-4096"), ratio("1.25")],
  [is("llama3-8b-8192"), ratio(2)],
  [is("llama3-70b-8192"), over(ratio("0.79"), ratio("0.59"))],
];

/**
 * Returns the ratio of output to input that compatible gateways use for a model without an entry; 1 if no rule matches.
 */
export function resolveCompletionRatio(name: string): Ratio {
  return COMPLETION_RULES.find(([matches]) => matches(name))?.[1] ?? ONE;
}

/** Returns the ratio of audio input to text input. */
export function resolveAudioRatio(name: string): Ratio {
  if (name.includes("-realtime")) {
    if (name.endsWith("gpt-4o-realtime-preview-2024-12-17")) return ratio(8);
    return name.includes("mini") ? over(ratio(10), ratio("0.6")) : ratio(20);
  }
  if (name.includes("-audio")) {
    if (name.endsWith("gpt-4o-audio-preview-2024-12-17")) return ratio(16);
    return name.includes("mini") ? over(ratio(10), ratio("0.15")) : ratio(40);
  }
  return ratio(20);
}

/** Ratio of audio output to audio input. */
export const AUDIO_COMPLETION_RATIO = ratio(2);

/** Returns true if the name of the model determines ratios for its audio. */
export function hasAudioRule(name: string): boolean {
  return name.includes("-realtime") || name.includes("-audio");
}

const HALF = [
  "gpt-4",
  "o1",
  "o1-2024-12-17",
  "o1-preview",
  "o1-preview-2024-09-12",
  "o1-mini",
  "o1-mini-2024-09-12",
  "o3-mini",
  "o3-mini-2025-01-31",
  "gpt-4o",
  "gpt-4o-2024-08-06",
  "gpt-4o-2024-11-20",
  "gpt-4o-mini",
  "gpt-4o-mini-2024-07-18",
  "gpt-4o-realtime-preview",
  "gpt-4o-mini-realtime-preview",
  "gpt-4.5-preview",
  "gpt-4.5-preview-2025-02-27",
];
const QUARTER = ["deepseek-chat", "deepseek-reasoner", "deepseek-coder"];
const TENTH = [
  "claude-3-haiku-20240307",
  "claude-3-sonnet-20240229",
  "claude-3-opus-20240229",
  "claude-3-5-haiku-20241022",
  "claude-3-5-sonnet-20240620",
  "claude-3-5-sonnet-20241022",
  "claude-3-7-sonnet-20250219",
  "claude-3-7-sonnet-20250219-thinking",
];

/** Ratios of cache reads to input; 1 for every other model. */
export const CACHE_RATIOS: Readonly<Record<string, number>> = Object.fromEntries([
  ...HALF.map((name) => [name, 0.5] as const),
  ...QUARTER.map((name) => [name, 0.25] as const),
  ...TENTH.map((name) => [name, 0.1] as const),
]);

/** Ratio of a cache write for five minutes to input; a write for an hour costs 1.6 times as much. */
export const CACHE_WRITE_RATIO = ratio("1.25");
export const ONE_HOUR_FACTOR = ratio("1.6");

/** Price of drawing and music tasks without a price of their own, in US dollars. */
export const TASK_PRICE = ratio("0.1");

/** Returns true for names by which drawings and songs are priced. */
export function isTaskModel(name: string): boolean {
  return name.startsWith("mj_") || name.startsWith("suno_");
}

export const GROUP_RATIOS: Readonly<Record<string, number>> = { default: 1, vip: 1, svip: 1 };
