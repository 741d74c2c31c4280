import { expect, test } from "vitest";
import { Lru } from "./lru.ts";

test("forgets what was not asked for longest", () => {
  const lru = new Lru<string, number>(2);
  lru.set("a", 1);
  lru.set("b", 2);
  expect(lru.get("a")).toBe(1);
  lru.set("c", 3);
  expect([...lru.entries()]).toEqual([
    ["a", 1],
    ["c", 3],
  ]);
  expect(lru.get("b")).toBeUndefined();
});

test("a changed value counts as asked for", () => {
  const lru = new Lru<string, number>(2);
  lru.set("a", 1);
  lru.set("b", 2);
  lru.set("a", 4);
  lru.set("c", 3);
  expect([...lru.entries()]).toEqual([
    ["a", 4],
    ["c", 3],
  ]);
  lru.delete("a");
  expect(lru.size).toBe(1);
  lru.clear();
  expect(lru.size).toBe(0);
});
