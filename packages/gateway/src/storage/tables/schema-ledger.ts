import type { Generated } from "kysely";

/** Row types of the ledger tables; see `Schema` for the conventions. */

export interface LedgerTable {
  id: Generated<number>;
  request_id: string;
  kind: string;
  user_id: number;
  token_id: number;
  channel_id: number;
  /** Signed change of the user's balance. */
  quota: number;
  detail: string;
  /** Milliseconds. */
  created_at: number;
}

export interface HoldTable {
  request_id: string;
  user_id: number;
  token_id: number;
  amount: number;
  /** JSON text of the settlement that is due if the request dies now; "" = nothing delivered yet. */
  seen: string;
  /** Milliseconds. */
  lease_until: number;
  created_at: number;
}

/** The value of a counter when the ledger began, such as that of an imported account. */
export interface OpeningCounterTable {
  counter: string;
  id: number;
  amount: number;
}

/** Log rows to move to a separate log database; empty when `logs` is in the main database. */
export interface LogOutboxTable {
  id: Generated<number>;
  request_id: string;
  row: string;
  /** Id of the first row of the batch that is on its way to ClickHouse; 0 = not in it. */
  batch: Generated<number>;
}

/** Movements that were booked without Redis, to apply to the live balances. */
export interface BalanceOutboxTable {
  id: Generated<number>;
  ledger_id: number;
  user_id: number;
  /** 0 = no token. */
  token_id: number;
  /** Signed change of the balance. */
  quota: number;
  /** Milliseconds, like the next; 0 = not applied. */
  created_at: number;
  applied_at: Generated<number>;
}

/** A reservation that a replica without Redis asks others to make there; its hold is a row of `holds` too. */
export interface BalanceShareTable {
  request_id: string;
  user_id: number;
  /** 0 = no token. */
  token_id: number;
  /** The amount to reserve; above `granted` while an extension waits for its answer. */
  wanted: number;
  /** -1 = no larger amount than `wanted`. */
  wished: number;
  is_charged: number;
  /** The limit of the token as the replica knows it: a number, `u` or '' for unknown. */
  token_limit: string;
  limit_revision: number;
  /** -1 = not granted. */
  granted: number;
  /** '' while it waits, then `granted` or the refusal as JSON. */
  answer: string;
  /** Milliseconds of the database. */
  asked_at: number;
}

/** Replicas that have Redis and answer rows of `balance_shares`. */
export interface BalanceKeeperTable {
  replica: string;
  /** Milliseconds of the database. */
  until_at: number;
}

/** Ledger state that must survive a loss of Redis: `epoch` (number) and `installation` (text). */
export interface LedgerStateTable {
  name: string;
  number: number;
  text: string;
}

export interface BudgetTable {
  id: Generated<number>;
  scope: string;
  subject: string;
  period: string;
  /** Hours of a window of the period `hours`; otherwise 0. */
  length: Generated<number>;
  anchor: Generated<string>;
  /** Epoch seconds; 0 = never. */
  ends_at: Generated<number>;
  time_zone: string;
  filter_model: Generated<string>;
  /** `admin`, or `team` for those that a team made. */
  managed_by: Generated<string>;
  /** The template whose value this budget counts; 0 = it was made by itself. */
  template_id: Generated<number>;
  quota_limit: number;
  /** Percentages in ascending order, such as `50,80`; "" = `soft_percent` and 100; "-" = none. */
  thresholds: Generated<string>;
  soft_percent: number;
  /** 1 = an event when the budget is going to be used up before its window ends. */
  forecast: Generated<number>;
  is_hard: number;
  window_start: number;
  /** The highest threshold that was reported in the window. */
  noted: Generated<number>;
  /** Start of the last window in which the forecast and the first refusal were reported. */
  forecast_in: Generated<number>;
  exhausted_in: Generated<number>;
  /** When counting began: with the budget or its last reset. 0 = before this was recorded. */
  created_at: Generated<number>;
  used: Generated<number>;
  /** Reserved in the database; reservations in Redis are not in it. */
  held: Generated<number>;
  /** Increases with each change of `window_start`, `used` and `held`. */
  revision: Generated<number>;
}

/** Budget reservations of running requests. */
export interface BudgetHoldTable {
  request_id: string;
  budget_id: number;
  amount: number;
  /** Milliseconds. */
  lease_until: number;
}

/** Budget charges of requests that may be corrected or refunded. */
export interface BudgetReapedTable {
  request_id: string;
  budget_id: number;
  charged: number;
  /** Milliseconds. */
  closed_at: number;
  /** Milliseconds; the time from which it may be deleted. */
  look_at: number;
}
