import { countsSince, isIdle, type Budget, type BudgetHistory } from "@fairway/wire";
import { seconds, type Clock } from "../../lib/clock.ts";
import { DIMENSION, HOUR } from "../statistics/dimensions.ts";
import type { StatisticsStore } from "../statistics/store.ts";
import { calculateForecast, countedPoints } from "./history.ts";

export interface HistoryDeps {
  readonly statistics: Pick<StatisticsStore, "spending">;
  readonly clock: Clock;
}

const SUMMED = ["token", "user", "group", "model", "channel"] as const satisfies readonly Budget["scope"][];

/** Reads what was spent in the window of a budget, and forecasts the rest. */
export async function loadBudgetHistory(budget: Budget, { statistics, clock }: HistoryDeps): Promise<BudgetHistory> {
  const now = seconds(clock);
  const since = countsSince(budget);
  const from = since - (since % HOUR);
  // Sums of the subject contain the calls of all models, so a budget of one has no curve.
  // Nor are there such sums of members, tags and end users.
  const { scope, subject } = budget;
  const dimension = SUMMED.find((name) => name === scope);
  const hasCurve = dimension !== undefined && budget.filter_model === "" && !isIdle(budget);
  const spent = hasCurve ? await statistics.spending(DIMENSION[dimension], subject, { from, to: now }) : [];
  const points = countedPoints(budget, spent);
  return { budget, interval: HOUR, points, forecast: calculateForecast(budget, points, now) };
}
