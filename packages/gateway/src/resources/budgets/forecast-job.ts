import { countsSince, type Budget } from "@fairway/wire";
import { recordBudgetEvent } from "../../billing/budgets/budget-events.ts";
import type { Clock } from "../../lib/clock.ts";
import { seconds } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import type { StatisticsStore } from "../statistics/store.ts";
import { loadBudgetHistory } from "./load-history.ts";
import { buildBudgetViews, type BudgetRow } from "./view.ts";

export interface ForecastDeps {
  readonly database: Pick<Database, "raw">;
  readonly clock: Clock;
  readonly statistics: Pick<StatisticsStore, "spending">;
}

/** A smaller part of a window says nothing about its pace. */
const LEAST_PART = 0.1;

/**
 * Reports budgets that are going to be used up before their window ends, once in each window. Returns how many. The
 * column `forecast_in` is changed only from another window, so two replicas report one event.
 */
export async function reportForecasts(
  deps: ForecastDeps,
  confirm: (tx: RawTransaction) => Promise<void>,
): Promise<number> {
  const { raw } = deps.database;
  const now = seconds(deps.clock);
  const rows = await raw.rows<BudgetRow & { readonly forecast_in: number }>(
    "select * from budgets where forecast = 1 and used > 0",
    [],
  );
  let reported = 0;
  for (const [at, budget] of (await buildBudgetViews(rows, { raw, clock: deps.clock })).entries()) {
    const row = rows[at];
    if (!row || row.forecast_in === budget.window_start || !isDue(budget, now)) continue;
    const { forecast } = await loadBudgetHistory(budget, deps);
    if (forecast.reached_at === 0 || forecast.reached_at <= now) continue;
    if (await report(row, { start: budget.window_start, reachedAt: forecast.reached_at }, deps, confirm)) reported += 1;
  }
  return reported;
}

/** True after a tenth of a window that has an end and room left. */
function isDue(budget: Budget, now: number): boolean {
  const { window_start: start, window_end: end, used, quota_limit: limit } = budget;
  return start > 0 && end > 0 && used < limit && now - countsSince(budget) >= (end - start) * LEAST_PART;
}

async function report(
  row: BudgetRow,
  { start, reachedAt }: { readonly start: number; readonly reachedAt: number },
  { database: { raw }, clock }: ForecastDeps,
  confirm: (tx: RawTransaction) => Promise<void>,
): Promise<boolean> {
  const percent = Math.floor((row.used / row.quota_limit) * 100);
  return raw.transaction(async (tx) => {
    await confirm(tx);
    const noting = "update budgets set forecast_in = ? where id = ? and forecast_in <> ?";
    if ((await tx.run(noting, [start, row.id, start])) === 0) return false;
    const event = { type: "budget.forecast", percent, atMs: clock.now(), more: { reached_at: reachedAt } } as const;
    await recordBudgetEvent(tx, raw.kind, row, event);
    return true;
  });
}
