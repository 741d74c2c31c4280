import { Refusal } from "../../lib/refusal.ts";

/** Matches a partly hidden key, as consoles, logs and vendors show it. */
const MASKED = /\*{3}|[•●…]|\.{3}/;
/** Returns true if a header can contain the text; no vendor uses other characters in keys. */
export function isInHeaders(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** Refuses keys that no call could use: a masked key would replace the real one. */
export function checkKeys(lines: readonly string[]): void {
  for (const line of lines) {
    if (MASKED.test(line)) throw refuse("must be the whole key: this one is masked");
    if (!isInHeaders(line)) throw refuse("has a sign that no header can carry");
  }
}

function refuse(reason: string): Refusal {
  return new Refusal("invalid_field", { field: "key", values: { field: "key", reason } });
}
