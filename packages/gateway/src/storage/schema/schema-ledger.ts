import type { Generated } from "kysely";

/** Row types of the tables of money; the rules of `Schema` hold. */

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

/** Log rows on their way to a log database of its own; empty when logs live in the main database. */
export interface LogOutboxTable {
  id: Generated<number>;
  request_id: string;
  row: string;
}

/** Movements that were booked without passing Redis, for the live balances there to follow. */
export interface BalanceOutboxTable {
  id: Generated<number>;
  ledger_id: number;
  user_id: number;
  /** 0 = the movement concerns no token. */
  token_id: number;
  /** Signed change of the balance. */
  quota: number;
  /** Milliseconds, like the next; 0 = not applied. */
  created_at: number;
  applied_at: Generated<number>;
}

/** Facts about the ledger that outlive Redis: `epoch` (number) and `installation` (text). */
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
  time_zone: string;
  quota_limit: number;
  soft_percent: number;
  is_hard: number;
  window_start: number;
  used: Generated<number>;
  held: Generated<number>;
}

/** What running requests have reserved in budgets. */
export interface BudgetHoldTable {
  request_id: string;
  budget_id: number;
  amount: number;
  /** Milliseconds. */
  lease_until: number;
}

/** What budgets were charged for requests of which the ledger may say more. */
export interface BudgetReapedTable {
  request_id: string;
  budget_id: number;
  charged: number;
  /** Milliseconds. */
  closed_at: number;
  /** Milliseconds at which the ledger is asked again. */
  look_at: number;
}
