import { Refusal } from "../../lib/refusal.ts";

/** How consoles, logs and vendors show a key that they hide a part of. */
const MASKED = /\*{3}|[•●…]|\.{3}/;
/** What a header can carry; no vendor makes keys of anything else. */
export function isInHeaders(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** Refuses keys that no call could use: a masked one would take the place of the real one. */
export function checkKeys(lines: readonly string[]): void {
  for (const line of lines) {
    if (MASKED.test(line)) throw refuse("must be the whole key: this one is masked");
    if (!isInHeaders(line)) throw refuse("has a sign that no header can carry");
  }
}

function refuse(reason: string): Refusal {
  return new Refusal("invalid_field", { field: "key", values: { field: "key", reason } });
}
