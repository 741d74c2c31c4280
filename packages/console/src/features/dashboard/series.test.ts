import type { UsageStatistics } from "@fairway/wire";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  listBuckets,
  listUsage,
  MAX_SERIES,
  OTHERS,
  readAmounts,
  buildSeries,
  buildSlots,
  sumUnlisted,
} from "./series.ts";

const HOUR = 3_600;
const NONE = { count: 0, p50: 0, p90: 0, p95: 0, p99: 0 };

interface Used {
  readonly subject: string;
  readonly start: number;
  readonly quota: number;
}

function figures(quota: number, calls: number) {
  return {
    quota,
    calls,
    errors: 0,
    refused: 0,
    input_tokens: 7 * calls,
    output_tokens: 3 * calls,
    latency: NONE,
    first_token: NONE,
  };
}

/** The answer of a gateway that lists only some subjects. */
function answerWith(rows: readonly Used[], limit = rows.length): UsageStatistics {
  const sum = (some: readonly Used[]) =>
    figures(
      some.reduce((all, { quota }) => all + quota, 0),
      2 * some.length,
    );
  const pointsIn = (some: readonly Used[]) =>
    [...new Set(some.map(({ start }) => start))]
      .toSorted((a, b) => a - b)
      .map((start) => ({ start, ...sum(some.filter((row) => row.start === start)) }));
  const subjects = [...new Set(rows.map(({ subject }) => subject))]
    .map((subject) => {
      const own = rows.filter((row) => row.subject === subject);
      return { subject, name: subject, ...sum(own), points: pointsIn(own) };
    })
    .toSorted((a, b) => b.quota - a.quota);
  return {
    by: "model",
    start_timestamp: 0,
    end_timestamp: 0,
    interval: HOUR,
    complete_until: 0,
    total: sum(rows),
    total_points: pointsIn(rows),
    subjects: subjects.slice(0, limit),
    more_subjects: Math.max(0, subjects.length - limit),
  };
}

const use = (subject: string, start: number, quota: number): Used => ({ subject, start, quota });
const some = answerWith([use("a", 0, 5), use("b", 0, 7), use("a", 2 * HOUR, 1)]);
const byHour = { step: "hour", firstDay: 1 } as const;

test("amounts are those of the answer, and subjects are sorted by the measure that is shown", () => {
  expect(readAmounts(some.total)).toEqual({ quota: 13, tokens: 60, requests: 6 });
  expect(listUsage(some, "quota").map(({ model, quota }) => [model, quota])).toEqual([
    ["b", 7],
    ["a", 6],
  ]);
  expect(listUsage(some, "requests")[0]?.model).toBe("a");
});

test("an hour without usage is an empty bar, not a missing one", () => {
  const buckets = listBuckets(some, { from: 0, to: 2 * HOUR }, byHour);
  expect(buckets.map(({ start, quota }) => [start, quota])).toEqual([
    [0, 12],
    [HOUR, 0],
    [2 * HOUR, 1],
  ]);
});

test("a step that is too short for the span stops at a thousand bars", () => {
  expect(listBuckets(answerWith([]), { from: 0, to: 1e9 }, byHour)).toHaveLength(1_000);
});

test("a point that begins before the span counts in its first bar", () => {
  const [first] = listBuckets(answerWith([use("a", 0, 5)]), { from: 4 * HOUR, to: 6 * HOUR }, byHour);
  expect(first).toMatchObject({ start: 4 * HOUR, quota: 5 });
});

test("without a rest there are no others", () => {
  const series = buildSeries(listUsage(some, "quota"), "quota", {
    label: "Others",
    unlisted: sumUnlisted(some, listUsage(some, "quota")),
  });
  expect(series.map(({ key }) => key)).toEqual(["b", "a"]);
});

test("series, bars and unlisted subjects always add up to the total of the gateway", () => {
  const row = fc.record({
    subject: fc.integer({ min: 0, max: 30 }).map((id) => `model-${id}`),
    start: fc.integer({ min: 0, max: 47 }).map((hour) => hour * HOUR),
    quota: fc.integer({ min: 0, max: 1_000 }),
  });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 60 }), fc.integer({ min: 1, max: 40 }), (rows, limit) => {
      const answer = answerWith(rows, limit);
      for (const metric of ["quota", "tokens", "requests"] as const) {
        const models = listUsage(answer, metric);
        const unlisted = sumUnlisted(answer, models);
        const series = buildSeries(models, metric, { label: "Others", unlisted });
        const total = readAmounts(answer.total)[metric];
        expect(series.length).toBeLessThanOrEqual(MAX_SERIES);
        expect(series.reduce((sum, one) => sum + one.total, 0)).toBe(total);
        const buckets = listBuckets(answer, { from: 0, to: 47 * HOUR }, byHour);
        expect(buckets.reduce((sum, bucket) => sum + bucket[metric], 0)).toBe(total);
        const slots = buildSlots(buckets, series, metric);
        for (const { key, total: ofSeries } of series)
          expect(slots.reduce((sum, { values }) => sum + (values[key] ?? 0), 0)).toBe(ofSeries);
        expect(series.filter(({ key }) => key === OTHERS).length).toBe(
          models.filter((one) => one[metric] > 0).length > MAX_SERIES || unlisted[metric] > 0 ? 1 : 0,
        );
      }
    }),
  );
});
