import type { BudgetHistory } from "@fairway/wire";
import { expect, test } from "vitest";
import { burnDown } from "./burn-down.ts";

const HOUR = 3_600;

function history(change: Partial<BudgetHistory> = {}): BudgetHistory {
  return {
    budget: {
      id: 1,
      scope: "user",
      subject: "1",
      subject_name: "root",
      period: "day",
      time_zone: "UTC",
      quota_limit: 100,
      soft_percent: 80,
      length: 0,
      anchor: "",
      ends_at: 0,
      filter_model: "",
      managed_by: "admin",
      thresholds: [80, 100],
      forecast: false,
      is_hard: true,
      used: 30,
      held: 0,
      window_start: 0,
      window_end: 6 * HOUR,
    },
    interval: HOUR,
    points: [
      { start: 0, quota: 10 },
      { start: HOUR, quota: 15 },
      { start: 2 * HOUR, quota: 5 },
    ],
    forecast: { per_day: 0, used_at_end: 70, reached_at: 0 },
    ...change,
  };
}

test("adds up what was used, and continues at the present pace", () => {
  const slots = burnDown(history(), 2.5 * HOUR);
  expect(slots.map(({ values }) => values["used"])).toEqual([10, 25, 30, undefined, undefined, undefined]);
  expect(slots.map(({ values }) => values["forecast"])).toEqual([undefined, undefined, 30, 47, 59, 70]);
  expect(slots.every(({ values }) => values["limit"] === 100)).toBe(true);
});

test("the curve of a budget that was made inside its window begins where it counts", () => {
  const { budget } = history();
  const made = history({
    budget: { ...budget, used: 20, counts_since: 1.5 * HOUR },
    points: [{ start: HOUR, quota: 15 }],
  });
  const slots = burnDown(made, 2.5 * HOUR);
  expect(slots.map(({ values }) => values["used"])).toEqual([undefined, 15, 20, undefined, undefined, undefined]);
});

test("a long window has no more slots than a chart can show", () => {
  const { budget } = history();
  const month = burnDown(history({ budget: { ...budget, window_end: 31 * 24 * HOUR } }), HOUR);
  expect(month.length).toBeLessThanOrEqual(62);
  expect(month.at(-1)?.end).toBe(31 * 24 * HOUR);
});
