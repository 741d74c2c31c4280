import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../../../lib/clock.ts";
import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";
import { recordBalances, type BalanceEventDeps } from "./balance-events.ts";
import { insertMovements, ledgerIds, ledgerKey, type Movement } from "./balance-outbox.ts";
import { decideCharges, type Outcome } from "./charge-booking.ts";
import type { Charge } from "../charge.ts";
import type { Hold } from "../ledger.ts";
import { lockUsers, type UserBalance } from "./accounts.ts";
import { Booking, type OpenHold } from "./booking.ts";
import type { LeaseTime } from "../../reservations/lease-time.ts";
import { reapedCharge } from "./reaped-charge.ts";
import { isLogRowToBlame, REFUSALS, takesWrites, withoutLogRow, type LogRowRecoveryDeps } from "../log-row-recovery.ts";
import { buildBudgetCloses } from "./charge-close.ts";
import { closeBudgets, type BookedBudgets } from "../../budgets/sql/sheet.ts";
import { inList } from "../../../storage/statements.ts";

export interface DirectSettlementDeps extends LogRowRecoveryDeps, BalanceEventDeps {
  readonly database: RawDatabase;
  readonly clock: Clock;
  readonly leaseTime: LeaseTime;
  /** False if there are no live balances to update. Default: true. */
  readonly isLive?: boolean;
  /** Called after a commit with the users whose live balances must be updated. */
  readonly onCommit: (userIds: readonly number[]) => void;
  readonly onBalance: ((user: UserBalance, charged: number) => void) | undefined;
  /** Called after a commit. */
  readonly onBudgets: (booked: BookedBudgets) => void;
}

/**
 * Books charges in the database without Redis: for requests that were reserved in the database while Redis was
 * unavailable, and for settlements whose reservation Redis no longer has. The same transaction writes the outbox rows
 * that update live balances.
 */
export interface DirectSettlement {
  /**
   * Books the charges that the database does not have yet. Throws database errors. A charge that the database rejects
   * does not block the others; if its log row is the cause, it is booked without that row.
   */
  book(charges: readonly Charge[]): Promise<void>;
  /** Releases a reservation in the database. */
  release(hold: Hold): Promise<void>;
  /** Charges expired reservations in the database; returns how many. */
  reap(): Promise<number>;
}

export function createDirectSettlement(deps: DirectSettlementDeps): DirectSettlement {
  const { database } = deps;
  return {
    async book(charges) {
      try {
        await bookAll(charges, deps);
      } catch (error) {
        if (!(await takesWrites(database))) throw error;
        await bookEach(charges, deps);
      }
    },
    async release(hold) {
      await database.transaction(async (tx) => {
        await lockUsers(tx, database.kind, [hold.userId]);
        const booking = new Booking();
        for (const open of await openHolds(tx, [hold.requestId])) booking.close(open);
        await booking.write(tx, database.kind, deps.isLogSeparate);
        const now = deps.clock.now();
        const close = { requestId: hold.requestId, ids: [], charged: undefined, at: now };
        await closeBudgets(tx, [close], { kind: database.kind, now });
      });
    },
    async reap() {
      const now = deps.clock.now();
      const ended = deps.leaseTime.at();
      const sql = `select request_id, user_id, token_id, amount, seen from holds where lease_until <= ${ended.sql} order by lease_until limit ${REAPED_AT_ONCE}`;
      let reaped = 0;
      for (const hold of await database.rows<ExpiredHold>(sql, ended.values)) {
        if (await reapOne(hold, now, deps)) reaped += 1;
      }
      return reaped;
    },
  };
}

type ExpiredHold = OpenHold & { readonly seen: string };

const REAPED_AT_ONCE = 200;
const REFUSED_PAUSE_MS = 100;

/** Reaps one reservation; returns false if it was renewed, settled or reaped in the meantime. */
async function reapOne(
  { request_id, user_id }: ExpiredHold,
  now: number,
  deps: DirectSettlementDeps,
): Promise<boolean> {
  const { database } = deps;
  const booked = await database.transaction(async (tx) => {
    await lockUsers(tx, database.kind, [user_id]);
    // A renewal does not lock the user row; this update blocks it until the commit.
    const ended = deps.leaseTime.at();
    const lock = `update holds set lease_until = 0 where request_id = ? and lease_until <= ${ended.sql}`;
    if ((await tx.run(lock, [request_id, ...ended.values])) === 0) return undefined;
    const sql = "select request_id, user_id, token_id, amount, seen from holds where request_id = ?";
    const [hold] = await tx.rows<ExpiredHold>(sql, [request_id]);
    return hold && bookIn(tx, [reapedCharge(hold, now)], deps);
  });
  if (!booked) return false;
  deps.onBudgets(booked.budgets);
  deps.log.warn("an expired reservation was settled at its last reported usage", { request_id });
  deps.onCommit([user_id]);
  return true;
}

async function bookAll(charges: readonly Charge[], deps: DirectSettlementDeps): Promise<void> {
  let rest = charges;
  while (rest.length > 0) rest = await bookSome(rest, deps);
}

/** Books each charge in its own transaction; throws after all were tried. */
async function bookEach(charges: readonly Charge[], deps: DirectSettlementDeps): Promise<void> {
  const failures: unknown[] = [];
  for (const charge of charges) await bookAlone(charge, deps).catch((error: unknown) => failures.push(error));
  const [cause] = failures;
  if (failures.length > 0) throw new Error(`the database refuses ${failures.length} charges`, { cause });
}

async function bookAlone(charge: Charge, deps: DirectSettlementDeps): Promise<void> {
  for (let refusals = 1; ; refusals += 1) {
    try {
      return await bookAll([charge], deps);
    } catch (error) {
      const { settlement } = charge;
      if (!settlement.log || !(await takesWrites(deps.database))) throw error;
      if (await isLogRowToBlame(settlement, { error, refusals }, deps))
        return bookAll([{ ...charge, settlement: withoutLogRow(settlement, error, deps) }], deps);
      // The caller retries the charge with its log row later.
      if (refusals > REFUSALS) throw error;
      await pause(REFUSED_PAUSE_MS * refusals);
    }
  }
}

/** Books charges in one transaction; returns those that need another one. */
async function bookSome(charges: readonly Charge[], deps: DirectSettlementDeps): Promise<Charge[]> {
  const { database, onBalance } = deps;
  const { outcomes, users, booking, budgets } = await database.transaction((tx) => bookIn(tx, charges, deps));
  deps.onBudgets(budgets);
  const moved = charges.filter((_, at) => movedBy(outcomes[at]) !== 0);
  deps.onCommit(moved.map(({ settlement }) => settlement.hold.userId));
  if (onBalance) for (const user of users.values()) onBalance(user, booking.calculateUserCharge(user.id));
  return charges.filter((_, at) => outcomes[at]?.kind === "later");
}

async function bookIn(tx: RawTransaction, charges: readonly Charge[], deps: DirectSettlementDeps) {
  const { kind } = deps.database;
  const { clock, isLogSeparate, isLive = true } = deps;
  const booked = await decideCharges(tx, kind, charges);
  const requestIds = charges.map(({ settlement }) => settlement.hold.requestId);
  for (const open of await openHolds(tx, requestIds)) booked.booking.close(open);
  await booked.booking.write(tx, kind, isLogSeparate);
  await recordBalances(tx, booked, deps);
  const now = clock.now();
  if (isLive) {
    const ids = await ledgerIds(tx, requestIds);
    const movements = charges.flatMap((charge, at) => buildMovements(charge, booked.outcomes[at], ids));
    await insertMovements(tx, kind, movements, now);
  }
  const closes = buildBudgetCloses(charges, booked.outcomes);
  const written = await closeBudgets(tx, closes, { kind, now });
  return { ...booked, budgets: { ...written, ended: closes.map(({ requestId }) => requestId) } };
}

function buildMovements(
  { settlement: { hold } }: Charge,
  outcome: Outcome | undefined,
  ids: ReadonlyMap<string, number>,
): Movement[] {
  const quota = movedBy(outcome);
  if (quota === 0) return [];
  const { requestId, userId, tokenId } = hold;
  const ledgerId = ids.get(ledgerKey(requestId, outcome?.kind === "corrected" ? "correct" : "consume"));
  if (ledgerId === undefined) throw new Error("a booked charge has no ledger row");
  return [{ ledgerId, userId, tokenId, quota }];
}

function movedBy(outcome: Outcome | undefined): number {
  return outcome?.kind === "booked" || outcome?.kind === "corrected" ? outcome.moved : 0;
}

function openHolds(tx: RawTransaction, requestIds: readonly string[]): Promise<OpenHold[]> {
  const { marks, values } = inList(requestIds);
  return tx.rows<OpenHold>(
    `select request_id, user_id, token_id, amount from holds where request_id in ${marks}`,
    values,
  );
}
