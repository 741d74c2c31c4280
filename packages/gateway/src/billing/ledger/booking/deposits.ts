import { recordBalances, type BalanceEventDeps } from "./balance-events.ts";
import { AppError } from "../../../lib/app-error.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";
import { isUnstorable } from "../../../storage/errors.ts";
import { inList } from "../../../storage/statements.ts";
import type { ReservedInMemory } from "../../budgets/sql/memory.ts";
import { closeBudgets, rememberedBudgets, type BookedBudgets } from "../../budgets/sql/sheet.ts";
import type { DepositClose, DepositTerms, Hold } from "../ledger.ts";
import type { LogRowRecoveryDeps } from "../log-row-recovery.ts";
import { lockUsers, type UserBalance } from "./accounts.ts";
import { insertMovements, ledgerIds } from "./balance-outbox.ts";
import { Booking, buildSettlementId, type OpenHold } from "./booking.ts";
import { applyOnce } from "./change.ts";
import { openCounter } from "./opening-counter.ts";

export interface DepositDeps extends LogRowRecoveryDeps, BalanceEventDeps {
  readonly database: RawDatabase;
  readonly clock: Clock;
  /** Reservations of budgets in memory instead of the database. */
  readonly reserved?: ReservedInMemory | undefined;
  /** Live balances are outside the database and follow it through the outbox. */
  readonly isLive: boolean;
}

/** What a transaction changed, for those who follow it. */
export interface BookedDeposit {
  /** The user before the transaction; undefined if the row no longer exists. */
  readonly user: UserBalance | undefined;
  /** The amount that the balance lost; negative if it gained. */
  readonly charged: number;
  readonly budgets: BookedBudgets;
}

/** A hold that becomes a deposit, or a part of it. */
export interface Depositing {
  readonly hold: Hold;
  readonly terms: DepositTerms;
  /** The amount that is reserved outside the database; undefined if the reservation is a row of `holds`. */
  readonly held: number | undefined;
}

const RETRY_AFTER_MS = 1_000;

/** Returns the error for a hold that no longer exists: nothing was booked, and the client may ask again. */
export function holdExpired(requestId: string): AppError {
  const cause = new Error(`the reservation of ${requestId} has expired before its deposit was booked`);
  return new AppError("balances_unavailable", { cause, retryAfterMs: RETRY_AFTER_MS });
}

/** Returns true if the request has a deposit, open or closed. */
export async function hasDeposit(database: RawTransaction, requestId: string): Promise<boolean> {
  const sql = "select 1 as one from ledger where request_id = ? and kind = 'deposit'";
  return (await database.rows(sql, [requestId])).length > 0;
}

/** Books a deposit in one transaction; undefined if it was booked before. Throws if the hold no longer exists. */
export function bookDeposit(depositing: Depositing, deps: DepositDeps): Promise<BookedDeposit | undefined> {
  return deps.database.transaction((tx) => writeDeposit(tx, depositing, deps));
}

async function writeDeposit(
  tx: RawTransaction,
  { hold, terms, held }: Depositing,
  deps: DepositDeps,
): Promise<BookedDeposit | undefined> {
  const { database, clock, isLogSeparate, reserved, isLive } = deps;
  const { kind } = database;
  const { requestId, userId, tokenId } = hold;
  const users = await lockUsers(tx, kind, [userId]);
  const booked = await tx.rows<{ kind: string }>("select kind from ledger where request_id = ?", [requestId]);
  if (booked.some((row) => row.kind === "deposit")) return undefined;
  const [open] = await openHolds(tx, requestId);
  const most = held ?? open?.amount;
  if (booked.length > 0 || most === undefined) throw holdExpired(requestId);
  const amount = terms.amount ?? most;
  if (amount < 0 || amount > most) throw new RangeError(`a deposit of ${amount} does not fit a hold of ${most}`);
  const booking = new Booking();
  if (open) booking.close(open);
  booking.deposit(hold, amount, terms.at);
  await booking.write(tx, kind, isLogSeparate);
  await recordBalances(tx, { users, booking }, deps);
  if (isLive) await move(tx, deps, { ids: [requestId], userId, tokenId, quota: 0 - amount });
  const close = { requestId, ids: terms.budgets ?? [], charged: amount, at: terms.at, isRemembered: true };
  const written = await closeBudgets(tx, [close], { kind, now: clock.now(), reserved });
  return { user: users.get(userId), charged: amount, budgets: { ...written, ended: [requestId] } };
}

function openHolds(tx: RawTransaction, requestId: string): Promise<OpenHold[]> {
  const sql = "select request_id, user_id, token_id, amount from holds where request_id = ?";
  return tx.rows<OpenHold>(sql, [requestId]);
}

/**
 * Closes a deposit in one transaction; undefined if it was closed before. If the database cannot store a text of the
 * log rows, the charges are booked without them.
 */
export async function bookClosedDeposit(close: DepositClose, deps: DepositDeps): Promise<BookedDeposit | undefined> {
  const book = (one: DepositClose) =>
    applyOnce(deps.database, async (tx) => {
      const change = await writeClose(tx, one, deps);
      return { change: change ?? NOTHING, isNew: change !== undefined };
    });
  try {
    return await book(close);
  } catch (error) {
    if (!isUnstorable(error) || close.settlements.every(({ log }) => log === undefined)) throw error;
    const settlements = close.settlements.map(({ log: _log, ...rest }) => rest);
    const booked = await book({ ...close, settlements });
    const rows = close.settlements.map(({ log }) => log);
    deps.log.error("the database rejected log rows of a batch; it is booked without them", {
      error,
      request_id: close.requestId,
      rows,
    });
    deps.onLogRowRefused?.();
    return booked;
  }
}

const NOTHING: BookedDeposit = { user: undefined, charged: 0, budgets: { budgets: [], passed: [], ended: [] } };

async function writeClose(
  tx: RawTransaction,
  close: DepositClose,
  deps: DepositDeps,
): Promise<BookedDeposit | undefined> {
  const { database, clock, isLogSeparate, reserved, isLive } = deps;
  const { kind } = database;
  const { requestId, userId, tokenId, at, settlements } = close;
  const users = await lockUsers(tx, kind, [userId]);
  const sql = "select kind, quota from ledger where request_id = ? and kind in ('deposit', 'return')";
  const rows = await tx.rows<{ kind: string; quota: number }>(sql, [requestId]);
  if (rows.some((row) => row.kind === "return")) return undefined;
  const deposited = 0 - (rows[0]?.quota ?? 0);
  const booking = new Booking();
  booking.closeDeposit(close, deposited);
  await booking.write(tx, kind, isLogSeparate);
  await recordBalances(tx, { users, booking }, deps);
  await countItems(tx, kind, close);
  const charged = settlements.reduce((sum, { quota }) => sum + quota, 0);
  const ids = settlements.map((_, index) => buildSettlementId(requestId, index));
  // A user that was deleted while the batch ran has no live balance.
  if (isLive && users.has(userId))
    await move(tx, deps, { ids: [requestId, ...ids], userId, tokenId, quota: deposited - charged });
  await close.work?.(tx);
  const counted = await rememberedBudgets(tx, requestId);
  const ofBudgets = { requestId, ids: counted, charged, at, isCorrection: true, asked: NO_IDS };
  const written = await closeBudgets(tx, [ofBudgets], { kind, now: clock.now(), reserved });
  return { user: users.get(userId), charged: charged - deposited, budgets: { ...written, ended: [] } };
}

const NO_IDS: ReadonlySet<number> = new Set();

/** A row of a batch stands for many requests; the audit counts it as one. */
async function countItems(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  { userId, settlements }: DepositClose,
): Promise<void> {
  const amount = settlements.reduce((sum, { quota, items }) => sum + items - (quota === 0 ? 0 : 1), 0);
  await openCounter(tx, kind, { counter: "requests", id: userId, amount });
}

interface Moved {
  /** Requests with new ledger rows. */
  readonly ids: readonly string[];
  readonly userId: number;
  readonly tokenId: number;
  readonly quota: number;
}

/** Inserts one movement for all rows, so that live balances never have the return without the charges. */
async function move(
  tx: RawTransaction,
  { database, clock }: DepositDeps,
  { ids, userId, tokenId, quota }: Moved,
): Promise<void> {
  if (quota === 0) return;
  const ledgerId = Math.max(...(await ledgerIds(tx, ids)).values());
  const ofToken = tokenId !== 0 && (await isToken(tx, tokenId)) ? tokenId : 0;
  await insertMovements(tx, database.kind, [{ ledgerId, userId, tokenId: ofToken, quota }], clock.now());
}

/** Returns false for a token that was deleted while its batch ran. */
async function isToken(tx: RawTransaction, id: number): Promise<boolean> {
  const { marks, values } = inList([id]);
  return (await tx.rows(`select id from tokens where id in ${marks}`, values)).length > 0;
}
