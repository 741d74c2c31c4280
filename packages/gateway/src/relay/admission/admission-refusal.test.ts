import { expect, test } from "vitest";
import type { Claim } from "../../limits/claims.ts";
import { limitHeaders, buildRefusal } from "./admission-refusal.ts";

const claim: Claim = { scope: "user", subject: "1", kind: "requests", limit: 5, amount: 1 };

test("the wait never exceeds what official clients accept by one second", () => {
  for (const [resetMs, seconds] of [
    [0, 1],
    [59_001, 60],
    [60_400, 60],
    [61_000, 60],
    [61_001, 62],
    [540_000, 540],
  ] as const)
    expect(buildRefusal({ claim, used: 5, resetMs }).retryAfterMs, String(resetMs)).toBe(seconds * 1000);
  expect(limitHeaders([{ claim, used: 5, resetMs: 60_400 }])["x-ratelimit-reset-requests"]).toBe("61s");
});
