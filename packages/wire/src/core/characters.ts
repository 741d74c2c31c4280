import * as z from "zod/mini";

/** Length of a text as people count it: Unicode code points, not UTF-16 units. */
export function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** A text of at most `maximum` code points; longer ones are refused as too long. */
export function textUpTo(maximum: number): z.ZodMiniString {
  return z.string().check((payload) => {
    // Two units make at most one code point less, so short texts need no count.
    if (payload.value.length <= maximum || characters(payload.value) <= maximum) return;
    payload.issues.push({ code: "too_big", origin: "string", maximum, inclusive: true, input: payload.value });
  });
}
