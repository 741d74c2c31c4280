import { expect, test } from "vitest";
import { compareFinishedHours, resolveSpan, startAfter, findSlotStart, resolveStep } from "./span.ts";

const now = new Date(2026, 10, 18, 15, 30).getTime() / 1000;
const DAY = 86_400;
const none = { from: "", to: "" };
const local = (day: number, hour = 0) => new Date(2026, 10, day, hour).getTime() / 1000;

test("a span begins with a whole hour, and thirty days are never longer than the server allows", () => {
  const { from, to } = resolveSpan("30d", "24h", now, none);
  expect(to - from).toBe(30 * DAY - 1_800);
  expect(to).toBe(now);
});

test("uses the operator's default for an address that names no range", () => {
  expect(resolveSpan("", "7d", now, none)).toEqual({ from: now - 7 * DAY + 1_800, to: now });
});

test("a custom span with an open end shows thirty days up to now", () => {
  expect(resolveSpan("custom", "24h", now, { from: "x", to: "" })).toEqual({ from: now - 30 * DAY + 1_800, to: now });
});

test("compares finished hours only with as many hours that end where the span begins", () => {
  const HOUR = 3_600;
  const from = 100 * HOUR;
  expect(compareFinishedHours({ from, to: from + 23 * HOUR + 1_800 })).toEqual({
    hours: 23,
    now: { from, to: from + 23 * HOUR - 1 },
    before: { from: from - 23 * HOUR, to: from - 1 },
  });
  // The hour is finished in its last second.
  expect(compareFinishedHours({ from, to: from + HOUR - 1 })?.hours).toBe(1);
  expect(compareFinishedHours({ from, to: from + HOUR - 2 })).toBeUndefined();
});

test("days and weeks begin at local midnight, weeks on the first day of the language", () => {
  expect(findSlotStart(now, "hour", 1)).toBe(local(18, 15));
  expect(findSlotStart(now, "day", 1)).toBe(local(18));
  // A Wednesday.
  expect(findSlotStart(now, "week", 1)).toBe(local(16));
  expect(findSlotStart(now, "week", 0)).toBe(local(15));
  expect(startAfter(local(16), "week")).toBe(local(23));
});

test("without a choice the bars are as long as the span needs", () => {
  expect([1, 7, 90].map((days) => resolveStep("", { from: 0, to: days * DAY }))).toEqual(["hour", "day", "week"]);
  expect(resolveStep("hour", { from: 0, to: 90 * DAY })).toBe("hour");
  expect(resolveStep("minute", { from: 0, to: DAY })).toBe("hour");
});
