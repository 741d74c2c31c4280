import type { Keys } from "../../../redis/keys.ts";
import type { ScriptCall } from "../../../redis/script.ts";
import type { Lease } from "../../reservations/live-reservations.ts";
import { ORPHAN_MS } from "../sql/sheet.ts";
import type { Budget, BudgetHold, BudgetTerms, Placing } from "../budget.ts";
import { findWindow, isCalendar, isOver, type BudgetWindow } from "../window.ts";
import { FOLLOW, LONG_OPEN, PLACE, PUT, READ_STATE } from "./scripts.ts";

/** The reservation of a request in live budgets: `amount` in each of `ids`. */
export interface LiveBudgetHold {
  readonly requestId: string;
  readonly userId: number;
  readonly amount: number;
  readonly ids: readonly number[];
}

/** Arguments that describe a set of budgets; valid until the window of one of them ends. */
interface PreparedTerms {
  /** Milliseconds. */
  readonly from: number;
  readonly until: number;
  readonly args: readonly (string | number)[];
  /** Calls of the same group run as one. */
  readonly group: string;
}

const prepared = new WeakMap<readonly BudgetTerms[], PreparedTerms>();
let preparations = 0;

function prepareTerms(wanted: readonly BudgetTerms[], now: number): PreparedTerms {
  const known = prepared.get(wanted);
  if (known && now >= known.from && now < known.until) return known;
  const windows = wanted.map((budget) => findCalendarWindow(budget, now));
  const terms = {
    from: Math.max(...windows.map(({ start }) => start * 1000)),
    until: Math.min(...windows.map(({ end }) => (end > 0 ? end * 1000 : Infinity))),
    args: [
      wanted.length,
      ...wanted.flatMap((budget, at) => [
        budget.id,
        budget.quota_limit,
        isOver(budget, now) ? 0 : budget.is_hard,
        windows[at]?.start ?? 0,
        budget.period === "hours" ? budget.length : 0,
      ]),
    ],
    group: String((preparations += 1)),
  };
  prepared.set(wanted, terms);
  return terms;
}

/** Returns the window that this process determines; without a start if Redis or the database does. */
function findCalendarWindow(budget: BudgetTerms, now: number): BudgetWindow {
  if (isCalendar(budget.period)) return findWindow({ ...budget, window_start: 0 }, now);
  return { start: 0, end: isOver(budget, now) ? 0 : budget.ends_at };
}

/**
 * @param now epoch milliseconds of this process, which determine the windows of the calendar
 * @param isRepeated true if an earlier call for the request may have run
 */
export function placeCall(
  { budgets: keys }: Keys,
  placing: Placing,
  { lease, now, isRepeated }: { readonly lease: Lease; readonly now: number; readonly isRepeated: boolean },
): ScriptCall {
  const { requestId, userId, wanted, amount, wished = "", held } = placing;
  const terms = prepareTerms(wanted, now);
  return {
    script: PLACE,
    keys: [keys.epoch, keys.state, keys.holds, keys.leases],
    args: [lease.now, ORPHAN_MS, ...terms.args],
    item: {
      group: `place ${lease.now} ${terms.group}`,
      args: [requestId, userId, amount, wished, encodeKnownState(held, isRepeated)],
    },
  };
}

/** Returns what Redis may know about the request; see `PLACE`. */
function encodeKnownState(held: BudgetHold | undefined, isRepeated: boolean): "n" | "h" | "" {
  if (held && held.ids.size > 0) return "h";
  return held || isRepeated ? "" : "n";
}

/** @param isOpen true if Redis has the request, false if it may have lost it */
export function putCall({ budgets: keys }: Keys, hold: LiveBudgetHold, lease: Lease, isOpen: boolean): ScriptCall {
  const { requestId, userId, amount, ids } = hold;
  const budgets = ids.join(",");
  return {
    script: PUT,
    keys: [keys.state, keys.holds, keys.leases],
    args: [lease.now, ORPHAN_MS, isOpen ? "1" : "0", budgets],
    item: { group: `put ${lease.now} ${isOpen ? "1" : "0"} ${budgets}`, args: [requestId, userId, amount] },
  };
}

export interface Following {
  /** The epoch in which the states were read; "" if there are none. */
  readonly epoch: string;
  readonly budgets: readonly Pick<Budget, "id" | "revision" | "window_start" | "used" | "held">[];
  /** Requests that the states include, or that were not charged. */
  readonly ended: readonly string[];
}

export function followCall({ budgets: keys }: Keys, { epoch, budgets, ended }: Following): ScriptCall {
  const states = budgets.flatMap((budget) => [
    budget.id,
    budget.revision,
    budget.window_start,
    budget.used,
    Math.max(0, budget.held),
  ]);
  return {
    script: FOLLOW,
    keys: [keys.epoch, keys.state, keys.holds, keys.leases],
    args: [epoch, budgets.length, ...states, ...ended],
  };
}

export function longOpenCall({ budgets: keys }: Keys, lease: Lease, limit: number): ScriptCall {
  return { script: LONG_OPEN, keys: [keys.holds, keys.leases], args: [lease.now, limit] };
}

export function openCall({ budgets: keys }: Keys): ScriptCall {
  return { script: READ_STATE, keys: [keys.state], args: ["h"] };
}

/** Returns the windows that reservations have opened in Redis: pairs of budget and begin. */
export function openWindowsCall({ budgets: keys }: Keys): ScriptCall {
  return { script: READ_STATE, keys: [keys.state], args: ["w"] };
}

/** Forgets the windows of budgets that were set back in the database. */
export function forgetWindowsCall({ budgets: keys }: Keys, ids: readonly number[]) {
  return { command: "hdel", args: [keys.state, ...ids.map((id) => `${id}w`)] };
}
