import { expect, test } from "vitest";
import { createHorizon } from "./horizon.ts";

test("ids are settled once they were visible for the whole time", () => {
  let now = 0;
  const horizon = createHorizon(75, () => now);
  const at = (time: number, newest: number) => {
    now = time;
    return horizon.settled(newest);
  };
  expect(at(0, 10)).toBeUndefined();
  expect(at(50, 20)).toBeUndefined();
  expect(at(74, 30)).toBeUndefined();
  expect(at(75, 40)).toBe(10);
  expect(at(124, 50)).toBe(10);
  expect(at(125, 50)).toBe(20);
  expect(at(1_000, 60)).toBe(50);
  expect(at(1_001, 70)).toBe(50);
});

test("without a wait everything visible is settled", () => {
  expect(createHorizon(0, () => 0).settled(7)).toBe(7);
});
