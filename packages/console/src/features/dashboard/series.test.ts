import type { UsageRow } from "@fairway/wire";
import { expect, test } from "vitest";
import { bucketsOf, modelsOf, MOST_SERIES, OTHERS, seriesOf, slotsOf, sumOf } from "./series.ts";

const HOUR = 3_600;

function row(model: string, at: number, quota: number): UsageRow {
  return { id: 0, user_id: 0, username: "", model_name: model, created_at: at, token_used: 10, count: 2, quota };
}

const rows = [row("a", 0, 5), row("b", 0, 7), row("a", 2 * HOUR, 1)];

test("amounts are summed over users and hours", () => {
  expect(sumOf(rows)).toEqual({ quota: 13, tokens: 30, requests: 6 });
  expect(modelsOf(rows, "quota").map(({ model, quota }) => [model, quota])).toEqual([
    ["b", 7],
    ["a", 6],
  ]);
  expect(modelsOf(rows, "requests")[0]?.model).toBe("a");
});

test("an hour without usage is an empty bar, not a missing one", () => {
  const buckets = bucketsOf(rows, { from: 0, to: 2 * HOUR }, { step: "hour", firstDay: 1 });
  expect(buckets.map(({ start, quota }) => [start, quota])).toEqual([
    [0, 12],
    [HOUR, 0],
    [2 * HOUR, 1],
  ]);
});

test("a step that is too short for the span stops at a thousand bars", () => {
  expect(bucketsOf([], { from: 0, to: 1e9 }, { step: "hour", firstDay: 1 })).toHaveLength(1_000);
});

test("the largest models have a colour each, the rest shares one", () => {
  const many = Array.from({ length: 12 }, (_, index) => row(`model-${index}`, 0, 100 - index));
  const series = seriesOf(modelsOf(many, "quota"), "quota", "Others");
  expect(series).toHaveLength(MOST_SERIES);
  expect(new Set(series.map(({ colour }) => colour)).size).toBe(series.length);
  expect(series.at(-1)).toMatchObject({ key: OTHERS, label: "Others", total: 94 + 93 + 92 + 91 + 90 + 89 });
  const buckets = bucketsOf(many, { from: 0, to: 0 }, { step: "hour", firstDay: 1 });
  const [slot] = slotsOf(buckets, series, "quota");
  expect(slot?.values).toMatchObject({ "model-0": 100, [OTHERS]: 549 });
});

test("without a rest there are no others", () => {
  const series = seriesOf(modelsOf(rows, "quota"), "quota", "Others");
  expect(series.map(({ key }) => key)).toEqual(["b", "a"]);
});
