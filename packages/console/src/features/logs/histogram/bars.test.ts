import { expect, test } from "vitest";
import { barsOf, roundTop, spanOf, widened } from "./bars.ts";

const histogram = {
  interval: 60,
  from: 90,
  to: 299,
  buckets: [
    { start: 60, count: 3, errors: 1 },
    { start: 240, count: 2, errors: 0 },
  ],
};

test("stretches without calls have a bar too", () => {
  expect(barsOf(histogram)).toEqual([
    { from: 60, to: 119, count: 3, errors: 1 },
    { from: 120, to: 179, count: 0, errors: 0 },
    { from: 180, to: 239, count: 0, errors: 0 },
    { from: 240, to: 299, count: 2, errors: 0 },
  ]);
  expect(barsOf({ ...histogram, interval: 1, from: 0, to: 1_000_000 })).toHaveLength(240);
});

test("a selection covers both of its ends, in either direction, and stays within the plot", () => {
  const bars = barsOf(histogram);
  expect(spanOf(bars, 2, 1)).toEqual({ from: 120, to: 239 });
  expect(spanOf(bars, -3, 99)).toEqual({ from: 60, to: 299 });
  expect(spanOf([], 0, 0)).toBeUndefined();
});

test("zooming out triples the span and ends now", () => {
  expect(widened({ from: 1_000, to: 1_099 }, 5_000)).toEqual({ from: 900, to: 1_199 });
  expect(widened({ from: 1_000, to: 1_099 }, 1_120)).toEqual({ from: 900, to: 1_120 });
});

test("the axis ends at a round number", () => {
  expect([0, 1, 3, 5, 7, 11, 47, 100, 101, 999].map(roundTop)).toEqual([1, 1, 3, 5, 8, 15, 50, 100, 150, 1_000]);
});
