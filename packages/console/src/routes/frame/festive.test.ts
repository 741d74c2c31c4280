import { expect, test } from "vitest";
import { isFestive } from "./festive.ts";

test.each([
  [2025, 1, 1],
  [2025, 2, 9],
  [2025, 2, 24],
  // The lunar year begins on 29 January 2025 and on 17 February 2026.
  [2025, 1, 28],
  [2025, 2, 12],
  [2026, 3, 3],
])("a lantern hangs on %i-%i-%i (C-076)", (year, month, day) => {
  expect(isFestive(new Date(year, month - 1, day, 12))).toBe(true);
});

test.each([
  [2025, 1, 2],
  [2025, 1, 27],
  [2025, 2, 25],
  [2026, 3, 4],
  [2026, 12, 31],
])("no lantern on %i-%i-%i (C-076)", (year, month, day) => {
  expect(isFestive(new Date(year, month - 1, day, 12))).toBe(false);
});
