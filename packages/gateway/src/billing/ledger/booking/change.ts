import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";
import type { BalanceChange } from "../ledger.ts";
import { lockUsers } from "./accounts.ts";
import { refundBudgets } from "../../budgets/sql/sheet.ts";
import { insertLedger } from "./booking.ts";

export interface ChangeContext {
  readonly kind: RawDatabase["kind"];
  /** Epoch milliseconds. */
  readonly at: number;
}

/**
 * Changes a balance inside the caller's transaction; returns false if (requestId, kind) was applied before. A refund
 * also subtracts the amount from the usage of its user, token, channel and budgets.
 */
export async function applyChange(
  tx: RawTransaction,
  change: BalanceChange,
  { kind, at }: ChangeContext,
): Promise<boolean> {
  const { requestId, userId, tokenId = 0, channelId = 0, quota, detail = "" } = change;
  await lockUsers(tx, kind, [userId]);
  const known = await tx.rows("select 1 as one from ledger where request_id = ? and kind = ?", [
    requestId,
    change.kind,
  ]);
  if (known.length > 0) return false;
  await tx.run("update users set quota = quota + ? where id = ?", [quota, userId]);
  if (change.kind === "refund") await unuse(tx, { userId, tokenId, channelId, quota });
  await insertLedger(tx, { requestId, kind: change.kind, userId, tokenId, channelId, quota, detail, at });
  if (change.kind === "refund") await refundBudgets(tx, requestId, quota, { kind, now: at });
  return true;
}

/** Called after each change, in its transaction. */
export type AfterChange = (tx: RawTransaction, change: BalanceChange, at: number) => Promise<void>;

/**
 * Applies changes in one transaction with what `work` writes, and returns them; undefined if there was nothing to apply
 * or any of them was applied before, which undoes all.
 */
export function applyAll(
  database: RawDatabase,
  work: (tx: RawTransaction) => Promise<readonly BalanceChange[]>,
  { at, after }: { readonly at: () => number; readonly after?: AfterChange },
): Promise<readonly BalanceChange[] | undefined> {
  const { kind } = database;
  return applyOnce(database, async (tx) => {
    const changes = await work(tx);
    if (changes.length === 0) return undefined;
    const now = at();
    await lockUsers(
      tx,
      kind,
      changes.map(({ userId }) => userId),
    );
    for (const change of changes) {
      if (!(await applyChange(tx, change, { kind, at: now }))) return { change: changes, isNew: false };
      await after?.(tx, change, now);
    }
    return { change: changes, isNew: true };
  });
}

/** Returns the work of a single change as that of a list. */
export function toListWork(
  work: (tx: RawTransaction) => Promise<BalanceChange | undefined>,
): (tx: RawTransaction) => Promise<readonly BalanceChange[]> {
  return async (tx) => {
    const change = await work(tx);
    return change ? [change] : [];
  };
}

interface Refund {
  readonly userId: number;
  readonly tokenId: number;
  readonly channelId: number;
  readonly quota: number;
}

async function unuse(tx: RawTransaction, { userId, tokenId, channelId, quota }: Refund): Promise<void> {
  await tx.run("update users set used_quota = used_quota - ? where id = ?", [quota, userId]);
  if (tokenId !== 0) {
    await tx.run(
      "update tokens set remain_quota = case when unlimited_quota = 1 then remain_quota else remain_quota + ? end, used_quota = used_quota - ? where id = ?",
      [quota, quota, tokenId],
    );
  }
  if (channelId !== 0) await tx.run("update channels set used_quota = used_quota - ? where id = ?", [quota, channelId]);
}

class AppliedBefore extends Error {
  override readonly name = "AppliedBefore";
}

/**
 * Runs `work` in a transaction and returns the change that it applied, or undefined. `isNew: false` undoes everything
 * that `work` wrote.
 */
export async function applyOnce<Change>(
  database: RawDatabase,
  work: (tx: RawTransaction) => Promise<{ readonly change: Change; readonly isNew: boolean } | undefined>,
): Promise<Change | undefined> {
  try {
    return await database.transaction(async (tx) => {
      const applied = await work(tx);
      if (applied && !applied.isNew) throw new AppliedBefore();
      return applied?.change;
    });
  } catch (error) {
    if (error instanceof AppliedBefore) return undefined;
    throw error;
  }
}
