import { expect, test } from "vitest";
import { mergeText, observe, calculatePercentiles, formatHistogram, type Histogram } from "./histogram.ts";

test("percentiles are within two percent of the exact ones", () => {
  const histogram: Histogram = new Map();
  for (let ms = 1; ms <= 10_000; ms++) observe(histogram, ms);
  const { count, p50, p90, p95, p99 } = calculatePercentiles(histogram);
  expect(count).toBe(10_000);
  for (const [found, exact] of [
    [p50, 5_000],
    [p90, 9_000],
    [p95, 9_500],
    [p99, 9_900],
  ] as const)
    expect(Math.abs(found - exact) / exact).toBeLessThanOrEqual(0.021);
});

test("merged parts answer exactly what the whole answers", () => {
  const [whole, one, two, merged] = [new Map(), new Map(), new Map(), new Map()] as [
    Histogram,
    Histogram,
    Histogram,
    Histogram,
  ];
  for (let index = 0; index < 5_000; index++) {
    const ms = (index * 7_919) % 60_013;
    observe(whole, ms);
    observe(index % 3 === 0 ? one : two, ms);
  }
  mergeText(merged, formatHistogram(one));
  mergeText(merged, formatHistogram(two));
  expect(formatHistogram(merged)).toBe(formatHistogram(whole));
  expect(calculatePercentiles(merged)).toEqual(calculatePercentiles(whole));
});

test("nothing measured is 0, and what is too long or no number stays in a bucket", () => {
  const histogram: Histogram = new Map();
  expect(calculatePercentiles(histogram)).toEqual({ count: 0, p50: 0, p90: 0, p95: 0, p99: 0 });
  for (const ms of [Number.NaN, -1, 0]) observe(histogram, ms);
  expect(calculatePercentiles(histogram)).toMatchObject({ count: 3, p99: 1 });
  observe(histogram, Number.MAX_SAFE_INTEGER, 1_000);
  expect(calculatePercentiles(histogram).p99).toBeGreaterThan(50_000_000);
});
