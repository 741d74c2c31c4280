import { recordBalances, tellBalance, type BalanceEventDeps, type OnBalance } from "../booking/balance-events.ts";
import { setTimeout as pause } from "node:timers/promises";
import { waitForTurnEnd } from "../../../lib/async/batcher.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Logger } from "../../../observability/log.ts";
import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";
import type { Hold, Settlement } from "../ledger.ts";
import { isLogRowToBlame, takesWrites, withoutLogRow, type LogRowRecoveryDeps } from "../log-row-recovery.ts";
import { lockUsers, type UserBalance } from "../booking/accounts.ts";
import { Booking, type OpenHold, REAPED, REAPED_UNUSED } from "../booking/booking.ts";
import { inList } from "../../../storage/statements.ts";
import { buildBudgetClose } from "../booking/charge-close.ts";
import { closeBudgets, type BudgetClose, type WrittenBudgets } from "../../budgets/sql/sheet.ts";
import type { ReservedInMemory } from "../../budgets/sql/memory.ts";
import type { SqlBudgets } from "../../budgets/sql/reservations.ts";

/** Settlements per transaction. */
const BATCH = 256;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

export interface SettlementDeps extends LogRowRecoveryDeps, BalanceEventDeps {
  readonly database: RawDatabase;
  /** Called after the commit, once per user and transaction. */
  readonly onBalance: OnBalance | undefined;
  /** Called after each commit. */
  readonly onCommit: () => void;
  readonly clock: Clock;
  readonly budgets: Pick<SqlBudgets, "take">;
  readonly reserved: ReservedInMemory | undefined;
  readonly onBudgets: (written: WrittenBudgets) => void;
}

/** A hold to close: with a settlement, or released without one. */
export interface Closing {
  readonly hold: Hold;
  readonly settlement: Settlement | undefined;
}

interface Waiting {
  closing: Closing;
  /** Budgets in which the request may have reserved. */
  readonly asked: ReadonlySet<number> | undefined;
  readonly resolve: () => void;
  /** Number of times that a database that accepts other writes has rejected it. */
  refusals: number;
}

export interface Settlements {
  /** Resolves when the transaction is committed. Never rejects: failures are retried. */
  close(closing: Closing): Promise<void>;
  readonly pending: number;
  /** Resolves when no entry is waiting. */
  idle(): Promise<void>;
}

export function createSettlements(deps: SettlementDeps): Settlements {
  const waiting: Waiting[] = [];
  let running: Promise<void> | undefined;

  const run = async () => {
    await waitForTurnEnd();
    let failures = 0;
    // After a failure, each entry of the batch gets its own transaction: one rejected row must not block the others.
    let alone = 0;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, alone > 0 ? 1 : BATCH);
      const error = await bookAll(batch, deps);
      if (error === undefined) {
        waiting.splice(0, batch.length);
        for (const { resolve } of batch) resolve();
        failures = 0;
        alone = Math.max(alone - 1, 0);
        continue;
      }
      failures += 1;
      deps.log.error("settlement failed and will be retried", { error, waiting: waiting.length, failures });
      if (batch.length > 1) alone = batch.length;
      else await setAside(waiting, error, deps);
      await pause(Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS));
    }
    running = undefined;
  };

  return {
    close: (closing) =>
      new Promise((resolve) => {
        waiting.push({ closing, asked: deps.budgets.take(closing.hold.requestId), resolve, refusals: 0 });
        running ??= run();
      }),
    get pending() {
      return waiting.length;
    },
    async idle() {
      while (running) await running;
    },
  };
}

/** Moves the failed entry to the back of the queue, without its log row if that row caused the failure. */
async function setAside(waiting: Waiting[], error: unknown, deps: SettlementDeps): Promise<void> {
  const failed = waiting.shift();
  if (!failed) return;
  waiting.push(failed);
  const { hold, settlement } = failed.closing;
  if (!settlement?.log || !(await takesWrites(deps.database))) return;
  failed.refusals += 1;
  if (await isLogRowToBlame(settlement, { error, refusals: failed.refusals }, deps))
    failed.closing = { hold, settlement: withoutLogRow(settlement, error, deps) };
}

async function bookAll(batch: readonly Waiting[], deps: SettlementDeps): Promise<unknown> {
  try {
    const { users, booking, budgets } = await deps.database.transaction((tx) => closeAll(tx, batch, deps));
    deps.onCommit();
    deps.onBudgets(budgets);
    if (deps.onBalance)
      for (const user of users.values()) tellBalance(user, booking.calculateUserCharge(user.id), deps);
    return undefined;
  } catch (error) {
    return error ?? new Error("the transaction failed without an error");
  }
}

interface Closed {
  readonly users: ReadonlyMap<number, UserBalance>;
  readonly booking: Booking;
  readonly budgets: WrittenBudgets;
}

async function closeAll(tx: RawTransaction, batch: readonly Waiting[], deps: SettlementDeps): Promise<Closed> {
  const { kind } = deps.database;
  const closings = batch.map(({ closing }) => closing);
  const users = await lockUsers(
    tx,
    kind,
    closings.map(({ hold }) => hold.userId),
  );
  const open = await openHolds(tx, closings);
  const booking = new Booking();
  const late: Settlement[] = [];
  const consumed = new Set<Settlement>();
  for (const { hold, settlement } of closings) {
    const held = open.get(hold.requestId);
    // Also deleted here, so that a second closing of the same request finds nothing.
    open.delete(hold.requestId);
    if (held) booking.close(held);
    if (held && settlement) {
      booking.consume(settlement);
      consumed.add(settlement);
    }
    if (!held && settlement) late.push(settlement);
  }
  const corrected = late.length > 0 ? await correctReaped(tx, late, { booking, log: deps.log }) : new Set<Settlement>();
  await booking.write(tx, kind, deps.isLogSeparate);
  await recordBalances(tx, { users, booking }, deps);
  const closes = batch.flatMap(({ closing: { hold, settlement }, asked = NOT_ASKED }) => {
    const isCorrection = settlement !== undefined && corrected.has(settlement);
    const isCharged = isCorrection || (settlement !== undefined && consumed.has(settlement));
    return budgetClose(hold.requestId, { settlement: isCharged ? settlement : undefined, isCorrection, asked }, deps);
  });
  const settings = { kind, now: deps.clock.now(), reserved: deps.reserved };
  return { users, booking, budgets: await closeBudgets(tx, closes, settings) };
}

const NOT_ASKED: ReadonlySet<number> = new Set();

interface BudgetEnd {
  /** The settlement of a request that is charged in this transaction. */
  readonly settlement: Settlement | undefined;
  readonly isCorrection: boolean;
  readonly asked: ReadonlySet<number>;
}

/** Returns the closing of budgets; none for a request without budgets. */
function budgetClose(requestId: string, end: BudgetEnd, { clock }: Pick<SettlementDeps, "clock">): BudgetClose[] {
  const { settlement, isCorrection, asked } = end;
  const close = settlement ? buildBudgetClose(settlement, { isCorrection }) : undefined;
  if (close) return [{ ...close, asked }];
  return asked.size === 0 ? [] : [{ requestId, ids: [], charged: undefined, at: clock.now(), asked }];
}

async function openHolds(tx: RawTransaction, closings: readonly Closing[]): Promise<Map<string, OpenHold>> {
  const { marks, values } = inList(closings.map(({ hold }) => hold.requestId));
  const sql = `select request_id, user_id, token_id, amount from holds where request_id in ${marks}`;
  const rows = await tx.rows<OpenHold>(sql, values);
  return new Map(rows.map((row) => [row.request_id, row]));
}

interface BookedRow {
  readonly request_id: string;
  readonly kind: string;
  readonly channel_id: number;
  readonly quota: number;
  readonly detail: string;
}

/**
 * Corrects requests without a reservation, which were settled, released or reaped before; only reaped ones need a
 * correction. Returns the settlements that correct.
 */
async function correctReaped(
  tx: RawTransaction,
  late: readonly Settlement[],
  { booking, log }: { readonly booking: Booking; readonly log: Logger },
): Promise<Set<Settlement>> {
  const corrected = new Set<Settlement>();
  const { marks, values } = inList(late.map(({ hold }) => hold.requestId));
  const sql = `select request_id, kind, channel_id, quota, detail from ledger where request_id in ${marks} and kind in ('consume', 'correct')`;
  const booked = new Map<string, BookedRow[]>();
  for (const row of await tx.rows<BookedRow>(sql, values)) {
    booked.set(row.request_id, [...(booked.get(row.request_id) ?? []), row]);
  }
  for (const settlement of late) {
    const { requestId } = settlement.hold;
    const rows = booked.get(requestId) ?? [];
    const consumed = rows.find(({ kind }) => kind === "consume");
    const isReaped = consumed?.detail === REAPED || consumed?.detail === REAPED_UNUSED;
    if (consumed && isReaped && rows.length === 1) {
      booking.correct(settlement, consumed);
      corrected.add(settlement);
      booked.set(requestId, [consumed, { ...consumed, kind: "correct" }]);
    } else if (!consumed) log.warn("settlement without a reservation, not charged", { request_id: requestId });
  }
  return corrected;
}
