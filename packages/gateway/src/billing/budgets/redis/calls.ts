import type { Keys } from "../../../redis/keys.ts";
import type { ScriptCall } from "../../../redis/script.ts";
import type { Lease } from "../../ledger/redis/calls.ts";
import { ORPHAN_MS } from "../sql/sheet.ts";
import type { Budget, Placing } from "../budget.ts";
import { budgetWindow } from "../window.ts";
import { FOLLOW, LONG_OPEN, OPEN_SUMS, PLACE, PUT } from "./scripts.ts";

/** What a request has in live budgets: `amount` in each of `ids`. */
export interface LiveBudgetHold {
  readonly requestId: string;
  readonly userId: number;
  readonly amount: number;
  readonly ids: readonly number[];
}

/** @param now epoch milliseconds of this process, which decide about windows */
export function placeCall({ budgets: keys }: Keys, placing: Placing, lease: Lease, now: number): ScriptCall {
  const { requestId, userId, wanted, amount, wished = "", held } = placing;
  const isHeld = held !== undefined && held.ids.size > 0;
  const terms = wanted.flatMap(({ id, quota_limit: limit, is_hard: isHard, period, time_zone: zone }) => [
    id,
    limit,
    isHard,
    budgetWindow(period, zone, now).start,
  ]);
  return {
    script: PLACE,
    keys: [keys.epoch, keys.state, keys.holds, keys.leases],
    args: [lease.now, ORPHAN_MS],
    item: {
      group: `place ${lease.now}`,
      args: [requestId, userId, amount, wished, isHeld ? "1" : "0", wanted.length, ...terms],
    },
  };
}

/** @param isOpen true for a request that Redis has, false for one that it may have forgotten */
export function putCall({ budgets: keys }: Keys, hold: LiveBudgetHold, lease: Lease, isOpen: boolean): ScriptCall {
  const { requestId, userId, amount, ids } = hold;
  return {
    script: PUT,
    keys: [keys.state, keys.holds, keys.leases],
    args: [lease.now, ORPHAN_MS, isOpen ? "1" : "0"],
    item: {
      group: `put ${lease.now} ${isOpen ? "1" : "0"}`,
      args: [requestId, userId, amount, ids.length, ...ids],
    },
  };
}

export interface Following {
  /** In which the states were read; "" when there are none. */
  readonly epoch: string;
  readonly budgets: readonly Pick<Budget, "id" | "revision" | "window_start" | "used" | "held">[];
  /** Requests that the states contain, or that came to nothing. */
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
  return { script: OPEN_SUMS, keys: [keys.state], args: [] };
}
