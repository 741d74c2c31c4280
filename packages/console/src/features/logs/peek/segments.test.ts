import { expect, test } from "vitest";
import { attemptSegments, calculateScale } from "./segments.ts";

const failed = { start_ms: 0, first_byte_ms: 40, duration_ms: 50, outcome: "upstream_error" };
const silent = { start_ms: 50, first_byte_ms: -1, duration_ms: 100, outcome: "timeout" };
const done = { start_ms: 150, first_byte_ms: 25, duration_ms: 50, outcome: "ok" };

test("an attempt is its wait for the first byte and then its answer, on the axis of the call", () => {
  const scale = calculateScale({ total_ms: 200, attempts: [failed, silent, done] });
  expect(scale).toBe(200);
  expect(attemptSegments(failed, scale)).toEqual([
    { kind: "wait", left: 0, width: 20 },
    { kind: "failed", left: 20, width: 5 },
  ]);
  expect(attemptSegments(silent, scale)).toEqual([{ kind: "failed", left: 25, width: 50 }]);
  expect(attemptSegments(done, scale)).toEqual([
    { kind: "wait", left: 75, width: 12.5 },
    { kind: "ok", left: 87.5, width: 12.5 },
  ]);
});

test("the axis holds attempts that ended after the call was booked, and is never empty", () => {
  expect(calculateScale({ total_ms: 120, attempts: [done] })).toBe(200);
  expect(calculateScale({ total_ms: 0, attempts: [] })).toBe(1);
  expect(attemptSegments({ ...done, first_byte_ms: 90 }, 200)[1]).toMatchObject({ width: 0 });
});
