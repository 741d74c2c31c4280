import fc from "fast-check";
import { expect, test } from "vitest";
import { Crowd, type Member } from "./unordered-set.ts";

test("has whoever came and did not leave, like a Set", () => {
  const moves = fc.array(fc.record({ who: fc.nat(9), comes: fc.boolean() }), { maxLength: 60 });
  fc.assert(
    fc.property(moves, (some) => {
      const members: Member[] = Array.from({ length: 10 }, () => ({}));
      const crowd = new Crowd<Member>();
      const set = new Set<Member>();
      for (const { who, comes } of some) {
        const member = members[who] as Member;
        if (comes) {
          crowd.add(member);
          set.add(member);
        } else expect(crowd.delete(member)).toBe(set.delete(member));
        expect(crowd.size).toBe(set.size);
        expect(new Set(crowd.all())).toEqual(set);
      }
    }),
  );
});
