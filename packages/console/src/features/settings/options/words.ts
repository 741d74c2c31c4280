import { OPTION_KEYS, OPTIONS, type OptionKey } from "@fairway/wire";
import { defineTexts } from "../../../lib/i18n.ts";
import { labels } from "./words/en.ts";

const abouts = Object.fromEntries(OPTION_KEYS.map((key) => [key, OPTIONS[key].about])) as Record<OptionKey, string>;

/** Labels of the options, translated. */
const { useTexts: useOptionLabels, say: label } = defineTexts(
  labels,
  async () => (await import("./words/zh.ts")).labels,
);

/** Descriptions of the options. */
const { useTexts: useOptionAbouts, say: about } = defineTexts(
  abouts,
  async () => (await import("./words/abouts.zh.ts")).abouts,
);

type Say = (key: OptionKey) => string;

export const sayLabel = label as Say;
export const sayAbout = about as Say;

/** How options are named and described in one language. */
export interface OptionWords {
  readonly label: Say;
  readonly about: Say;
}

/** Placeholders such as {key} belong to the option's text and are not filled in. */
export function useOptionWords(): OptionWords {
  return { label: useOptionLabels() as Say, about: useOptionAbouts() as Say };
}
