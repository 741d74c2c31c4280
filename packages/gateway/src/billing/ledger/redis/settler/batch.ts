import type { Clock } from "../../../../lib/clock.ts";
import type { RawDatabase, RawTransaction } from "../../../../storage/engines/raw.ts";
import { recordBalances, type BalanceEventDeps } from "../../booking/balance-events.ts";
import { decideCharges, type Booked } from "../../booking/charge-booking.ts";
import { type Charge, readCharge } from "../../charge.ts";
import { buildBudgetCloses } from "../../booking/charge-close.ts";
import { closeBudgets, type BookedBudgets } from "../../../budgets/sql/sheet.ts";
import { requireEpoch } from "../recovery/epoch-store.ts";

/** One charge from a stream. */
export interface StreamCharge {
  readonly shard: number;
  readonly id: string;
  readonly charge: Charge;
  /** Load ids of the balances that it was deducted from; "" = none. */
  readonly ofUser: string;
  readonly ofToken: string;
  /** True at the first delivery. */
  readonly isFirst: boolean;
}

/** An entry as returned by `XREADGROUP` and `XAUTOCLAIM`. */
export type StreamEntry = readonly [id: string, fields: readonly string[] | null];

/** Parses an entry; undefined if it is not a charge and can never be booked. */
export function streamCharge(shard: number, [id, fields]: StreamEntry, isFirst: boolean): StreamCharge | undefined {
  const [, , , ofUser = "", , ofToken = "", , text = ""] = fields ?? [];
  try {
    return { shard, id, charge: readCharge(text), ofUser, ofToken, isFirst };
  } catch {
    return undefined;
  }
}

export interface BatchDeps extends BalanceEventDeps {
  readonly database: RawDatabase;
  readonly clock: Clock;
  readonly isLogSeparate: boolean;
}

/** Books charges that Redis has deducted from its balances. Throws EpochEnded if Redis may have lost them since. */
export function bookBatch(
  charges: readonly StreamCharge[],
  epoch: number,
  deps: BatchDeps,
): Promise<Booked & { readonly budgets: BookedBudgets }> {
  const { database, clock, isLogSeparate } = deps;
  return database.transaction(async (tx: RawTransaction) => {
    await requireEpoch(tx, database.kind, epoch);
    const list = charges.map(({ charge }) => charge);
    const booked = await decideCharges(tx, database.kind, list);
    await booked.booking.write(tx, database.kind, isLogSeparate);
    await recordBalances(tx, booked, deps);
    const closes = buildBudgetCloses(list, booked.outcomes);
    const written = await closeBudgets(tx, closes, { kind: database.kind, now: clock.now() });
    return { ...booked, budgets: { ...written, ended: closes.map(({ requestId }) => requestId) } };
  });
}

/**
 * Returns the amount to refund to the live balances if a charge was already booked, unless this entry itself may have
 * booked it.
 */
export function calculateOvercharge(charge: StreamCharge, outcome: Booked["outcomes"][number] | undefined): number {
  const { quota } = charge.charge.settlement;
  if (!charge.isFirst || !outcome || outcome.kind === "booked" || outcome.kind === "later") return 0;
  return outcome.kind === "known" ? quota : quota + outcome.moved;
}
