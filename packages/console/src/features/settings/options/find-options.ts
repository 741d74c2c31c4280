import type { OptionKey } from "@fairway/wire";
import { textsReady } from "../../../lib/i18n.ts";
import { sectionsFound } from "./sections.ts";
import { sayAbout, sayLabel } from "./words.ts";

const MOST = 8;

export interface FoundOption {
  readonly key: OptionKey;
  readonly label: string;
  readonly to: string;
}

/** Returns the options that contain these words in name, label or description, with the address of their section. */
export async function findOptions(text: string): Promise<readonly FoundOption[]> {
  await textsReady();
  const found = sectionsFound(text, { label: sayLabel, about: sayAbout }).flatMap(({ id, tab, keys }) =>
    keys.map((key) => ({ key, label: sayLabel(key), to: `/setting?tab=${tab}&section=${id}#option-${key}` })),
  );
  const wanted = text.toLowerCase();
  const rank = ({ key, label }: FoundOption) =>
    label.toLowerCase().includes(wanted) || key.toLowerCase().includes(wanted) ? 0 : 1;
  return found.toSorted((a, b) => rank(a) - rank(b)).slice(0, MOST);
}
