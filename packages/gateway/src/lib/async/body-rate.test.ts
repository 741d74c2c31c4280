import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { watchPace } from "./body-rate.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("a body that comes too slowly, or not at all, is given up after its grace", () => {
  const given: string[] = [];
  const minBytesPerSecond = 100;
  watchPace({ size: () => 0, minBytesPerSecond, tooSlow: () => given.push("silent") });
  watchPace({ size: () => 100_000, minBytesPerSecond, tooSlow: () => given.push("fast") })();
  const unwatch = watchPace({ size: () => 0, minBytesPerSecond, tooSlow: () => given.push("over") });
  vi.advanceTimersByTime(30_000);
  expect(given).toEqual([]);
  unwatch();
  vi.advanceTimersByTime(60_000);
  expect(given).toEqual(["silent"]);
});
