import {
  ownBudgetCreate,
  ownBudgetDelete,
  ownBudgetReset,
  ownBudgetUpdate,
  ownBudgetValues,
  type Budget,
  type SELF_BUDGET_SCOPES,
} from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { setTag, tagCheck } from "../../http/etag.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { checkOwnCount } from "./own-count.ts";
import { createBudgetSpread, type SpreadDeps } from "./spread.ts";
import type { BudgetStore } from "./store.ts";
import { applyTerms, BUDGET_DEFAULTS } from "./terms.ts";
import { budgetTag } from "./view.ts";

export interface OwnBudgetDeps extends SpreadDeps {
  readonly store: BudgetStore;
  readonly clock: Clock;
}

/** The routes of budgets that people make for themselves: they change those, and none that someone above made. */
export function ownBudgetRoutes(deps: OwnBudgetDeps): Route[] {
  const { store } = deps;
  const { spread, restate } = createBudgetSpread(deps);
  const requireOwn = async (userId: number, id: number): Promise<Budget> => {
    const found = (await store.ofUser(userId)).find((budget) => budget.id === id);
    if (!found) throw new Refusal("budget_not_found");
    return found;
  };
  return [
    implement(ownBudgetCreate, async ({ body, caller: { userId } }) => {
      const { scope, subject: named, period, filter_model = "", ...wanted } = body;
      const usual = { ...BUDGET_DEFAULTS, quota_limit: wanted.quota_limit };
      const terms = applyTerms(period, usual, wanted, seconds(deps.clock));
      const subject = await findSubject(store, userId, { scope, named });
      const identity = { scope, subject, period, filter_model, managed_by: "self" } as const;
      const budget = await store.create({ ...identity, ...terms }, (tx) => checkOwnCount(tx, userId, identity));
      await spread();
      return budget;
    }),
    implement(ownBudgetUpdate, async ({ params, body, caller, request, response }) => {
      const { id } = await requireOwn(caller.userId, params.id);
      const changed = await store.change(id, body, { by: "self", check: tagCheck(request) });
      if (!changed) throw new Refusal("budget_not_found");
      await restate(await store.withValues(id));
      setTag(response, budgetTag(changed));
      return changed;
    }),
    implement(ownBudgetReset, async ({ params, caller }) => {
      const { id } = await requireOwn(caller.userId, params.id);
      if (!(await store.reset(id, "self"))) throw new Refusal("budget_not_found");
      await restate(await store.withValues(id));
      return requireOwn(caller.userId, id);
    }),
    implement(ownBudgetValues, async ({ params, query, caller }) =>
      store.valuesOf(await requireOwn(caller.userId, params.id), query.keyword),
    ),
    implement(ownBudgetDelete, async ({ params, caller }) => {
      const { id } = await requireOwn(caller.userId, params.id);
      if (!(await store.remove(id, "self"))) throw new Refusal("budget_not_found");
      await spread();
    }),
  ];
}

interface WantedSubject {
  readonly scope: (typeof SELF_BUDGET_SCOPES)[number];
  readonly named: string;
}

/** Returns the stored subject of something that is the person's own now. */
async function findSubject(store: BudgetStore, userId: number, { scope, named }: WantedSubject): Promise<string> {
  const found =
    scope === "token"
      ? await store.findOwnToken(userId, named)
      : await store.findPayerSubject(scope, `${userId}/${named}`);
  if (found === undefined)
    throw new Refusal("budget_subject_unknown", { field: "subject", values: { scope, subject: named.slice(0, 64) } });
  return found;
}
