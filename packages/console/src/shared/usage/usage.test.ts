import type { UsagePoint } from "@fairway/wire";
import { expect, test } from "vitest";
import { periodBefore, buildPeriod } from "./period.ts";
import { errorShare, countGood, buildSlots, listWholeSlots, withBefore } from "./points.ts";

const HOUR = 3_600;
const DAY = 86_400;
/** A midnight in UTC, and half past ten of that day. */
const MIDNIGHT = 20_000 * DAY;
const NOW = MIDNIGHT + 10.5 * HOUR;
const NONE = { count: 0, p50: 0, p90: 0, p95: 0, p99: 0 };

function point(start: number, calls: number): UsagePoint {
  const counts = { calls, errors: 1, refused: 1, quota: 5, input_tokens: 1, output_tokens: 1 };
  return { start, ...counts, latency: NONE, first_token: NONE };
}

test("a day ends with the hour that runs", () => {
  expect(buildPeriod("24h", NOW, 0)).toEqual({
    from: MIDNIGHT - 13 * HOUR,
    to: NOW,
    interval: HOUR,
    offset: 0,
  });
});

test("days begin at local midnight", () => {
  expect(buildPeriod("30d", NOW, 2 * HOUR).from).toBe(MIDNIGHT - 29 * DAY - 2 * HOUR);
  expect(buildPeriod("30d", NOW, -11 * HOUR).from).toBe(MIDNIGHT - 30 * DAY + 11 * HOUR);
});

test("the previous period is as long and as unfinished", () => {
  const period = buildPeriod("7d", NOW, 0);
  expect(periodBefore(period)).toEqual({ ...period, from: period.from - 7 * DAY, to: NOW - 7 * DAY });
});

test("a trend ends with the last step that is over", () => {
  const slots = buildSlots(buildPeriod("24h", NOW, 0), [], () => ({}));
  expect(listWholeSlots(slots, NOW)).toEqual(slots.slice(0, -1));
  const whole = MIDNIGHT + 11 * HOUR - 1;
  expect(listWholeSlots(slots, whole)).toEqual(slots);
});

test("points without calls are slots without values", () => {
  const period = buildPeriod("24h", NOW, 0);
  const slots = buildSlots(period, [point(MIDNIGHT, 7)], (one) => ({ calls: one?.calls }));
  expect(slots).toHaveLength(24);
  expect(slots.filter(({ values }) => values["calls"] !== undefined)).toEqual([
    { start: MIDNIGHT, end: MIDNIGHT + HOUR, values: { calls: 7 } },
  ]);
  const before = buildSlots(periodBefore(period), [point(MIDNIGHT - DAY, 3)], (one) => ({ calls: one?.calls }));
  expect(withBefore(slots, before, "calls").find(({ start }) => start === MIDNIGHT)?.values).toEqual({
    calls: 7,
    before: 3,
  });
});

test("good calls are neither refused nor failed", () => {
  expect(countGood(point(0, 7))).toBe(5);
  expect(countGood(point(0, 1))).toBe(0);
  expect(errorShare(point(0, 4))).toBe(0.25);
  expect(errorShare(point(0, 0))).toBe(0);
});
