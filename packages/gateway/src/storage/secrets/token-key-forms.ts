import { createHash } from "node:crypto";

/**
 * The texts whose keyed hash is `tokens.key_hash`. All code that stores, finds or checks the key of a token uses these
 * functions, so that no part knows fewer forms than another.
 */

/** Stands for the unknown part of a key: for some imported keys only the SHA-256 and the last letters are known. */
const UNKNOWN = "...";

/** Returns the text to hash for an imported key, whose prefix `sk-` may be missing. */
export function importedKey(text: string): string {
  const whole = text.startsWith("sk-") ? text : `sk-${text}`;
  return importedDigest(createHash("sha256").update(whole).digest("hex"));
}

/** Returns the same from the SHA-256 of the whole key (hex, lower case), as the other gateway stores it. */
export function importedDigest(sha256: string): string {
  return `sha256:${sha256}`;
}

/** Returns the last letters of a key in the form that is stored if the rest is unknown: `...abcd`. */
export function keyEnd(text: string): string {
  return text.includes(UNKNOWN) ? text : `${UNKNOWN}${text.slice(-4)}`;
}

/** Returns every text whose hash may belong to the stored key; none if the key itself is unknown. */
export function hashedForms(text: string): readonly string[] {
  return text.includes(UNKNOWN) ? [] : [text, importedKey(text)];
}
