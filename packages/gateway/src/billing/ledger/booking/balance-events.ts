import { recordRawEvent, type NewEvent } from "../../../events/record-event.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Logger } from "../../../observability/log.ts";
import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";
import type { UserBalance } from "./accounts.ts";
import type { Booking } from "./booking.ts";

export interface BalanceEventDeps {
  readonly database: Pick<RawDatabase, "kind">;
  readonly clock: Clock;
  /** The balance below which owners are reminded who set none; without it, no events are written. */
  readonly balanceLimit?: (() => number) | undefined;
}

/** Called after a commit that charged a user. */
export type OnBalance = (userId: number, before: number, after: number) => void;

/** Tells the listener that a balance was charged. A listener that fails does not fail the booking. */
export function tellBalance(
  { id, quota: before }: UserBalance,
  charged: number,
  { onBalance, log }: { readonly onBalance?: OnBalance | undefined; readonly log: Logger },
): void {
  if (charged === 0) return;
  try {
    onBalance?.(id, before, before - charged);
  } catch (error) {
    log.error("balance listener failed", { error, userId: id });
  }
}

/**
 * Writes an event for each balance that this transaction took below the limit or to zero. A charge that crosses
 * nothing writes nothing.
 */
export async function recordBalances(
  tx: RawTransaction,
  { users, booking }: { readonly users: ReadonlyMap<number, UserBalance>; readonly booking: Booking },
  { database, clock, balanceLimit }: BalanceEventDeps,
): Promise<void> {
  if (!balanceLimit) return;
  const usual = balanceLimit();
  for (const { id, quota: before, balance_limit: own } of users.values()) {
    const limit = own ?? usual;
    const after = before - booking.calculateUserCharge(id);
    const type = findCrossing(before, after, limit);
    if (!type) continue;
    const atMs = clock.now();
    // The row of the user is locked, so no two crossings of one balance have the same millisecond and amount.
    const dedupKey = `${type}:${id}:${atMs}:${after}`;
    const whose = await findOwner(tx, id);
    const event: NewEvent = {
      type,
      atMs,
      accountId: id,
      ...whose,
      dedupKey,
      data: { balance: Math.max(0, after), limit },
    };
    await recordRawEvent(tx, database.kind, event);
  }
}

function findCrossing(before: number, after: number, limit: number): "balance.empty" | "balance.low" | undefined {
  if (before > 0 && after <= 0) return "balance.empty";
  return before >= limit && after < limit ? "balance.low" : undefined;
}

/** A wallet belongs to a team; every other account is a person. */
async function findOwner(tx: RawTransaction, accountId: number): Promise<Pick<NewEvent, "userId" | "teamId">> {
  const [team] = await tx.rows<{ id: number }>("select id from teams where account_id = ?", [accountId]);
  return team ? { teamId: team.id } : { userId: accountId };
}
