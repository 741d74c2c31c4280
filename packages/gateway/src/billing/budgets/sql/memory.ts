import type { RawTransaction } from "../../../storage/engines/raw.ts";
import type { HoldRow, RowsOf } from "./rows.ts";

/**
 * Budget reservations in memory, for a process that is the only user of its database (SQLite). All its holds end with
 * the process, so reservations, which last no longer than an answer, need no row. A change is undone if its transaction
 * rolls back.
 */
export class ReservedInMemory {
  readonly #requests = new Map<string, ReadonlyMap<number, HoldRow>>();
  readonly #sums = new Map<number, number>();

  get isEmpty(): boolean {
    return this.#requests.size === 0;
  }

  /** Returns the amount that is reserved in a budget. */
  in(budgetId: number): number {
    return this.#sums.get(budgetId) ?? 0;
  }

  get sums(): ReadonlyMap<number, number> {
    return this.#sums;
  }

  /** Returns the requests whose reservation should have ended by `now`. */
  due(now: number): string[] {
    const isDue = (rows: ReadonlyMap<number, HoldRow>) => rows.values().some((row) => row.lease_until <= now);
    return [...this.#requests].flatMap(([requestId, rows]) => (isDue(rows) ? [requestId] : []));
  }

  of(requestId: string): ReadonlyMap<number, HoldRow> {
    return this.#requests.get(requestId) ?? NONE;
  }

  /** Returns the rows for changes by `tx`. Throws if the transaction cannot undo changes in memory. */
  rowsIn(tx: RawTransaction): RowsOf<HoldRow> {
    const { onRollback } = tx;
    if (!onRollback) throw new Error("reservations in memory need a database of one process");
    return {
      of: (requestId) => this.of(requestId),
      put: (requestId, rows) => {
        const before = this.of(requestId);
        this.#put(requestId, new Map(rows.map((row) => [row.budget_id, row])));
        onRollback(() => this.#put(requestId, before));
      },
      write: () => Promise.resolve(),
    };
  }

  #put(requestId: string, rows: ReadonlyMap<number, HoldRow>): void {
    for (const row of this.of(requestId).values()) this.#add(row.budget_id, 0 - row.amount);
    for (const row of rows.values()) this.#add(row.budget_id, row.amount);
    if (rows.size > 0) this.#requests.set(requestId, rows);
    else this.#requests.delete(requestId);
  }

  #add(budgetId: number, amount: number): void {
    const sum = this.in(budgetId) + amount;
    if (sum === 0) this.#sums.delete(budgetId);
    else this.#sums.set(budgetId, sum);
  }
}

const NONE: ReadonlyMap<number, HoldRow> = new Map();
