import fc from "fast-check";
import { expect, test } from "vitest";
import { addText, noCounts, encodeCounts, type FacetCounts } from "./facet-counts.ts";

const namesArbitrary = fc.array(
  fc.tuple(
    fc.oneof(
      fc.string({ unit: "binary", minLength: 1 }),
      fc.string({ unit: fc.constantFrom('"', "\\", "{", "}", ",", ":", "1", "\n", "é"), minLength: 1 }),
      fc.constantFrom("__proto__", "constructor", "7"),
    ),
    fc.integer({ min: 1, max: 2 ** 40 }),
  ),
  { maxLength: 8 },
);

test("a text returns the counts of every facet that it holds", () => {
  const facets = fc.record({
    models: namesArbitrary,
    tokens: namesArbitrary,
    groups: namesArbitrary,
    channels: namesArbitrary,
    codes: namesArbitrary,
    statuses: namesArbitrary,
    users: namesArbitrary,
  });
  fc.assert(
    fc.property(facets, (drawn) => {
      const counts: FacetCounts = {
        ...noCounts(),
        models: new Map(drawn.models),
        tokens: new Map(drawn.tokens),
        groups: new Map(drawn.groups),
        channels: new Map(drawn.channels),
        codes: new Map(drawn.codes),
        statuses: new Map(drawn.statuses),
        users: new Map(drawn.users),
      };
      const read = noCounts();
      addText(read, encodeCounts(counts, 100));
      expect(read).toEqual(counts);
      addText(read, encodeCounts(counts, 100));
      for (const [value, count] of counts.tokens) expect(read.tokens.get(value)).toBe(2 * count);
    }),
  );
});
