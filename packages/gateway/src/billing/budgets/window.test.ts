import fc from "fast-check";
import { expect, test } from "vitest";
import { isTimeZone } from "./time-zones.ts";
import { budgetWindow as findCalendarWindow, CALENDAR_PERIODS, findWindow, inWindow, withWindow } from "./window.ts";
import type { CalendarPeriod, WindowRule, WindowState } from "./window.ts";

const iso = (seconds: number) => new Date(seconds * 1000).toISOString();
const budgetWindow = (period: CalendarPeriod, zone: string, ms: number, anchor = "") =>
  findCalendarWindow({ period, time_zone: zone, anchor }, ms);
const window = (period: CalendarPeriod, zone: string, at: string, anchor = "") => {
  const { start, end } = budgetWindow(period, zone, Date.parse(at), anchor);
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
      fc.constantFrom(...CALENDAR_PERIODS),
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
      for (const period of CALENDAR_PERIODS) {
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

test("weeks, months, quarters and years begin on their anchor, or on the last day of a shorter month", () => {
  const days = (...args: Parameters<typeof window>) => window(...args).map((text) => text.slice(0, 10));
  expect(days("week", "UTC", "2026-11-25T12:00:00Z", "3")).toEqual(["2026-11-25", "2026-12-02"]);
  expect(days("week", "UTC", "2026-11-24T12:00:00Z", "3")).toEqual(["2026-11-18", "2026-11-25"]);
  expect(days("month", "UTC", "2026-02-28T12:00:00Z", "31")).toEqual(["2026-02-28", "2026-03-31"]);
  expect(days("month", "UTC", "2028-02-29T12:00:00Z", "30")).toEqual(["2028-02-29", "2028-03-30"]);
  expect(days("month", "UTC", "2026-01-30T12:00:00Z", "31")).toEqual(["2025-12-31", "2026-01-31"]);
  expect(days("quarter", "UTC", "2026-11-21T12:00:00Z")).toEqual(["2026-10-01", "2027-01-01"]);
  expect(days("quarter", "UTC", "2026-02-27T12:00:00Z", "11-30")).toEqual(["2025-11-30", "2026-02-28"]);
  expect(days("year", "UTC", "2026-02-27T12:00:00Z", "02-29")).toEqual(["2025-02-28", "2026-02-28"]);
  expect(days("year", "UTC", "2028-02-28T12:00:00Z", "02-29")).toEqual(["2027-02-28", "2028-02-29"]);
});

test("fiscal quarters of London begin at its midnight, whichever clock it has", () => {
  const quarter = (at: string) => window("quarter", "Europe/London", at, "04-06");
  expect(quarter("2026-04-05T22:59:59Z")).toEqual(["2026-01-06T00:00:00.000Z", "2026-04-05T23:00:00.000Z"]);
  expect(quarter("2026-04-05T23:00:00Z")).toEqual(["2026-04-05T23:00:00.000Z", "2026-07-05T23:00:00.000Z"]);
  expect(quarter("2026-10-25T12:00:00Z")).toEqual(["2026-10-05T23:00:00.000Z", "2027-01-06T00:00:00.000Z"]);
});

test("an hour that clocks show twice is two windows, and one that they skip is none", () => {
  const hour = (zone: string, at: string) => window("hour", zone, at).map((text) => text.slice(11, 16));
  const london = (at: string) => hour("Europe/London", at);
  expect(london("2026-10-25T00:30:00Z")).toEqual(["00:00", "01:00"]);
  expect(london("2026-10-25T01:30:00Z")).toEqual(["01:00", "02:00"]);
  expect(london("2026-03-29T00:59:59Z")).toEqual(["00:00", "01:00"]);
  expect(london("2026-03-29T01:00:00Z")).toEqual(["01:00", "02:00"]);
  expect(hour("Asia/Kolkata", "2026-10-25T00:45:00Z")).toEqual(["00:30", "01:30"]);
  // Its clock goes back from 2:00 to 1:30, and ahead from 2:00 to 2:30.
  const island = (at: string) => hour("Australia/Lord_Howe", at);
  expect(island("2026-04-04T14:59:00Z")).toEqual(["14:00", "15:00"]);
  expect(island("2026-04-04T15:10:00Z")).toEqual(["15:00", "15:30"]);
  expect(island("2026-10-03T15:10:00Z")).toEqual(["14:30", "15:30"]);
  expect(island("2026-10-03T15:40:00Z")).toEqual(["15:30", "16:00"]);
});

test.each([
  ["quarter", "04-06"],
  ["month", "31"],
  ["year", "02-29"],
  ["week", "7"],
  ["hour", ""],
] as const)(
  "every second of three years lies in one window of a %s from %s, over all changes of the clock",
  (period, anchor) => {
    for (const zone of ["Europe/London", "Australia/Lord_Howe", "Pacific/Apia"]) {
      const from = Date.parse(period === "hour" ? "2026-03-20T00:00:00Z" : "2026-01-01T00:00:00Z");
      const until = Date.parse(period === "hour" ? "2026-04-20T00:00:00Z" : "2029-01-01T00:00:00Z");
      for (let at = from; at < until;) {
        const { start, end } = budgetWindow(period, zone, at, anchor);
        expect(start * 1000).toBeLessThanOrEqual(at);
        expect(end * 1000).toBeGreaterThan(at);
        expect(budgetWindow(period, zone, end * 1000, anchor).start).toBe(end);
        expect(budgetWindow(period, zone, end * 1000 - 1, anchor)).toEqual({ start, end });
        at = end * 1000;
      }
    }
  },
);

const FIVE_HOURS: WindowRule & WindowState = {
  period: "hours",
  time_zone: "UTC",
  length: 5,
  anchor: "",
  ends_at: 0,
  window_start: 0,
  used: 0,
  noted: 0,
};

test("a window of hours opens with a request and is idle after its length", () => {
  expect(findWindow(FIVE_HOURS, 1_000_999)).toEqual({ start: 0, end: 0 });
  const open = { ...inWindow(FIVE_HOURS, 1_000_999), used: 7, noted: 80 };
  expect(open.window_start).toBe(1_000);
  expect(inWindow(open, (1_000 + 5 * HOUR) * 1000 - 1)).toBe(open);
  expect(findWindow(open, (1_000 + 5 * HOUR) * 1000)).toEqual({ start: 0, end: 0 });
  const next = { window_start: 1_000 + 5 * HOUR, used: 0, noted: 0 };
  expect(inWindow(open, (1_000 + 5 * HOUR) * 1000)).toMatchObject(next);
});

test("a window that two places saw opening begins at the earlier of both", () => {
  const open = { ...FIVE_HOURS, window_start: 20_000, used: 7, noted: 80 };
  expect(withWindow(open, 19_000)).toEqual({ ...open, window_start: 19_000 });
  expect(withWindow(open, 20_001)).toBe(open);
  expect(withWindow(open, 2_000)).toBe(open);
  expect(withWindow(open, 20_000 + 5 * HOUR)).toMatchObject({ window_start: 20_000 + 5 * HOUR, used: 0, noted: 0 });
  expect(withWindow(FIVE_HOURS, 5)).toMatchObject({ window_start: 5, used: 0 });
});

test("a total budget has one window, which has an end only if it is set", () => {
  const total = { ...FIVE_HOURS, period: "total", length: 0, window_start: 50, used: 7 } as const;
  expect(findWindow(total, 10 ** 12)).toEqual({ start: 50, end: 0 });
  expect(findWindow({ ...total, ends_at: 90 }, 10 ** 12)).toEqual({ start: 50, end: 90 });
  expect(inWindow(total, 10 ** 12)).toBe(total);
});
