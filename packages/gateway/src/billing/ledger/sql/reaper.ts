import type { Clock } from "../../../lib/clock.ts";
import type { Logger } from "../../../observability/log.ts";
import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";
import { buildBudgetClose } from "../booking/charge-close.ts";
import type { ReservedInMemory } from "../../budgets/sql/memory.ts";
import { closeBudgets, type WrittenBudgets } from "../../budgets/sql/sheet.ts";
import type { LeaseTime } from "../../reservations/lease-time.ts";
import { lockUsers } from "../booking/accounts.ts";
import { Booking, type OpenHold, REAPED } from "../booking/booking.ts";
import { buildDueSettlement } from "../booking/reaped-charge.ts";

export interface ReaperDeps {
  readonly database: RawDatabase;
  readonly clock: Clock;
  readonly leaseTime: LeaseTime;
  readonly log: Logger;
  readonly isLogSeparate: boolean;
  readonly onBudgets: (written: WrittenBudgets) => void;
  readonly reserved: ReservedInMemory | undefined;
}

interface ExpiredHold extends OpenHold {
  readonly lease_until: number;
}

const AT_ONCE = 100;

/** Settles expired reservations at their last reported usage; returns how many. Safe to run concurrently. */
export async function reapExpired(deps: ReaperDeps): Promise<number> {
  const { database, clock, leaseTime, log } = deps;
  let reaped = 0;
  for (;;) {
    const now = clock.now();
    const { sql, values } = leaseTime.at();
    const expired = await database.rows<ExpiredHold>(
      `select request_id, user_id, token_id, amount, lease_until from holds where lease_until <= ${sql} order by lease_until limit ${AT_ONCE}`,
      values,
    );
    let progress = 0;
    for (const hold of expired) {
      const reaped = await database.transaction((tx) => reap(tx, hold, { ...deps, now }));
      if (!reaped) continue;
      deps.onBudgets(reaped);
      progress += 1;
      log.warn("an expired reservation was settled at its last reported usage", { request_id: hold.request_id });
    }
    reaped += progress;
    if (expired.length < AT_ONCE || progress === 0) return reaped;
  }
}

/**
 * Expires every reservation when a process starts that is the only user of its database. Budget reservations are in
 * memory; any rows of them come from an earlier version.
 */
export async function expireAll(database: RawDatabase): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.run("update holds set lease_until = 0 where lease_until > 0", []);
    await tx.run("update budgets set held = 0, revision = revision + 1 where held <> 0", []);
    await tx.run("delete from budget_holds", []);
  });
}

/** Reaps one reservation; undefined if it was renewed, settled or reaped in the meantime. */
async function reap(
  tx: RawTransaction,
  { request_id, user_id }: ExpiredHold,
  deps: ReaperDeps & { readonly now: number },
): Promise<WrittenBudgets | undefined> {
  const { database, now, leaseTime, isLogSeparate, reserved } = deps;
  await lockUsers(tx, database.kind, [user_id]);
  const ended = leaseTime.at();
  const expired = `from holds where request_id = ? and lease_until <= ${ended.sql}`;
  const keys = [request_id, ...ended.values];
  const sql = `select request_id, user_id, token_id, amount, seen ${expired}`;
  const [hold] = await tx.rows<OpenHold & { readonly seen: string }>(sql, keys);
  if (!hold) return undefined;
  // A renewal does not lock the user row and may have run in between.
  if ((await tx.run(`delete ${expired}`, keys)) === 0) return undefined;
  const booking = new Booking();
  booking.close(hold);
  const due = buildDueSettlement(hold, now);
  if (due) booking.consume(due, REAPED);
  else booking.lapse(hold, now);
  await booking.write(tx, database.kind, isLogSeparate);
  const close = (due && buildBudgetClose(due, { isReaped: true })) ?? {
    requestId: request_id,
    ids: [],
    charged: undefined,
    at: now,
  };
  return closeBudgets(tx, [close], { kind: database.kind, now, reserved });
}
