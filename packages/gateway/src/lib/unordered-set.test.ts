import fc from "fast-check";
import { expect, test } from "vitest";
import { UnorderedSet, type Member } from "./unordered-set.ts";

test("contains the added entries that were not removed, like a Set", () => {
  const moves = fc.array(fc.record({ who: fc.nat(9), comes: fc.boolean() }), { maxLength: 60 });
  fc.assert(
    fc.property(moves, (some) => {
      const members: Member[] = Array.from({ length: 10 }, () => ({}));
      const unorderedSet = new UnorderedSet<Member>();
      const set = new Set<Member>();
      for (const { who, comes } of some) {
        const member = members[who] as Member;
        if (comes) {
          unorderedSet.add(member);
          set.add(member);
        } else expect(unorderedSet.delete(member)).toBe(set.delete(member));
        expect(unorderedSet.size).toBe(set.size);
        expect(new Set(unorderedSet.all())).toEqual(set);
      }
    }),
  );
});
