import fc from "fast-check";
import { expect, test } from "vitest";
import { BUDGET_PERIODS, budgetWindow, isTimeZone } from "./window.ts";

const iso = (seconds: number) => new Date(seconds * 1000).toISOString();
const window = (period: (typeof BUDGET_PERIODS)[number], zone: string, at: string) => {
  const { start, end } = budgetWindow(period, zone, Date.parse(at));
  return [iso(start), iso(end)];
};

test("days, weeks from Monday and months follow the calendar of their zone", () => {
  expect(window("day", "UTC", "2026-11-21T17:00:00Z")).toEqual([
    "2026-11-21T00:00:00.000Z",
    "2026-11-22T00:00:00.000Z",
  ]);
  expect(window("day", "Asia/Shanghai", "2026-11-21T17:00:00Z")).toEqual([
    "2026-11-21T16:00:00.000Z",
    "2026-11-22T16:00:00.000Z",
  ]);
  expect(window("week", "UTC", "2026-11-22T23:59:59Z")[0]).toBe("2026-11-16T00:00:00.000Z");
  expect(window("week", "UTC", "2026-11-23T00:00:00Z")[0]).toBe("2026-11-23T00:00:00.000Z");
  expect(window("month", "America/New_York", "2026-03-01T04:59:59Z")).toEqual([
    "2026-02-01T05:00:00.000Z",
    "2026-03-01T05:00:00.000Z",
  ]);
  expect(window("month", "UTC", "2028-02-29T12:00:00Z")[1]).toBe("2028-03-01T00:00:00.000Z");
});

test("days on which clocks are changed are shorter and longer", () => {
  expect(window("day", "Europe/Berlin", "2026-03-29T12:00:00Z")).toEqual([
    "2026-03-28T23:00:00.000Z",
    "2026-03-29T22:00:00.000Z",
  ]);
  expect(window("day", "Europe/Berlin", "2026-10-25T12:00:00Z")).toEqual([
    "2026-10-24T22:00:00.000Z",
    "2026-10-25T23:00:00.000Z",
  ]);
});

test("the window that a time lies in holds that time, and windows follow each other without a gap", () => {
  const zones = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "Australia/Lord_Howe"];
  fc.assert(
    fc.property(
      fc.constantFrom(...BUDGET_PERIODS),
      fc.constantFrom(...zones),
      fc.integer({ min: 1_700_000_000, max: 2_000_000_000 }),
      (period, zone, seconds) => {
        const { start, end } = budgetWindow(period, zone, seconds * 1000);
        expect(start).toBeLessThanOrEqual(seconds);
        expect(end).toBeGreaterThan(seconds);
        expect(budgetWindow(period, zone, end * 1000).start).toBe(end);
      },
    ),
  );
});

const HOUR = 3_600;
/**
 * Zones whose clocks change at night, at midnight (Beirut, Havana, São Paulo), by half an hour (Lord Howe) or by a day
 * (Apia).
 */
const CHANGING = [
  "Europe/Berlin",
  "America/New_York",
  "America/Havana",
  "America/Sao_Paulo",
  "Asia/Beirut",
  "Australia/Lord_Howe",
  "Pacific/Apia",
] as const;

/** Hours around a change. */
const NEAR = [-25, -24, -23.5, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 22.5, 23, 24, 25];

function dateIn(zone: string): (seconds: number) => string {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" });
  return (seconds) => format.format(seconds * 1000);
}

/** Returns the epoch seconds at which the clocks of a zone change, to the hour. */
function listClockChanges(zone: string): number[] {
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  const offset = (seconds: number) => format.formatToParts(seconds * 1000).find(({ type }) => type === "timeZoneName");
  const [from, until] = [Date.UTC(2011, 0), Date.UTC(2014, 0)].map((ms) => ms / 1000) as [number, number];
  const changes: number[] = [];
  for (let day = from; day < until; day += 24 * HOUR)
    if (offset(day)?.value !== offset(day + 24 * HOUR)?.value)
      for (let at = day; at < day + 24 * HOUR; at += HOUR)
        if (offset(at)?.value !== offset(at + HOUR)?.value) changes.push(at + HOUR);
  return changes;
}

test.each(CHANGING)("around each change of the clocks of %s, days begin with their date", (zone) => {
  const date = dateIn(zone);
  const changes = listClockChanges(zone);
  expect(changes.length).toBeGreaterThan(5);
  for (const change of changes) {
    for (const at of NEAR.map((hours) => change + hours * HOUR)) {
      const { start, end } = budgetWindow("day", zone, at * 1000);
      const seen = { start, isIn: start <= at && at < end, dates: [date(start), date(at), date(end - 1)] };
      expect(seen).toEqual({ start, isIn: true, dates: [date(at), date(at), date(at)] });
      expect([date(start - 1), date(end)]).not.toContain(date(at));
      for (const period of BUDGET_PERIODS) {
        const window = budgetWindow(period, zone, at * 1000);
        expect(budgetWindow(period, zone, window.end * 1000).start).toBe(window.end);
      }
    }
  }
});

test("zones that do not exist are known as such", () => {
  expect(["UTC", "Europe/Berlin", "Asia/Shanghai"].map(isTimeZone)).toEqual([true, true, true]);
  expect(["", "Mars/Olympus", "UTC+25", "Europe/Berlin; drop"].map(isTimeZone)).toEqual([false, false, false, false]);
});
