import { budgetHistory, budgetHistorySelf, budgetList, budgetListSelf } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";

const REFRESH_MS = 60_000;

/** All budgets, for administrators. */
export const budgetsQuery = queryOptions({
  queryKey: queryKeys.budgets.lists,
  queryFn: ({ signal }) => call(budgetList, { signal }),
});

/** Budgets of the reader and of the reader's tokens. */
export const ownBudgetsQuery = queryOptions({
  queryKey: queryKeys.budgets.own,
  queryFn: ({ signal }) => call(budgetListSelf, { signal }),
  refetchInterval: REFRESH_MS,
});

/** Spending of the current window, with a forecast. */
export function historyQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.budgets.history(id),
    queryFn: ({ signal }) => call(budgetHistory, { params: { id }, signal }),
    refetchInterval: REFRESH_MS,
  });
}

/** The same for a budget of the reader. */
export function ownHistoryQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.budgets.ownHistory(id),
    queryFn: ({ signal }) => call(budgetHistorySelf, { params: { id }, signal }),
    refetchInterval: REFRESH_MS,
  });
}
