import { expect, test } from "vitest";
import { calculateProgress, findState, isUnderWay } from "./state.ts";

test("a batch shows its phase until it has ended, and its outcome afterwards", () => {
  expect(findState({ phase: "open", outcome: "" }).text).toBe("running");
  expect(findState({ phase: "ended", outcome: "expired" }).text).toBe("booking");
  expect(findState({ phase: "stuck", outcome: "" }).text).toBe("stuck");
  expect(findState({ phase: "settled", outcome: "cancelled" }).text).toBe("cancelled");
  expect(findState({ phase: "refused", outcome: "failed" }).text).toBe("failed");
});

test("only batches that change by themselves are read again", () => {
  const phases = ["creating", "open", "ended", "settled", "refused", "stuck"] as const;
  expect(phases.filter((phase) => isUnderWay({ phase }))).toEqual(["creating", "open", "ended"]);
});

test("progress counts every end and is never above 100", () => {
  const counts = { succeeded: 1, failed: 1, expired: 0, cancelled: 1, total: 4 };
  expect(calculateProgress(counts)).toBe(75);
  expect(calculateProgress({ ...counts, total: 0 })).toBe(0);
  expect(calculateProgress({ ...counts, total: 2 })).toBe(100);
});
