import { characters } from "./characters.ts";

/** Most tags of one request, and most fixed tags of a token. */
export const MAX_TAGS = 8;
export const MAX_TAG_VALUE = 64;

const KEY_FORM = /^[a-z][a-z0-9_.-]{0,31}$/;
const REFUSED_LETTERS = /[\p{Cc}\p{Zl}\p{Zp}|=]/u;

/** The value that stands for all that a policy does not list, and for those beyond the bounds of the sums. */
export const OTHER_VALUE = "~other";

/** The name under which a mapped header sets the end user. */
export const END_USER_TARGET = "~end_user";

export function isTagKey(key: string): boolean {
  return KEY_FORM.test(key);
}

/** Returns the value in the form in which it is stored; undefined if it cannot be one. */
export function normalizeTagValue(text: string): string | undefined {
  const value = text.normalize("NFC").trim();
  if (value === "" || !value.isWellFormed() || REFUSED_LETTERS.test(value)) return undefined;
  return value.length <= MAX_TAG_VALUE || characters(value) <= MAX_TAG_VALUE ? value : undefined;
}

/** Returns the tags of a log row, `app=shop|env=prod`, by key. */
export function parseTags(text: string): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  if (text === "") return tags;
  for (const one of text.split("|")) {
    const at = one.indexOf("=");
    if (at > 0) tags.set(one.slice(0, at), one.slice(at + 1));
  }
  return tags;
}
