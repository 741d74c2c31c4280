import { TAG, type PlainField } from "./fields.ts";
import type { Texts } from "./texts.ts";

const FIELD_TEXTS = {
  model: "fieldModel",
  token: "fieldToken",
  group: "fieldGroup",
  end_user: "fieldEndUser",
  user: "fieldUser",
  team: "fieldTeam",
  actor: "fieldActor",
  channel: "fieldChannel",
} as const satisfies Record<PlainField, string>;

/** Returns the text of a field; a tag is named by its key. */
export function formatField(name: string, t: Texts): string {
  const text = Object.entries(FIELD_TEXTS).find(([field]) => field === name)?.[1];
  if (text !== undefined) return t(text);
  return name.startsWith(TAG) ? name.slice(TAG.length) : name;
}

/** Who holds keys, by the marks of rows: `u17` for a person, `s3` for a service account. */
export type Holders = ReadonlyMap<string, string>;

/** The words for rows without a value of their own, and the names of holders of keys. */
export function readWords(t: Texts, holders: Holders) {
  return { other: t("other"), none: t("none"), rest: t("chartRest"), holders };
}
