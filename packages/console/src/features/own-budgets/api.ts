import {
  ownBudgetCreate,
  ownBudgetDelete,
  ownBudgetReset,
  ownBudgetUpdate,
  tokenList,
  type Input,
} from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { queryClient } from "../../lib/query.ts";
import { readRows } from "../../lib/rows.ts";

/** How many tokens the form offers. */
const MOST_TOKENS = 100;

export const ownTokensQuery = queryOptions({
  queryKey: queryKeys.tokens.list("of budgets"),
  queryFn: async ({ signal }) => (await readRows(tokenList, { query: { size: MOST_TOKENS }, signal })).rows,
});

export type NewOwnBudget = Input<typeof ownBudgetCreate.body>;

export function createOwnBudget(body: NewOwnBudget): Promise<unknown> {
  return andRefresh(call(ownBudgetCreate, { body }));
}

export function updateOwnBudget(id: number, body: Input<typeof ownBudgetUpdate.body>): Promise<unknown> {
  return andRefresh(call(ownBudgetUpdate, { params: { id }, body }));
}

export function resetOwnBudget(id: number): Promise<unknown> {
  return andRefresh(call(ownBudgetReset, { params: { id } }));
}

export function deleteOwnBudget(id: number): Promise<unknown> {
  return andRefresh(call(ownBudgetDelete, { params: { id } }));
}

/** Shows what a change did, also if it was refused. */
async function andRefresh<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } finally {
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: queryKeys.budgets.own }),
      queryClient.invalidateQueries({ queryKey: queryKeys.budgets.lists }),
    ]);
  }
}
