import type { Clock } from "../../../lib/clock.ts";
import type { Logger } from "../../../observability/log.ts";
import type { RedisClient } from "../../../redis/client.ts";
import type { RawDatabase } from "../../../storage/engines/raw.ts";
import type { Budget } from "../../budgets/budget.ts";
import type { LedgerState } from "./recovery/epoch-store.ts";
import type { OnBalance } from "../booking/balance-events.ts";
import type { SeparateLog } from "../log-outbox.ts";
import type { OnOutage } from "../../reservations/live-reservations.ts";

/** Events for metrics. */
interface LedgerEvents {
  /** Called when a new request finds Redis unavailable. */
  outageHold(mode: OnOutage): void;
  /** Called when a charge could not be booked; `isFinal` is true if it is not retried. */
  settlementFailed(isFinal: boolean): void;
  /** Called when a log row is dropped because the database rejects its content. */
  logRowRefused?(): void;
  /** Called after a commit of the settler with one of the requests that it charged. */
  committed?(requestId: string): void;
  /** Called when charges of a journal were booked that neither Redis nor the database had. */
  recovered?(count: number): void;
}

export interface RedisLedgerSettings {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
  /** Set when `logs` is in a separate database. */
  readonly logDatabase?: SeparateLog;
  readonly state: LedgerState;
  readonly clock: Clock;
  readonly log: Logger;
  /** Folder for the journals of all processes on this machine. */
  readonly journalDir: string;
  readonly instanceId: string;
  /** How long the journal keeps charges that Redis has. Default: ten minutes. */
  readonly retentionMs?: number;
  /** How long Redis has booked charges too, for a database that goes back. Default: 0, not at all. */
  readonly retainMs?: number;
  readonly onOutage: OnOutage;
  readonly events: LedgerEvents;
  readonly leaseMs?: number;
  /** Clock for leases; default: the clock of Redis, which all replicas share. */
  readonly leaseClock?: Clock;
  readonly barrierMs?: number;
  /** A settler that holds charges for longer than this counts as dead. */
  readonly abandonedMs?: number;
  /** Number of unbooked charges above which new requests are refused. */
  readonly maxBacklog?: number;
  /** Called once for each window when a budget passes a threshold, in percent; must not throw. */
  readonly onThreshold?: ((budget: Budget, percent: number) => void) | undefined;
  /** The balance below which an event is written. */
  readonly balanceLimit?: (() => number) | undefined;
  readonly onBalance?: OnBalance;
}
