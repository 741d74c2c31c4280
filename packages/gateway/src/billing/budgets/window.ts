import type { BUDGET_PERIODS } from "@fairway/wire";
import { seconds, type Clock } from "../../lib/clock.ts";
import { countDays, readAnchor, type Anchor } from "./anchor.ts";
import { findClockChange, findDateStart, readOffset, readWallTime } from "./time-zones.ts";

/** Periods whose windows follow the calendar of a time zone. */
export const CALENDAR_PERIODS = ["hour", "day", "week", "month", "quarter", "year"] as const;
export type CalendarPeriod = (typeof CALENDAR_PERIODS)[number];

/** `hours`: a window opens with the first request after the last one ended. `total`: one window without end. */
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** Epoch seconds at which a window and the next one begin. An end of 0 is none; a start of 0 is no window. */
export interface BudgetWindow {
  readonly start: number;
  readonly end: number;
}

/** The members of a budget that decide its windows. */
export interface WindowRule {
  readonly period: BudgetPeriod;
  readonly time_zone: string;
  /** Hours of a window of the period `hours`; otherwise 0. */
  readonly length: number;
  /** The first day of a window: a weekday, a day of the month, or `MM-DD`; "" = the usual one. */
  readonly anchor: string;
  /** Epoch seconds at which a budget of the period `total` ends; 0 = never. */
  readonly ends_at: number;
}

/** What a budget has in its window. */
export interface WindowState {
  /** 0 = no window has opened yet. */
  readonly window_start: number;
  readonly used: number;
  /** The highest threshold that was reached in the window, in percent. */
  readonly noted: number;
}

export const HOUR_SECONDS = 3_600;
const DAY_MS = 86_400_000;
const NO_WINDOW: BudgetWindow = { start: 0, end: 0 };

export function isCalendar(period: BudgetPeriod): period is CalendarPeriod {
  return period !== "hours" && period !== "total";
}

/** True for a budget whose only window is over: it counts and refuses nothing any more. */
export function isOver({ period, ends_at: end }: Pick<WindowRule, "period" | "ends_at">, atMs: number): boolean {
  return period === "total" && end > 0 && atMs >= end * 1000;
}

/** Returns the window that contains `atMs`; none if a budget of hours waits for its next request. */
export function findWindow(rule: WindowRule & Pick<WindowState, "window_start">, atMs: number): BudgetWindow {
  const { period, window_start: start, length, ends_at: end } = rule;
  if (period === "total") return { start, end };
  if (isCalendar(period)) return budgetWindow({ ...rule, period }, atMs);
  const closes = start + length * HOUR_SECONDS;
  return start > 0 && atMs < closes * 1000 ? { start, end: closes } : NO_WINDOW;
}

/** Returns the begin of the first window of a new budget; 0 if its first request opens it. */
export function findFirstWindow(rule: WindowRule, clock: Clock): number {
  return findWindow({ ...rule, window_start: rule.period === "total" ? seconds(clock) : 0 }, clock.now()).start;
}

/** Returns the begin of the window after that of a refusal; 0 if there is no other one. */
export function findRefusalEnd(rule: WindowRule & Pick<WindowState, "window_start">, atMs: number): number {
  const { end } = findWindow(rule, atMs);
  // A request that is larger than the limit is refused although no window is open.
  return end > 0 || rule.period === "total" ? end : Math.floor(atMs / 1000) + rule.length * HOUR_SECONDS;
}

/**
 * Returns the state in the window of `atMs`, or in a later one that has already begun. A budget of hours opens a window
 * if none is open.
 */
export function inWindow<State extends WindowRule & WindowState>(state: State, atMs: number): State {
  const { period, window_start: before } = state;
  if (period === "total") return state;
  const { start } = isCalendar(period) ? budgetWindow({ ...state, period }, atMs) : findOrOpen(state, atMs);
  return start > before ? { ...state, window_start: start, used: 0, noted: 0 } : state;
}

function findOrOpen(state: WindowRule & WindowState, atMs: number): BudgetWindow {
  const open = findWindow(state, atMs);
  return open.start > 0 ? open : { start: Math.floor(atMs / 1000), end: 0 };
}

/**
 * Returns the state of a budget of hours that knows of a window which began at `start`. Two windows that overlap are the
 * same one, seen first at different times, so it began at the earlier one.
 */
export function withWindow<State extends WindowRule & WindowState>(state: State, start: number): State {
  const { window_start: before, length } = state;
  if (before === 0 || start >= before + length * HOUR_SECONDS)
    return { ...state, window_start: start, used: 0, noted: 0 };
  return start < before && before < start + length * HOUR_SECONDS ? { ...state, window_start: start } : state;
}

type CalendarRule = Pick<WindowRule, "time_zone" | "anchor"> & { readonly period: CalendarPeriod };

/** The last window of each rule, because calendars are slow and nearly every call needs the same window. */
const latest: Readonly<Record<CalendarPeriod, Map<string, BudgetWindow>>> = {
  hour: new Map(),
  day: new Map(),
  week: new Map(),
  month: new Map(),
  quarter: new Map(),
  year: new Map(),
};

/** Returns the window of a calendar that contains `nowMs`. Throws if the zone is unknown. */
export function budgetWindow({ period, time_zone: zone, anchor }: CalendarRule, nowMs: number): BudgetWindow {
  const ofPeriod = latest[period];
  const name = anchor === "" ? zone : `${zone} ${anchor}`;
  const known = ofPeriod.get(name);
  if (known && nowMs >= known.start * 1000 && nowMs < known.end * 1000) return known;
  const window = period === "hour" ? hourAt(zone, nowMs) : datesAt({ period, time_zone: zone, anchor }, nowMs);
  ofPeriod.set(name, window);
  return window;
}

/** Returns the clock hour of a zone. A change of the clock inside it ends it, so an hour that comes twice is two. */
function hourAt(timeZone: string, nowMs: number): BudgetWindow {
  const now = Math.floor(nowMs / 1000);
  const offset = readOffset(now, timeZone);
  const start = Math.floor((now + offset) / HOUR_SECONDS) * HOUR_SECONDS - offset;
  const end = start + HOUR_SECONDS;
  return {
    start: readOffset(start, timeZone) === offset ? start : findClockChange({ before: start, from: now }, timeZone),
    end: readOffset(end - 1, timeZone) === offset ? end : findClockChange({ before: now, from: end - 1 }, timeZone),
  };
}

function datesAt({ period, time_zone: zone, anchor }: CalendarRule, nowMs: number): BudgetWindow {
  const local = readWallTime(nowMs, zone);
  const today = Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate());
  const of = readAnchor(period, anchor);
  if (!of) throw new Error(`a ${period} cannot begin on ${anchor}`);
  const [first, next] = calculatePeriodDates(period, of, new Date(today));
  return { start: findDateStart(first, zone), end: findDateStart(next, zone) };
}

/** Months of the periods that consist of months. */
const MONTHS = { month: 1, quarter: 3, year: 12 } as const;

/** Returns the first and the next date of the period, as midnights in UTC. */
function calculatePeriodDates(period: CalendarPeriod, anchor: Anchor, today: Date): readonly [number, number] {
  const at = today.getTime();
  switch (period) {
    case "hour":
    case "day":
      return [at, at + DAY_MS];
    case "week": {
      const first = at - ((today.getUTCDay() - anchor.weekday + 7) % 7) * DAY_MS;
      return [first, first + 7 * DAY_MS];
    }
    default: {
      const step = MONTHS[period];
      const month = today.getUTCFullYear() * 12 + today.getUTCMonth();
      const latest = month - ((month - (anchor.month - 1)) % step);
      const first = beginOfMonth(latest, anchor.day) <= at ? latest : latest - step;
      return [beginOfMonth(first, anchor.day), beginOfMonth(first + step, anchor.day)];
    }
  }
}

/** Returns the day of a month, or its last one; `month` counts the months since the year 0. */
function beginOfMonth(month: number, day: number): number {
  const [year, inYear] = [Math.floor(month / 12), month % 12];
  return Date.UTC(year, inYear, Math.min(day, countDays(year, inYear)));
}
