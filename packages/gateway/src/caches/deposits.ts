import { quota as toQuota, ZERO, type Quota } from "../billing/money/quota.ts";
import { readExact } from "../billing/money/ratio.ts";
import type { Caller } from "../identity/authentication/caller.ts";
import { AppError } from "../lib/app-error.ts";
import { reserveLong, type LongReservation } from "../relay/reservation/deposit-reservation.ts";
import { buildStorageLog } from "./log-rows.ts";
import { calculateStorage, calculateStorageDeposit } from "./storage-price.ts";
import { buildStorageId, listDeposits, markReturned, rememberDeposit, removeCache } from "./store.ts";
import type { CacheRow, StoredCacheDeps } from "./types.ts";

/** Reserves an amount of a cache. */
export function reserveFor(
  row: CacheRow,
  { id, caller, amount }: { readonly id: string; readonly caller: Caller; readonly amount: Quota },
  deps: StoredCacheDeps,
): Promise<LongReservation> {
  const tags = { text: row.tags, endUser: row.end_user };
  return reserveLong({ id, caller, model: row.model, tags, target: toTarget(row), amount }, deps);
}

/** Returns where budgets count a cache. */
export function toTarget({ channel_id: id, serving_group: group }: CacheRow) {
  return { channel: { id }, group };
}

/** Books a reservation as a deposit that closing the cache returns. */
export async function bookDeposit(
  row: CacheRow,
  { id, amount, reserved }: { readonly id: string; readonly amount: Quota; readonly reserved: LongReservation },
  deps: StoredCacheDeps,
): Promise<void> {
  const deposit = { request_id: id, cache_id: row.id, user_id: row.user_id, amount };
  const remembered = await rememberDeposit(deps, row, deposit);
  if (remembered === "closed") throw new AppError("cache_not_found", { values: { id: row.id } });
  if (remembered === "taken") throw refuseSecondChange();
  await reserved.reservation.deposit(toTarget(row), amount);
}

/**
 * Takes a further deposit for a cache that is to end later; nothing if the deposits cover it. Throws
 * `insufficient_user_quota` and the other refusals of balances and budgets. Returns a function that returns it.
 */
export async function growDeposit(
  row: CacheRow,
  { endsAt, caller }: { readonly endsAt: number; readonly caller: Caller },
  deps: StoredCacheDeps,
): Promise<() => Promise<void>> {
  const deposits = await listDeposits(deps, row.id);
  const covered = deposits.reduce((sum, { amount }) => sum + amount, 0);
  const span = { tokens: row.tokens, seconds: endsAt - row.created_at };
  const missing = calculateStorageDeposit(span, readExact(row.rate)) - covered;
  if (missing <= 0) return () => Promise.resolve();
  const id = buildStorageId(row.request_id, deposits.length + 1);
  const amount = toQuota(missing);
  const reserved = await reserveFor(row, { id, caller, amount }, deps);
  try {
    await bookDeposit(row, { id, amount, reserved }, deps);
  } catch (error) {
    await reserved.release();
    throw error;
  }
  return () => returnDeposit(row, id, deps);
}

async function returnDeposit(row: CacheRow, requestId: string, { ledger, clock }: StoredCacheDeps): Promise<void> {
  await ledger.closeDeposit({
    requestId,
    userId: row.user_id,
    tokenId: row.token_id,
    at: clock.now(),
    settlements: [],
    work: (tx) => markReturned(tx, requestId),
  });
}

function refuseSecondChange(): AppError {
  const reason = "Another call changes this cache. Try again in a moment.";
  return new AppError("invalid_request", { status: 409, retryable: true, retryAfterMs: 1_000, values: { reason } });
}

/** Thrown inside of a transaction, which it rolls back. */
class StillGrowing extends Error {}

const TRIES = 5;

/**
 * Returns all deposits of a cache, charges its storage until `endedAt` (epoch seconds) and removes it, once
 * however many calls do it. A cache that never began costs nothing.
 */
export async function closeCache(row: CacheRow, endedAt: number, deps: StoredCacheDeps): Promise<void> {
  for (let left = TRIES; ; left--) {
    const first = buildStorageId(row.request_id, 1);
    const deposits = await listDeposits(deps, row.id);
    for (const { request_id: id, amount } of deposits)
      if (id !== first && amount > 0) await returnDeposit(row, id, deps);
    const deposit = deposits.reduce((sum, { amount }) => sum + amount, 0);
    try {
      await closeFirst(row, { endedAt, deposit }, deps);
      return;
    } catch (error) {
      // A call has lengthened the cache meanwhile; the next try returns its deposit too.
      if (!(error instanceof StillGrowing) || left === 1) throw error;
    }
  }
}

async function closeFirst(
  row: CacheRow,
  { endedAt, deposit }: { readonly endedAt: number; readonly deposit: number },
  deps: StoredCacheDeps,
): Promise<void> {
  const { ledger, clock, database, snapshots } = deps;
  const seconds = Math.max(0, Math.min(endedAt, row.ends_at) - row.created_at);
  const isOpen = row.phase === "open";
  const quota = isOpen ? calculateStorage({ tokens: row.tokens, seconds }, readExact(row.rate)) : ZERO;
  const isLogged = isOpen && snapshots.current().options.LogConsumeEnabled;
  const log = isLogged ? await buildStorageLog(row, { seconds, quota, deposit }, deps) : undefined;
  const settlement = { quota, items: quota > 0 ? 1 : 0, channelId: row.channel_id, ...(log && { log }) };
  await ledger.closeDeposit({
    requestId: buildStorageId(row.request_id, 1),
    userId: row.user_id,
    tokenId: row.token_id,
    at: clock.now(),
    settlements: isOpen ? [settlement] : [],
    async work(tx) {
      if (!(await removeCache(tx, row, database.kind))) throw new StillGrowing();
    },
  });
}
