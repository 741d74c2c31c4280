import { expect, test } from "vitest";
import { resolveBounds, rangeName } from "./range.ts";

const now = new Date(2026, 10, 21, 15, 30).getTime() / 1000;
const none = { from: "", to: "" };

test("today starts at local midnight and ends an hour ahead", () => {
  expect(resolveBounds("today", now, none)).toEqual({ from: new Date(2026, 10, 21).getTime() / 1000, to: now + 3_600 });
});

test("relative ranges move with time", () => {
  expect(resolveBounds("24h", now, none).from).toBe(now - 86_400);
});

test("custom bounds come from the address, and bad ones are no bound", () => {
  expect(resolveBounds("custom", now, { from: "100", to: "x" })).toEqual({ from: 100, to: 0 });
});

test("unknown names fall back to today", () => {
  expect(rangeName("yesterday")).toBe("today");
});
