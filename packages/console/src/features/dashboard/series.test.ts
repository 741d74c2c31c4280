import type { UsageRow } from "@fairway/wire";
import { expect, test } from "vitest";
import { bucketsOf, HUES, modelsOf, niceCeiling, partOf, seriesOf, sumOf } from "./series.ts";

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

test("each model has a colour of its own, the smallest share one", () => {
  const many = Array.from({ length: 12 }, (_, index) => row(`model-${index}`, 0, 100 - index));
  const series = seriesOf(modelsOf(many, "quota"), "quota");
  expect(series).toHaveLength(HUES.length);
  expect(new Set(series.map(({ hue }) => hue)).size).toBe(series.length);
  expect(series.at(-1)).toEqual({ model: undefined, hue: "slate", total: 94 + 93 + 92 + 91 + 90 + 89 });
  const [bucket] = bucketsOf(many, { from: 0, to: 0 }, { step: "hour", firstDay: 1 });
  const named = new Set(series.flatMap(({ model }) => model ?? []));
  expect(bucket && partOf(bucket, series.at(-1)!, "quota", named)).toBe(549);
});

test("a model keeps its colour when smaller ones come and go", () => {
  const alone = seriesOf(modelsOf([row("gpt-4o", 0, 9)], "quota"), "quota");
  const among = seriesOf(modelsOf([row("gpt-4o", 0, 9), row("x", 0, 1), row("y", 0, 1)], "quota"), "quota");
  expect(among[0]).toEqual(alone[0]);
});

test("axes end at numbers that can be read", () => {
  expect([0, 0.0007, 3, 12, 21, 99, 700].map(niceCeiling)).toEqual([1, 0.001, 5, 20, 25, 100, 1000]);
});
