import * as z from "zod/mini";

/** Returns the length of a text in Unicode code points, as people count it, not in UTF-16 units. */
export function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * Returns a schema for a text of at most `maximum` code points; longer ones are refused as too long. Its JSON Schema has
 * the limit as `maxLength`, which counts code points too.
 */
export function textUpTo(maximum: number): z.ZodMiniString {
  return z.string().check({
    _zod: {
      def: { check: "custom" },
      onattach: [(schema) => void Object.assign(schema._zod.bag, { maximum })],
      check({ value, issues }: z.core.ParsePayload<string>) {
        // There are never more code points than units, so short texts need no count.
        if (value.length <= maximum || characters(value) <= maximum) return;
        issues.push({ code: "too_big", origin: "string", maximum, inclusive: true, input: value });
      },
    },
  });
}

/** Returns a schema for a name of at most `maximum` code points that is stored in a comma list. */
export function nameUpTo(maximum: number): z.ZodMiniString {
  return textUpTo(maximum).check(
    z.refine((name) => !name.includes(","), "one name; write names with a comma between as two items"),
  );
}
