// Types that the reservations of the ledger and those of budgets share while they are in Redis.

/** How a new request is treated while Redis is unavailable: it is refused, or reserved in the database. */
export type OnOutage = "deny" | "sql";

export interface Lease {
  /** Epoch milliseconds; 0 = use the clock of Redis, which all replicas share. */
  readonly now: number;
  readonly leaseMs: number;
}

/** Restores a Redis that has lost its data. Reservations wait for it. */
export interface RecoveryGate {
  /** Called when a script finds its shard closed. */
  closed(): void;
  /** Resolves when no recovery is running, or after `ms`. */
  settled(ms: number): Promise<void>;
}
