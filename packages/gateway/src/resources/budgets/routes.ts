import {
  budgetCreate,
  budgetDelete,
  budgetGet,
  budgetHistory,
  budgetHistorySelf,
  budgetList,
  budgetListSelf,
  budgetUpdate,
  countsSince,
  ROLE,
  type Budget,
  type BudgetHistory,
} from "@fairway/wire";
import { isTimeZone } from "../../billing/budgets/window.ts";
import type { BudgetScope } from "../../billing/budgets/budget.ts";
import type { Budgets } from "../../billing/budgets/budgets.ts";
import type { ServerResponse } from "node:http";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import { setTag, tagCheck } from "../../http/etag.ts";
import { canChange, canView } from "../../identity/accounts/roles.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Announce } from "../ports.ts";
import { DIMENSION, HOUR } from "../statistics/dimensions.ts";
import type { StatisticsStore } from "../statistics/store.ts";
import { countedPoints, calculateForecast } from "./history.ts";
import { BUDGET_DEFAULTS, budgetTag, type BudgetStore } from "./store.ts";

export interface BudgetRoutesDeps {
  readonly store: BudgetStore;
  readonly announce: Announce;
  readonly clock: Clock;
  readonly statistics: Pick<StatisticsStore, "spending">;
  /** Reloaded before a call is answered, so that this replica knows the change. */
  readonly budgets: Pick<Budgets, "reload">;
}

export function budgetRoutes(deps: BudgetRoutesDeps): Route[] {
  const { store, announce, budgets } = deps;
  const spread = async () => {
    await budgets.reload();
    await announce("options");
  };
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
    implement(budgetListSelf, ({ caller }) => store.ofUser(caller.userId)),
    implement(budgetHistorySelf, async ({ params, caller }) => {
      const own = await store.ofUser(caller.userId);
      return loadBudgetHistory(requireBudget(own.find(({ id }) => id === params.id)), deps);
    }),
    implement(budgetCreate, async ({ body, caller }) => {
      const {
        time_zone = BUDGET_DEFAULTS.time_zone,
        soft_percent = BUDGET_DEFAULTS.soft_percent,
        is_hard = BUDGET_DEFAULTS.is_hard,
      } = body;
      checkZone(time_zone);
      const subject = await checkSubject(store, body.scope, body.subject);
      await checkOwner(store, caller, { scope: body.scope, subject });
      const budget = await store.create({ ...body, subject, time_zone, soft_percent, is_hard });
      if (!budget) throw new Refusal("budget_exists", { field: "subject" });
      await spread();
      return budget;
    }),
    implement(budgetUpdate, async ({ body, caller, request, response }) => {
      const { id, time_zone: zone, quota_limit: limit, soft_percent: soft, is_hard: isHard } = body;
      await checkOwner(store, caller, requireBudget(await store.find(id)));
      if (zone !== undefined) checkZone(zone);
      const change = {
        ...(zone !== undefined && { time_zone: zone }),
        ...(limit !== undefined && { quota_limit: limit }),
        ...(soft !== undefined && { soft_percent: soft }),
        ...(isHard !== undefined && { is_hard: isHard }),
      };
      const budget = requireBudget(await store.change(id, change, tagCheck(request)));
      await spread();
      return tagged(response, budget);
    }),
    implement(budgetDelete, async ({ params, caller }) => {
      await checkOwner(store, caller, requireBudget(await store.find(params.id)));
      if (!(await store.remove(params.id))) throw new Refusal("budget_not_found");
      await spread();
    }),
  ];
}

async function loadBudgetHistory(budget: Budget, { statistics, clock }: BudgetRoutesDeps): Promise<BudgetHistory> {
  const now = seconds(clock);
  const since = countsSince(budget);
  const from = since - (since % HOUR);
  const spent = await statistics.spending(DIMENSION[budget.scope], budget.subject, { from, to: now });
  const points = countedPoints(budget, spent);
  return { budget, interval: HOUR, points, forecast: calculateForecast(budget, points, now) };
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

function checkZone(zone: string): void {
  if (!isTimeZone(zone))
    throw new Refusal("time_zone_unknown", { field: "time_zone", values: { zone: zone.slice(0, 64) } });
}

/**
 * Checks the subject. A group or model is a name and may not exist yet; any other subject is the id of an existing row.
 */
async function checkSubject(store: BudgetStore, scope: BudgetScope, subject: string): Promise<string> {
  if (scope === "group" || scope === "model") return subject;
  const id = /^\d{1,15}$/.test(subject) ? Number(subject) : 0;
  if (id > 0 && (await store.exists(scope, id))) return String(id);
  throw new Refusal("budget_subject_unknown", { field: "subject", values: { scope, subject: subject.slice(0, 64) } });
}
