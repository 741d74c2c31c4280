import {
  budgetCreate,
  budgetDelete,
  budgetGet,
  budgetReset,
  budgetUpdate,
  budgetValues,
  groupList,
  SEARCH_HITS,
  searchAll,
  teamList,
  type Budget,
} from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { FRESH_STATIC_MS, queryClient } from "../../lib/query.ts";
import { readVersion, type Version } from "../../lib/rows.ts";
import type { Suggestion } from "../../ui/form/field.tsx";

export function budgetQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.budgets.one(id),
    queryFn: ({ signal }) => readVersion(budgetGet, { params: { id }, signal }),
    // A form starts from the server's current version, not from an older visit.
    gcTime: 0,
    staleTime: Infinity,
  });
}

/** The values of a budget for each of them. */
export function valuesQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.budgets.values(id),
    queryFn: ({ signal }) => call(budgetValues, { params: { id }, query: {}, signal }),
  });
}

export interface BudgetChange extends Pick<
  Budget,
  "quota_limit" | "time_zone" | "length" | "anchor" | "ends_at" | "thresholds" | "forecast" | "is_hard"
> {}

function refresh(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: queryKeys.budgets.lists });
}

export async function createBudget(
  input: BudgetChange & Pick<Budget, "scope" | "subject" | "period" | "filter_model">,
): Promise<void> {
  await call(budgetCreate, { body: input });
  await refresh();
}

export async function updateBudget({ row, tag }: Version<Budget>, change: BudgetChange): Promise<void> {
  await call(budgetUpdate, { body: { id: row.id, ...change }, ifMatch: tag });
  await refresh();
}

/** Counts from 0 again. */
export async function resetBudget(id: number): Promise<void> {
  await call(budgetReset, { params: { id } });
  await queryClient.invalidateQueries({ queryKey: queryKeys.budgets.history(id) });
  await refresh();
}

export async function deleteBudget(id: number): Promise<void> {
  await call(budgetDelete, { params: { id } });
  await refresh();
}

/** Scopes whose subjects the search finds. */
const SEARCHED: ReadonlySet<Budget["scope"]> = new Set(["group", "model", "user", "token", "channel", "team"]);

/** Finds subjects of a scope by the typed text; those with a label are chosen by an id. */
export function suggestionsQuery(scope: Budget["scope"], typed: string) {
  return queryOptions({
    queryKey: queryKeys.budgets.suggestions(scope, scope === "group" ? "" : typed),
    queryFn: async ({ signal }): Promise<Suggestion[]> => {
      if (scope === "group") return (await call(groupList, { signal })).map((name) => ({ value: name, label: "" }));
      if (scope === "team") {
        const teams = await call(teamList, { query: { keyword: typed, page_size: SEARCH_HITS }, signal });
        return teams.map(({ slug }) => ({ value: slug, label: "" }));
      }
      const hits = await call(searchAll, { query: { q: typed }, signal });
      if (scope === "model") return hits.models.map((name) => ({ value: name, label: "" }));
      if (scope === "user") return hits.users.map(({ id, username }) => ({ value: String(id), label: username }));
      return hits[scope === "token" ? "tokens" : "channels"].map(({ id, name }) => ({
        value: String(id),
        label: name,
      }));
    },
    enabled: SEARCHED.has(scope) && (scope === "group" || typed !== ""),
    staleTime: FRESH_STATIC_MS,
  });
}
