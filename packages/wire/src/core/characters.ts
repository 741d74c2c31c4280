import * as z from "zod/mini";

/** Returns the length of a text in Unicode code points, as people count it, not in UTF-16 units. */
export function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Returns a schema for a text of at most `maximum` code points; longer ones are refused as too long. */
export function textUpTo(maximum: number): z.ZodMiniString {
  return z.string().check((payload) => {
    // There are never more code points than units, so short texts need no count.
    if (payload.value.length <= maximum || characters(payload.value) <= maximum) return;
    payload.issues.push({ code: "too_big", origin: "string", maximum, inclusive: true, input: payload.value });
  });
}
