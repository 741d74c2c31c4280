import { afterEach, expect, test, vi } from "vitest";
import { steadyClock, systemClock } from "./clock.ts";

afterEach(() => vi.useRealTimers());

test("the steady clock does not follow the system's clock when that is set", () => {
  const before = steadyClock.now();
  expect(Math.abs(before - systemClock.now())).toBeLessThan(60_000);
  vi.useFakeTimers({ toFake: ["Date"], now: before - 3_600_000 });
  expect(systemClock.now()).toBe(before - 3_600_000);
  expect(steadyClock.now()).toBeGreaterThanOrEqual(before);
  expect(Number.isInteger(steadyClock.now())).toBe(true);
});
