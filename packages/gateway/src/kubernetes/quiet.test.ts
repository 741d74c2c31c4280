import { expect, test } from "vitest";
import { Quiet } from "./quiet.ts";

test("waits until no more deletions arrive, within bounds, for each namespace by itself", () => {
  const clock = { now: 0 };
  const quiet = new Quiet(100, () => clock.now);
  expect(quiet.waitMs("ai")).toBe(0);
  quiet.deletion("ai");
  expect(quiet.waitMs("ai")).toBe(100);
  expect(quiet.waitMs("other")).toBe(0);
  clock.now = 80;
  quiet.deletion("ai");
  expect(quiet.waitMs("ai")).toBe(100);
  clock.now = 180;
  expect(quiet.waitMs("ai")).toBe(0);
  for (clock.now = 1_000; clock.now < 2_950; clock.now += 90) quiet.deletion("ai");
  expect(quiet.waitMs("ai")).toBeLessThanOrEqual(50);
});
