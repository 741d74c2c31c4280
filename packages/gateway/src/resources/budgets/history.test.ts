import type { Budget } from "@fairway/wire";
import { expect, test } from "vitest";
import { countedPoints, calculateForecast } from "./history.ts";

const DAY = 86_400;
const budget: Budget = {
  id: 1,
  scope: "model",
  subject: "gpt-4o",
  subject_name: "gpt-4o",
  period: "month",
  time_zone: "UTC",
  quota_limit: 3_000,
  soft_percent: 80,
  length: 0,
  anchor: "",
  ends_at: 0,
  filter_model: "",
  managed_by: "admin",
  thresholds: [80, 100],
  forecast: false,
  is_hard: true,
  used: 1_000,
  held: 0,
  window_start: 0,
  window_end: 30 * DAY,
};

test("an even pace continues", () => {
  const points = Array.from({ length: 240 }, (_, hour) => ({ start: hour * 3_600, quota: hour % 24 === 0 ? 100 : 0 }));
  expect(calculateForecast(budget, points, 10 * DAY)).toEqual({ per_day: 100, used_at_end: 3_000, reached_at: 0 });
});

test("a busier last day brings the end nearer", () => {
  const { per_day, used_at_end, reached_at } = calculateForecast(budget, [{ start: 9.5 * DAY, quota: 500 }], 10 * DAY);
  expect([per_day, used_at_end]).toEqual([300, 7_000]);
  expect(reached_at).toBe(Math.ceil(10 * DAY + (2_000 / 300) * DAY));
});

test("a budget that is used up was reached, and one without spending is not", () => {
  expect(calculateForecast({ ...budget, used: 3_000 }, [], 10 * DAY).reached_at).toBe(10 * DAY);
  expect(calculateForecast({ ...budget, used: 0 }, [], 10 * DAY)).toEqual({
    per_day: 0,
    used_at_end: 0,
    reached_at: 0,
  });
});

test("a window of hours has the pace of its minutes, and waits while it is idle", () => {
  const hours: Budget = {
    ...budget,
    period: "hours",
    length: 5,
    window_start: 10 * DAY,
    window_end: 10 * DAY + 18_000,
  };
  const { per_day, reached_at } = calculateForecast({ ...hours, used: 200 }, [], 10 * DAY + 600);
  expect(per_day).toBe(28_800);
  expect(reached_at).toBe(10 * DAY + 600 + (2_800 / 200) * 600);
  const idle = { ...hours, window_start: 0, window_end: 0, used: 0 };
  expect(calculateForecast(idle, [], 11 * DAY)).toEqual({ per_day: 0, used_at_end: 0, reached_at: 0 });
});

test("a window without end has the pace of its last seven days", () => {
  const total: Budget = { ...budget, period: "total", window_end: 0 };
  const points = [
    { start: 5 * DAY, quota: 600 },
    { start: 25 * DAY, quota: 70 },
  ];
  const { per_day, reached_at, used_at_end } = calculateForecast(total, points, 30 * DAY);
  expect([per_day, used_at_end]).toEqual([10, 1_000]);
  expect(reached_at).toBe(30 * DAY + 200 * DAY);
});

test("a budget that was made inside its window counts, paces and forecasts from then on", () => {
  const made = { ...budget, used: 60, counts_since: 9 * DAY + 1_800 };
  const points = [
    { start: 2 * DAY, quota: 900 },
    { start: 9 * DAY, quota: 500 },
    { start: 9.5 * DAY, quota: 50 },
  ];
  const counted = countedPoints(made, points);
  expect(counted).toEqual([
    { start: 9 * DAY, quota: 10 },
    { start: 9.5 * DAY, quota: 50 },
  ]);
  const { per_day, used_at_end, reached_at } = calculateForecast(made, counted, 10 * DAY);
  expect(per_day).toBe(Math.round((60 / (DAY - 1_800)) * DAY));
  expect(used_at_end).toBeLessThan(1_400);
  expect(reached_at).toBe(0);
  expect(countedPoints({ ...made, counts_since: 0 }, points)).toEqual(points);
});
