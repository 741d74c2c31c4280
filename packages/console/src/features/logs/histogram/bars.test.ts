import { expect, test } from "vitest";
import { buildBars, roundTop, calculateSpan, buildTicks, widened } from "./bars.ts";

const histogram = {
  interval: 60,
  from: 90,
  to: 299,
  buckets: [
    { start: 60, count: 5, errors: 1, others: 2 },
    { start: 240, count: 2, errors: 0, others: 0 },
  ],
};

test("stretches without calls have a bar too", () => {
  expect(buildBars(histogram)).toEqual([
    { from: 60, to: 119, count: 3, errors: 1 },
    { from: 120, to: 179, count: 0, errors: 0 },
    { from: 180, to: 239, count: 0, errors: 0 },
    { from: 240, to: 299, count: 2, errors: 0 },
  ]);
  expect(buildBars({ ...histogram, interval: 1, from: 0, to: 1_000_000 })).toHaveLength(240);
});

test("a selection covers both of its ends, in either direction, and stays within the plot", () => {
  const bars = buildBars(histogram);
  expect(calculateSpan(bars, 2, 1)).toEqual({ from: 120, to: 239 });
  expect(calculateSpan(bars, -3, 99)).toEqual({ from: 60, to: 299 });
  expect(calculateSpan([], 0, 0)).toBeUndefined();
});

test("zooming out triples the span and ends now", () => {
  expect(widened({ from: 1_000, to: 1_099 }, 5_000)).toEqual({ from: 900, to: 1_199 });
  expect(widened({ from: 1_000, to: 1_099 }, 1_120)).toEqual({ from: 900, to: 1_120 });
});

test("the axis ends at a round number", () => {
  expect([0, 1, 3, 5, 7, 11, 47, 100, 101, 999].map(roundTop)).toEqual([1, 1, 3, 5, 8, 15, 50, 100, 150, 1_000]);
});

test("the axis has marks at round local times, whatever the span begins with", () => {
  const hour = 3_600;
  const ahead = 5.5 * hour;
  const day = { from: 900, to: 20 * hour - 1 };
  expect(buildTicks(day, 0).map(({ at }) => at / hour)).toEqual([6, 12, 18]);
  // Midnight and 06:00 in Kolkata.
  expect(buildTicks(day, ahead).map(({ at, isDay }) => [(at + ahead) / hour, isDay])).toEqual([
    [6, false],
    [12, false],
    [18, false],
    [24, true],
  ]);
  const month = buildTicks({ from: 0, to: 30 * 24 * hour - 1 }, 0);
  expect(month.map(({ at, isDay }) => [at / hour / 24, isDay])).toEqual([0, 5, 10, 15, 20, 25].map((at) => [at, true]));
  expect(month[3]?.place).toBe(0.5);
});

test("a minute has marks of fifteen seconds, a year marks at days", () => {
  expect(buildTicks({ from: 7, to: 66 }, 0).map(({ at }) => at)).toEqual([15, 30, 45, 60]);
  const year = buildTicks({ from: 0, to: 365 * 86_400 - 1 }, 0);
  expect(year.length).toBeLessThanOrEqual(7);
  expect(year.every(({ isDay }) => isDay)).toBe(true);
});
