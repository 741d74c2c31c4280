import {
  teamBudgetCreate,
  teamBudgetDelete,
  teamBudgetList,
  teamBudgetReset,
  teamBudgetUpdate,
  type Budget,
  type Input,
} from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../lib/http.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import { andRefresh } from "../api.ts";

export function budgetsQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.teams.inside(id, "budgets"),
    queryFn: ({ signal }) => call(teamBudgetList, { params: { id }, signal }),
  });
}

export type NewTeamBudget = Input<typeof teamBudgetCreate.body>;

export function createBudget(team: number, body: NewTeamBudget): Promise<Budget> {
  return andRefresh(call(teamBudgetCreate, { params: { id: team }, body }));
}

export function updateBudget(team: number, id: number, body: Input<typeof teamBudgetUpdate.body>): Promise<Budget> {
  return andRefresh(call(teamBudgetUpdate, { params: { id: team, bid: id }, body }));
}

export function resetBudget(team: number, id: number): Promise<Budget> {
  return andRefresh(call(teamBudgetReset, { params: { id: team, bid: id } }));
}

export function deleteBudget(team: number, id: number): Promise<unknown> {
  return andRefresh(call(teamBudgetDelete, { params: { id: team, bid: id } }));
}
