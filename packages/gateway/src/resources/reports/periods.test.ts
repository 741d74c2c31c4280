import { expect, it } from "vitest";
import { listPeriods, type Interval } from "./periods.ts";

const at = (text: string) => Date.parse(text) / 1000;
const list = (interval: Interval, from: string, to: string, timeZone = "Europe/Berlin") =>
  Array.from(listPeriods({ start: at(from), end: at(to), interval, timeZone }), ({ start, end }) => [
    new Date(start * 1000).toISOString().slice(0, 16),
    (end - start) / 3_600,
  ]);

it("days follow the clock of the zone over its changes", () => {
  expect(list("day", "2026-10-24T12:00:00Z", "2026-10-27T00:00:00Z")).toEqual([
    ["2026-10-24T12:00", 10],
    ["2026-10-24T22:00", 25],
    ["2026-10-25T23:00", 24],
    ["2026-10-26T23:00", 1],
  ]);
  expect(list("day", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z")).toEqual([["2026-03-28T23:00", 23]]);
});

it("weeks begin on Monday, months on their first day, hours where the zone has them", () => {
  expect(list("week", "2026-11-29T00:00:00Z", "2026-12-01T00:00:00Z", "UTC")).toEqual([
    ["2026-11-29T00:00", 24],
    ["2026-11-30T00:00", 24],
  ]);
  expect(list("month", "2026-01-15T00:00:00Z", "2026-03-02T00:00:00Z", "UTC").map(([start]) => start)).toEqual([
    "2026-01-15T00:00",
    "2026-02-01T00:00",
    "2026-03-01T00:00",
  ]);
  expect(list("hour", "2026-01-01T00:00:00Z", "2026-01-01T02:00:00Z", "Asia/Kolkata").map(([start]) => start)).toEqual([
    "2026-01-01T00:00",
    "2026-01-01T00:30",
    "2026-01-01T01:30",
  ]);
});

it("every second of a span is in one interval, in every zone", () => {
  for (const timeZone of ["UTC", "America/Sao_Paulo", "Pacific/Apia", "Australia/Lord_Howe", "Africa/Cairo"])
    for (const interval of ["hour", "day", "week", "month"] as const) {
      let end = at("2011-11-01T05:07:00Z");
      for (const period of listPeriods({ start: end, end: end + 120 * 86_400, interval, timeZone })) {
        expect([period.start, period.end > period.start]).toEqual([end, true]);
        end = period.end;
      }
      expect(end).toBe(at("2011-11-01T05:07:00Z") + 120 * 86_400);
    }
});
