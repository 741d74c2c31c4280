import {
  teamBudgetCreate,
  teamBudgetDelete,
  teamBudgetList,
  teamBudgetReset,
  teamBudgetUpdate,
  teamBudgetValues,
  ROLE,
  type TEAM_BUDGET_SCOPES,
  type Budget,
  type BudgetMaker,
} from "@fairway/wire";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import { setTag, tagCheck } from "../../http/etag.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Team } from "../../teams/team.ts";
import { createBudgetSpread, type SpreadDeps } from "../budgets/spread.ts";
import type { BudgetStore } from "../budgets/store.ts";
import { applyTerms, BUDGET_DEFAULTS } from "../budgets/terms.ts";
import { budgetTag } from "../budgets/view.ts";
import { requireTeam, type TeamCall } from "./require-team.ts";
import type { TeamStore } from "./store.ts";

export interface TeamBudgetDeps extends SpreadDeps {
  readonly store: TeamStore;
  readonly budgetStore: BudgetStore;
  readonly clock: Clock;
}

/** The routes of budgets inside a team: its admins change those that the team made. */
export function teamBudgetRoutes(deps: TeamBudgetDeps): Route[] {
  const { store, budgetStore: budgets } = deps;
  const { spread, restate } = createBudgetSpread(deps);
  return [
    implement(teamBudgetList, async (call) => {
      const { team } = await requireTeam(store.db, call, "see");
      return budgets.ofTeam(team);
    }),
    implement(teamBudgetValues, async (call) => {
      const { team } = await requireTeam(store.db, call, "see");
      const found = (await budgets.ofTeam(team)).find(({ id }) => id === call.params.bid);
      if (!found) throw new Refusal("budget_not_found");
      return budgets.valuesOf(found, call.query.keyword);
    }),
    implement(teamBudgetCreate, async (call) => {
      const { team } = await requireTeam(store.db, call, "manage");
      const { scope, subject: named = "", period, filter_model = "", ...wanted } = call.body;
      const usual = { ...BUDGET_DEFAULTS, quota_limit: wanted.quota_limit };
      const terms = applyTerms(period, usual, wanted, seconds(deps.clock));
      const subject = await findSubject(deps, team, { scope, named });
      const identity = { scope, subject, period, filter_model, managed_by: chooseMaker(call.caller) };
      const budget = await budgets.create({ ...identity, ...terms });
      await spread();
      return budget;
    }),
    implement(teamBudgetUpdate, async (call) => {
      const { id } = await requireBudget(deps, call);
      const change = { by: chooseMaker(call.caller), check: tagCheck(call.request) };
      const changed = await budgets.change(id, call.body, change);
      if (!changed) throw new Refusal("budget_not_found");
      await restate(await budgets.withValues(id));
      setTag(call.response, budgetTag(changed));
      return changed;
    }),
    implement(teamBudgetReset, async (call) => {
      const { id } = await requireBudget(deps, call);
      if (!(await budgets.reset(id, chooseMaker(call.caller)))) throw new Refusal("budget_not_found");
      await restate(await budgets.withValues(id));
      return requireBudget(deps, call);
    }),
    implement(teamBudgetDelete, async (call) => {
      const { id } = await requireBudget(deps, call);
      if (!(await budgets.remove(id, chooseMaker(call.caller)))) throw new Refusal("budget_not_found");
      await spread();
    }),
  ];
}

/** What an administrator sets in a team binds its admins, also if the administrator is one of them. */
function chooseMaker({ role }: Principal): BudgetMaker {
  return role >= ROLE.admin ? "admin" : "team";
}

async function requireBudget(
  { store, budgetStore }: TeamBudgetDeps,
  call: TeamCall & { readonly params: { readonly bid: number } },
): Promise<Budget> {
  const { team } = await requireTeam(store.db, call, "manage");
  const inside = await budgetStore.ofTeam(team);
  const found = inside.find(({ id }) => id === call.params.bid);
  if (!found) throw new Refusal("budget_not_found");
  return found;
}

interface WantedSubject {
  readonly scope: (typeof TEAM_BUDGET_SCOPES)[number];
  readonly named: string;
}

/** Returns the stored subject of something that is in the team now. */
async function findSubject(deps: TeamBudgetDeps, team: Team, { scope, named }: WantedSubject): Promise<string> {
  const found = await {
    team: () => (named === "" ? String(team.id) : undefined),
    member: () => deps.budgetStore.findTeamSubject("member", `${team.id}:${named}`),
    service_account: () => findRow(deps, { table: "service_accounts", column: "team_id", owner: team.id }, named),
    tag: () => deps.budgetStore.findPayerSubject("tag", `${team.accountId}/${named}`),
    end_user: () => deps.budgetStore.findPayerSubject("end_user", `${team.accountId}/${named}`),
    token: () => findRow(deps, { table: "tokens", column: "user_id", owner: team.accountId }, named),
  }[scope]();
  if (found === undefined)
    throw new Refusal("budget_subject_unknown", { field: "subject", values: { scope, subject: named } });
  return found;
}

interface Place {
  readonly table: "service_accounts" | "tokens";
  readonly column: "team_id" | "user_id";
  readonly owner: number;
}

async function findRow(
  { store: { db } }: TeamBudgetDeps,
  { table, column, owner }: Place,
  named: string,
): Promise<string | undefined> {
  if (!/^\d{1,15}$/.test(named)) return undefined;
  const living = db.selectFrom(table).select("id").where("deleted_at", "is", null);
  const row = await living.where("id", "=", Number(named)).where(column, "=", owner).executeTakeFirst();
  return row && String(row.id);
}
