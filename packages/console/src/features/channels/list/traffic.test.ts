import { expect, test } from "vitest";
import { gradeTraffic } from "./traffic.ts";

const measured = (count: number, p50: number) => ({ count, p50, p90: p50, p95: p50, p99: p50 });

test("a channel is graded by what its requests showed: failures first, then speed", () => {
  expect(gradeTraffic({ calls: 10, errors: 10, latency: measured(0, 0) })).toEqual({
    grade: "red",
    typical: undefined,
    errorShare: 1,
  });
  expect(gradeTraffic({ calls: 10, errors: 2, latency: measured(8, 300) })?.grade).toBe("red");
  expect(gradeTraffic({ calls: 100, errors: 6, latency: measured(94, 300) })?.grade).toBe("orange");
  expect(gradeTraffic({ calls: 100, errors: 1, latency: measured(99, 300) })).toEqual({
    grade: "green",
    typical: 300,
    errorShare: undefined,
  });
  expect(gradeTraffic({ calls: 100, errors: 0, latency: measured(99, 9_000) })?.grade).toBe("red");
});

test("a channel without attempts, or with refused ones alone, is not graded", () => {
  expect(gradeTraffic(undefined)).toBeUndefined();
  expect(gradeTraffic({ calls: 0, errors: 0, latency: measured(0, 0) })).toBeUndefined();
  expect(gradeTraffic({ calls: 5, errors: 0, latency: measured(0, 0) })).toBeUndefined();
});
