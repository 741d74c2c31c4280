import { createHash } from "node:crypto";

/**
 * The texts whose keyed hash is `tokens.key_hash`. Who stores, finds or checks a key of a token takes them from here, so
 * that no part knows fewer forms than another.
 */

/** Stands for the unknown part of a key: of some imported keys only the SHA-256 and the last letters are known. */
const UNKNOWN = "...";

/** The text that is hashed for an imported key. Its prefix `sk-` may be missing. */
export function importedKey(text: string): string {
  const whole = text.startsWith("sk-") ? text : `sk-${text}`;
  return importedDigest(createHash("sha256").update(whole).digest("hex"));
}

/** The same from the SHA-256 of the whole key (hex, lower case), as the other gateway stores it. */
export function importedDigest(sha256: string): string {
  return `sha256:${sha256}`;
}

/** The end of a key in the form in which it is stored when the rest is unknown: `...abcd`. */
export function keyEnd(text: string): string {
  return text.includes(UNKNOWN) ? text : `${UNKNOWN}${text.slice(-4)}`;
}

/** Every text whose hash may stand next to the stored key; none where the key itself is not known. */
export function hashedForms(text: string): readonly string[] {
  return text.includes(UNKNOWN) ? [] : [text, importedKey(text)];
}
