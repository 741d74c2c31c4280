import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "../../observability/log.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";
import type { Clock } from "../../lib/clock.ts";
import type { BudgetRefusal } from "./budget.ts";
import { recordBudgetEvent, type ReportedBudget } from "./budget-events.ts";
import { TERMS } from "./budget.ts";
import { findWindow } from "./window.ts";

export interface RefusalsDeps {
  readonly database: RawDatabase;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Reports the first refusal of each window, on whichever replica it happens. */
export class BudgetRefusals {
  readonly #deps: RefusalsDeps;
  /** The end of the window whose refusal this process has reported last, by budget. */
  readonly #reported = new Map<number, number>();
  readonly #pending = new Set<Promise<void>>();

  constructor(deps: RefusalsDeps) {
    this.#deps = deps;
  }

  /** Runs in the background; a later refusal of the same window does nothing. */
  note({ budget: { id }, endsAt }: BudgetRefusal): void {
    if (this.#reported.get(id) === endsAt) return;
    this.#reported.set(id, endsAt);
    const work = this.#report(id)
      .catch((error: unknown) => {
        this.#reported.delete(id);
        this.#deps.log.warn("the refusal of a budget is reported by a later one", { budget: id, error });
      })
      .finally(() => this.#pending.delete(work));
    this.#pending.add(work);
  }

  /** Lets the next refusals be reported again, because budgets were changed or set back. */
  forget(): void {
    this.#reported.clear();
  }

  /** Resolves when nothing is pending, or after `ms`. */
  async idle(ms: number): Promise<void> {
    const waiting = new AbortController();
    const late = pause(ms, undefined, { signal: waiting.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#pending), late]);
    waiting.abort();
  }

  async #report(id: number): Promise<void> {
    const { database, clock } = this.#deps;
    const now = clock.now();
    await database.transaction(async (tx) => {
      const sql = `select ${TERMS}, window_start, used, created_at from budgets where id = ?`;
      const [row] = await tx.rows<ReportedBudget>(sql, [id]);
      if (!row) return;
      const { start } = findWindow(row, now);
      if (start === 0) return;
      const noting = "update budgets set exhausted_in = ? where id = ? and exhausted_in <> ?";
      if ((await tx.run(noting, [start, id, start])) === 0) return;
      // A window that no charge has opened yet has used nothing.
      const budget = start > row.window_start ? { ...row, window_start: start, used: 0 } : row;
      await recordBudgetEvent(tx, database.kind, budget, { type: "budget.exhausted", percent: 100, atMs: now });
    });
  }
}
