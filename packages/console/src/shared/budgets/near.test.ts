import type { Budget } from "@fairway/wire";
import { expect, test } from "vitest";
import { nearBudgets } from "./near.ts";

const DAY = 86_400;

function budget(id: number, used: number, change: Partial<Budget> = {}): Budget {
  return {
    id,
    scope: "user",
    subject: "1",
    subject_name: "root",
    period: "week",
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
    used,
    held: 0,
    window_start: 0,
    window_end: 10 * DAY,
    ...change,
  };
}

test("lists budgets that end before their window at the present pace, the nearest first", () => {
  const found = nearBudgets([budget(1, 20), budget(2, 60), budget(3, 100), budget(4, 85)], 5 * DAY);
  expect(found.map(({ budget: { id } }) => id)).toEqual([3, 4, 2]);
  expect(found[2]?.endsAt).toBe(Math.ceil(5 * DAY + (40 / 60) * 5 * DAY));
  expect(found[0]?.endsAt).toBe(5 * DAY);
});

test("counts what running requests reserved", () => {
  expect(nearBudgets([budget(1, 10, { held: 80 })], 9.9 * DAY)).toMatchObject([{ part: 0.9 }]);
});

test("the first minutes of a window say nothing about its pace", () => {
  expect(nearBudgets([budget(1, 5)], 600)).toEqual([]);
});
