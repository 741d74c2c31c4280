import { expect, test } from "vitest";
import { daysLeft } from "./runway.ts";

test("a balance lasts as many days as the spending of the time shown would take", () => {
  expect(daysLeft(70, 14, 7 * 86_400)).toBe(35);
  expect(daysLeft(-5, 14, 7 * 86_400)).toBe(0);
  expect(daysLeft(70, 0, 7 * 86_400)).toBeUndefined();
});
