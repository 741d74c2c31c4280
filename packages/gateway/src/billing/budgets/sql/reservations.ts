import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../../../lib/clock.ts";
import type { Logger } from "../../../observability/log.ts";
import type { RawDatabase } from "../../../storage/engines/raw.ts";
import { inList } from "../../../storage/statements.ts";
import type { LeaseTime } from "../../reservations/lease-time.ts";
import { isOverBudget, type BudgetReservations, type Placed, type Placing } from "../budget.ts";
import type { ReservedInMemory } from "./memory.ts";
import { forgetFinal, orphanedHolds, type BudgetClose } from "./sheet.ts";

export interface SqlBudgetsDeps {
  readonly database: RawDatabase;
  readonly clock: Clock;
  readonly leaseTime: LeaseTime;
  readonly log: Logger;
  /** Reservations in memory; without it, they are in the database. */
  readonly reserved?: ReservedInMemory | undefined;
  /** Reserves in the same transaction as the holds of that moment. */
  readonly place: (placing: Placing) => Promise<Placed>;
  readonly close: (close: BudgetClose) => Promise<void>;
  /** Resolves when no operation is pending. */
  readonly idle: () => Promise<void>;
}

/** Budgets whose reservations are in the database. */
export interface SqlBudgets extends BudgetReservations {
  /**
   * Returns the budgets in which this process may have reserved for a request, and leaves it to the caller to close
   * them with the charge. Undefined if there are none.
   */
  take(requestId: string): ReadonlySet<number> | undefined;
}

const AT_ONCE = 200;

/** Creates budgets with rows in `budget_holds`, next to those of `holds`, or the same in memory. */
export function createSqlBudgets(deps: SqlBudgetsDeps): SqlBudgets {
  const { database, clock, leaseTime, log, reserved } = deps;
  const open = new Map<string, ReadonlySet<number>>();
  const take = (requestId: string) => {
    if (open.size === 0) return undefined;
    const asked = open.get(requestId);
    open.delete(requestId);
    return asked;
  };
  const returnHeld = (requestId: string, asked?: ReadonlySet<number>) =>
    deps.close({ requestId, ids: [], charged: undefined, at: clock.now(), asked });
  return {
    take,
    async place(placing) {
      const { requestId, held } = placing;
      const before = open.get(requestId);
      // The transaction may have been committed although its answer was lost.
      open.set(requestId, before?.union(placing.asked) ?? placing.asked);
      const answer = await deps.place(placing);
      if (isOverBudget(answer) && !held) open.delete(requestId);
      if (answer === undefined) open.delete(requestId);
      return answer;
    },
    release(requestId) {
      const asked = take(requestId);
      if (!asked) return;
      returnHeld(requestId, asked).catch((error: unknown) =>
        log.warn("a budget reservation is returned later", { request_id: requestId, error }),
      );
    },
    async reap() {
      await forgetFinal(database, clock.now());
      const orphans = reserved
        ? await withoutHold(database, reserved.due(await leaseTime.read(database)).slice(0, AT_ONCE))
        : await orphanedHolds(database, leaseTime, AT_ONCE);
      for (const requestId of orphans) await returnHeld(requestId);
      return orphans.length;
    },
    restate: () => Promise.resolve(),
    heldElsewhere: () => Promise.resolve(reserved?.sums ?? new Map()),
    async idle(ms) {
      const waiting = new AbortController();
      const late = pause(ms, undefined, { signal: waiting.signal }).catch(() => undefined);
      await Promise.race([deps.idle(), late]);
      waiting.abort();
    },
  };
}

async function withoutHold(database: RawDatabase, requestIds: readonly string[]): Promise<string[]> {
  if (requestIds.length === 0) return [];
  const { marks, values } = inList(requestIds);
  const sql = `select request_id from holds where request_id in ${marks}`;
  const rows = await database.rows<{ request_id: string }>(sql, values);
  const carried = new Set(rows.map(({ request_id }) => request_id));
  return requestIds.filter((id) => !carried.has(id));
}
