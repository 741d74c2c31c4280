import {
  budgetCreate,
  budgetDelete,
  budgetGet,
  budgetHistory,
  budgetHistorySelf,
  budgetList,
  budgetListSelf,
  budgetReset,
  budgetUpdate,
  budgetValues,
  ROLE,
  type Budget,
} from "@fairway/wire";
import type { BudgetScope } from "../../billing/budgets/budget.ts";
import type { ServerResponse } from "node:http";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import { setTag, tagCheck } from "../../http/etag.ts";
import { canChange, canView } from "../../identity/accounts/roles.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { StatisticsStore } from "../statistics/store.ts";
import { loadBudgetHistory } from "./load-history.ts";
import { createBudgetSpread, type SpreadDeps } from "./spread.ts";
import type { BudgetStore } from "./store.ts";
import { applyTerms, BUDGET_DEFAULTS } from "./terms.ts";
import { budgetTag } from "./view.ts";

export interface BudgetRoutesDeps extends SpreadDeps {
  readonly store: BudgetStore;
  readonly clock: Clock;
  readonly statistics: Pick<StatisticsStore, "spending">;
}

export function budgetRoutes(deps: BudgetRoutesDeps): Route[] {
  const { store } = deps;
  const { spread, restate } = createBudgetSpread(deps);
  return [
    implement(budgetList, async ({ caller }) => {
      const budgets = await store.list();
      const areVisible = await Promise.all(budgets.map((budget) => isVisible(store, caller, budget)));
      return budgets.filter((_, index) => areVisible[index]);
    }),
    implement(budgetGet, async ({ params, caller, response }) =>
      tagged(response, await visible(store, caller, params.id)),
    ),
    implement(budgetHistory, async ({ params, caller }) =>
      loadBudgetHistory(await visible(store, caller, params.id), deps),
    ),
    implement(budgetValues, async ({ params, query, caller }) =>
      store.valuesOf(await visible(store, caller, params.id), query.keyword),
    ),
    implement(budgetListSelf, ({ caller }) => store.ofUser(caller.userId)),
    implement(budgetHistorySelf, async ({ params, caller }) => {
      const own = await store.ofUser(caller.userId);
      return loadBudgetHistory(requireBudget(own.find(({ id }) => id === params.id)), deps);
    }),
    implement(budgetCreate, async ({ body, caller }) => {
      const { scope, period, filter_model = "", subject: named, ...wanted } = body;
      const usual = { ...BUDGET_DEFAULTS, quota_limit: body.quota_limit };
      const terms = applyTerms(period, usual, wanted, seconds(deps.clock));
      const subject = await checkSubject(store, scope, named);
      await checkOwner(store, caller, { scope, subject });
      const identity = { scope, subject, period, filter_model, managed_by: "admin" } as const;
      const budget = await store.create({ ...identity, ...terms });
      await spread();
      return budget;
    }),
    implement(budgetUpdate, async ({ body, caller, request, response }) => {
      const { id, ...wanted } = body;
      await checkOwner(store, caller, requireBudget(await store.find(id)));
      const budget = requireBudget(await store.change(id, wanted, { by: "admin", check: tagCheck(request) }));
      await restate(await store.withValues(id));
      return tagged(response, budget);
    }),
    implement(budgetReset, async ({ params: { id }, caller }) => {
      await checkOwner(store, caller, requireBudget(await store.find(id)));
      if (!(await store.reset(id, "admin"))) throw new Refusal("budget_not_found");
      await restate(await store.withValues(id));
      return requireBudget(await store.find(id));
    }),
    implement(budgetDelete, async ({ params, caller }) => {
      await checkOwner(store, caller, requireBudget(await store.find(params.id)));
      if (!(await store.remove(params.id, "admin"))) throw new Refusal("budget_not_found");
      await spread();
    }),
  ];
}

function tagged(response: ServerResponse, budget: Budget): Budget {
  setTag(response, budgetTag(budget));
  return budget;
}

function requireBudget(budget: Budget | undefined): Budget {
  if (!budget) throw new Refusal("budget_not_found");
  return budget;
}

/**
 * Checks the right to change the owner of the budget: a budget of a user or token is a change of that user. Users
 * cannot lift their own limits.
 */
async function checkOwner(
  store: BudgetStore,
  caller: Principal,
  budget: Pick<Budget, "scope" | "subject">,
): Promise<void> {
  const owner = await store.ownerOf(budget);
  if (owner && !canChange(caller, owner)) throw new Refusal("user_change_not_permitted");
}

async function isVisible(store: BudgetStore, caller: Principal, budget: Budget): Promise<boolean> {
  if (caller.role === ROLE.root) return true;
  const owner = await store.ownerOf(budget);
  return !owner || canView(caller, owner);
}

async function visible(store: BudgetStore, caller: Principal, id: number): Promise<Budget> {
  const budget = requireBudget(await store.find(id));
  if (!(await isVisible(store, caller, budget))) throw new Refusal("user_view_not_permitted");
  return budget;
}

/**
 * Checks the subject. A group or model is a name and may not exist yet; any other subject is the id of an existing row.
 */
async function checkSubject(store: BudgetStore, scope: BudgetScope, subject: string): Promise<string> {
  if (scope === "group" || scope === "model") return subject;
  if (scope === "team" || scope === "member") {
    const found = await store.findTeamSubject(scope, subject);
    if (found !== undefined) return found;
  } else if (scope === "tag" || scope === "end_user") {
    const found = await store.findPayerSubject(scope, subject);
    if (found !== undefined) return found;
  } else {
    const id = /^\d{1,15}$/.test(subject) ? Number(subject) : 0;
    if (id > 0 && (await store.exists(scope, id))) return String(id);
  }
  throw new Refusal("budget_subject_unknown", { field: "subject", values: { scope, subject: subject.slice(0, 64) } });
}
