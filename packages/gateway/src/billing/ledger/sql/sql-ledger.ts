import type { Clock } from "../../../lib/clock.ts";
import type { Logger } from "../../../observability/log.ts";
import type { RawDatabase } from "../../../storage/engines/raw.ts";
import type { Ledger } from "../ledger.ts";
import type { Budget } from "../../budgets/budget.ts";
import { ReservedInMemory } from "../../budgets/sql/memory.ts";
import type { WrittenBudgets } from "../../budgets/sql/sheet.ts";
import { createLogOutbox, type SeparateLog } from "../log-outbox.ts";
import { applyAll, toListWork } from "../booking/change.ts";
import { bookClosedDeposit, bookDeposit, type BookedDeposit, type DepositDeps } from "../booking/deposits.ts";
import { createHolds } from "./holds.ts";
import { createLeaseTime } from "../../reservations/lease-time.ts";
import { reapExpired } from "./reaper.ts";
import { renewRunning } from "./renewal.ts";
import { createSettlements } from "./settlements.ts";

export interface SqlLedgerSettings {
  readonly database: RawDatabase;
  /** Set when `logs` is in a separate database. */
  readonly logDatabase?: SeparateLog;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long a reservation is valid if it is not renewed. */
  readonly leaseMs?: number;
  /** Clock for leases; default: the one of the database. */
  readonly leaseClock?: Clock;
  /** Called when a log row is dropped because the database rejects its content. */
  readonly onLogRowRefused?: (() => void) | undefined;
  /** The balance below which an event is written. */
  readonly balanceLimit?: (() => number) | undefined;
  /** Called after every commit that charged a user; must not throw. */
  readonly onBalance?: (userId: number, before: number, after: number) => void;
  /** Called once for each window when a budget passes a threshold, in percent; must not throw. */
  readonly onThreshold?: ((budget: Budget, percent: number) => void) | undefined;
  /** Reservations of budgets in memory; absent for a database of several processes, which stores them itself. */
  readonly reserved?: ReservedInMemory | undefined;
}

const LEASE_MS = 60_000;

/** The ledger on the SQL database alone. */
export function createSqlLedger(settings: SqlLedgerSettings): Ledger {
  const { database, logDatabase, clock, log, leaseMs = LEASE_MS, onBalance, onLogRowRefused } = settings;
  const onBudgets = ({ passed }: WrittenBudgets) => {
    for (const [budget, percent] of passed) settings.onThreshold?.(budget, percent);
  };
  const outbox = logDatabase && createLogOutbox({ database, logDatabase, log });
  const isLogSeparate = outbox !== undefined;
  const { reserved = database.kind === "sqlite" ? new ReservedInMemory() : undefined } = settings;
  const leaseTime = createLeaseTime(database.kind, settings.leaseClock);
  const holdDeps = { database, clock, log, leaseMs, leaseTime, reserved };
  const { hold, budgets } = createHolds(holdDeps);
  const settlements = createSettlements({
    ...settings,
    isLogSeparate,
    onBalance,
    onLogRowRefused,
    onCommit: () => outbox?.kick(),
    budgets,
    onBudgets,
    reserved,
  });

  const changeAllWith: Ledger["changeAllWith"] = async (work) => {
    const applied = await applyAll(database, work, { at: () => clock.now() });
    outbox?.kick();
    return applied !== undefined;
  };

  const changeWith: Ledger["changeWith"] = (work) => changeAllWith(toListWork(work));

  const depositDeps = { ...settings, isLogSeparate, onLogRowRefused, reserved, isLive: false };
  const onBooked = ({ user, charged, budgets: written }: BookedDeposit) => {
    outbox?.kick();
    onBudgets(written);
    if (user && charged !== 0) onBalance?.(user.id, user.quota, user.quota - charged);
  };

  return {
    hold,
    budgets,
    renew: (open, seen, amount) => renewRunning(holdDeps, open, seen, amount),
    settle: (settlement) => settlements.close({ hold: settlement.hold, settlement }),
    release: (open) => settlements.close({ hold: open, settlement: undefined }),
    change: (change) => changeWith(() => Promise.resolve(change)),
    changeWith,
    changeAllWith,
    ...createDeposits(depositDeps, { onBooked, onTaken: (requestId) => void budgets.take(requestId) }),
    // The row of a token shows what is used and held, and a transaction reads both.
    claimed: () => Promise.resolve(0),
    async reap() {
      const reaped = await reapExpired({ ...holdDeps, isLogSeparate, onBudgets });
      // Log rows written without a charge trigger no move of the outbox; this runs every few seconds.
      outbox?.kick();
      return reaped;
    },
    async flush() {
      await settlements.idle();
      await outbox?.drained();
    },
    get pending() {
      return settlements.pending;
    },
  };
}

interface DepositFollowers {
  onBooked(booked: BookedDeposit): void;
  /** The reservation in budgets is part of the deposit now. */
  onTaken(requestId: string): void;
}

function createDeposits(
  deps: DepositDeps,
  { onBooked, onTaken }: DepositFollowers,
): Pick<Ledger, "deposit" | "closeDeposit"> {
  return {
    async deposit(open, terms) {
      const booked = await bookDeposit({ hold: open, terms, held: undefined }, deps);
      onTaken(open.requestId);
      if (booked) onBooked(booked);
    },
    async closeDeposit(close) {
      const booked = await bookClosedDeposit(close, deps);
      if (booked) onBooked(booked);
      return booked !== undefined;
    },
  };
}
