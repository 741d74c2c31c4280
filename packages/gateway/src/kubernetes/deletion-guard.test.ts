import { describe, expect, test } from "vitest";
import { DeletionGuard, type DeletionLimit } from "./deletion-guard.ts";

describe("the guard against mass deletion", () => {
  const open = (limit: DeletionLimit) => {
    const clock = { now: 0 };
    return { clock, guard: new DeletionGuard(limit, () => clock.now) };
  };

  test.each([
    [{ percent: 50 }, 10, 20, false],
    [{ percent: 50 }, 11, 20, true],
    [{ percent: 50 }, 2, 2, false],
    [{ percent: 50 }, 3, 3, true],
    [{ percent: 100 }, 20, 20, false],
    [{ percent: 0 }, 3, 1000, true],
    [{ count: 5 }, 5, 1000, false],
    [{ count: 5 }, 6, 1000, true],
    [{ percent: 50 }, 0, 0, false],
  ] satisfies [DeletionLimit, number, number, boolean][])(
    "limit %j, %d of %d: held %s",
    (limit, pending, total, isHeld) => {
      expect(open(limit).guard.isHeld("ai", pending, total)).toBe(isHeld);
    },
  );

  test("counts what was deleted within ten minutes, so that one after the other is no way around it", () => {
    const { clock, guard } = open({ percent: 50 });
    guard.deleted("ai", 10);
    expect(guard.isHeld("ai", 1, 10)).toBe(true);
    expect(guard.isHeld("other", 1, 10)).toBe(false);
    clock.now = 600_001;
    expect(guard.isHeld("ai", 1, 10)).toBe(false);
  });
});
