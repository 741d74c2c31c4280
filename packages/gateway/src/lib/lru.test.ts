import fc from "fast-check";
import { expect, test } from "vitest";
import { Lru } from "./lru.ts";

test("forgets what was not asked for lately", () => {
  const lru = new Lru<string, number>(4);
  for (const [at, name] of ["a", "b", "c"].entries()) lru.set(name, at);
  expect(lru.get("a")).toBe(0);
  for (const [at, name] of ["d", "e"].entries()) lru.set(name, at);
  expect(lru.get("b")).toBeUndefined();
  expect(lru.get("a")).toBe(0);
});

test("keeps the half of its capacity that was asked for last, with its newest values, and never more than all", () => {
  const asked = fc.array(fc.record({ key: fc.nat(8), value: fc.option(fc.nat(), { nil: undefined }) }), {
    maxLength: 80,
  });
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 8 }), asked, (capacity, some) => {
      const lru = new Lru<number, number>(capacity);
      const values = new Map<number, number>();
      let order: number[] = [];
      for (const { key, value } of some) {
        const isKnown = lru.get(key) !== undefined;
        if (value !== undefined) {
          lru.set(key, value);
          values.set(key, value);
        }
        if (value !== undefined || isKnown) order = [...order.filter((other) => other !== key), key];
        expect(lru.size).toBeLessThanOrEqual(capacity);
        for (const [name, known] of lru.entries()) expect(known).toBe(values.get(name));
        const names = new Set([...lru.entries()].map(([name]) => name));
        for (const name of order.slice(-Math.floor(capacity / 2))) expect(names).toContain(name);
      }
    }),
  );
});

test("removes an entry from both generations", () => {
  const lru = new Lru<string, number>(2);
  lru.set("a", 1);
  lru.set("b", 2);
  lru.delete("a");
  expect([...lru.entries()]).toEqual([["b", 2]]);
  lru.clear();
  expect(lru.size).toBe(0);
});
