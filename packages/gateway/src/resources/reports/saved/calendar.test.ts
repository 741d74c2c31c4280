import { expect, it } from "vitest";
import { findNextRun, findSpan, type Cadence } from "./calendar.ts";

const at = (text: string) => Date.parse(text) / 1000;
const show = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 16);
const BERLIN = "Europe/Berlin";

it.each([
  [{ cadence: "day", hour: 7, timeZone: BERLIN }, "2026-10-24T12:00Z", ["2026-10-25T06:00", "2026-10-26T06:00"]],
  [{ cadence: "week", hour: 0, timeZone: BERLIN }, "2026-10-20T12:00Z", ["2026-10-25T23:00", "2026-11-01T23:00"]],
  [{ cadence: "month", hour: 9, timeZone: "UTC" }, "2026-01-31T12:00Z", ["2026-02-01T09:00", "2026-03-01T09:00"]],
] as const)("%o is due at %s and then at %s", (cadence, from, expected) => {
  const first = findNextRun(cadence, at(from));
  expect([first, findNextRun(cadence, first)].map(show)).toEqual(expected);
});

it.each([
  ["day", "2026-10-26T06:00Z", "2026-10-24T22:00", "2026-10-25T23:00"],
  ["week", "2026-10-26T06:00Z", "2026-10-18T22:00", "2026-10-25T23:00"],
  ["month", "2026-11-01T06:00Z", "2026-09-30T22:00", "2026-10-31T23:00"],
] as const)("the %s before %s is over, with its clock change", (cadence, due, start, end) => {
  const span = findSpan({ cadence, hour: 7, timeZone: BERLIN }, at(due));
  expect([show(span.start), show(span.end)]).toEqual([start, end]);
});

it("without a schedule nothing is due", () => {
  expect(findNextRun({ cadence: "none", hour: 7, timeZone: "UTC" }, at("2026-10-24T12:00Z"))).toBe(0);
});

it("the periods of a schedule follow each other without a gap, in every zone", () => {
  for (const timeZone of ["UTC", "America/Sao_Paulo", "Pacific/Apia", "Australia/Lord_Howe", "Africa/Cairo"])
    for (const cadence of ["day", "week", "month"] as const)
      for (const hour of [0, 2, 23]) {
        const own: Cadence = { cadence, hour, timeZone };
        let due = findNextRun(own, at("2025-10-01T00:00Z"));
        let { end } = findSpan(own, due);
        for (let round = 0; round < 40; round++) {
          due = findNextRun(own, due);
          const span = findSpan(own, due);
          expect([timeZone, cadence, hour, span.start, span.end <= due]).toEqual([timeZone, cadence, hour, end, true]);
          ({ end } = span);
        }
      }
});
