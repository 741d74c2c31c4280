import { expect, test } from "vitest";
import { findQuietEnd } from "./quiet.ts";

const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];
const night = { zone: "Europe/Berlin", from: "22:00", to: "07:00", weekdays: EVERY_DAY };
const at = (text: string) => Date.parse(text);

test.each([
  ["2026-11-29T20:59:00Z", undefined],
  ["2026-11-29T21:00:00Z", "2026-11-30T06:00:00Z"],
  ["2026-11-30T05:59:59Z", "2026-11-30T06:00:00Z"],
  ["2026-11-30T06:00:00Z", undefined],
  ["2026-07-01T20:30:00Z", "2026-07-02T05:00:00Z"],
])("at %s the quiet hours end at %s", (time, end) => {
  expect(findQuietEnd(night, at(time))).toBe(end === undefined ? undefined : at(end));
});

test("hours belong to the weekday on which they begin", () => {
  const sunday = { ...night, zone: "UTC", weekdays: [0] };
  expect(findQuietEnd(sunday, at("2026-11-29T23:00:00Z"))).toBe(at("2026-11-30T07:00:00Z"));
  expect(findQuietEnd(sunday, at("2026-11-30T03:00:00Z"))).toBe(at("2026-11-30T07:00:00Z"));
  expect(findQuietEnd(sunday, at("2026-11-30T23:00:00Z"))).toBeUndefined();
  expect(findQuietEnd(undefined, at("2026-11-30T23:00:00Z"))).toBeUndefined();
});
