import {
  ApiProblem,
  budgetCreate,
  ownBudgetCreate,
  budgetDelete,
  ownBudgetDelete,
  budgetGet,
  budgetListSelf,
  budgetReset,
  ownBudgetReset,
  budgetUpdate,
  ownBudgetUpdate,
  budgetValues,
  ownBudgetValues,
  ROLE,
  selfGet,
  SELF_BUDGET_SCOPES,
  teamBudgetCreate,
  teamBudgetDelete,
  teamBudgetList,
  teamBudgetReset,
  teamBudgetUpdate,
  teamBudgetValues,
  type Budget,
  type CallInput,
} from "@fairway/wire";
import type { Reference } from "../../core/arguments.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import type { SessionClient } from "../../session/session.ts";
import { nameBudget, resolveAmong, resolveIdByName } from "../names.ts";

export type NewBudget = NonNullable<CallInput<typeof budgetCreate>["body"]>;
export type BudgetFields = Omit<NonNullable<CallInput<typeof budgetUpdate>["body"]>, "id">;

/** The budgets that commands are about: those of the installation, those inside a team, or a person's own. */
export interface BudgetOwner {
  read(id: number): Promise<Budget>;
  create(body: NewBudget): Promise<Budget>;
  update(id: number, body: BudgetFields): Promise<Budget>;
  reset(id: number): Promise<Budget>;
  /** The values of a template that have used most. */
  values(id: number, keyword: string): Promise<readonly Budget[]>;
  remove(id: number): Promise<unknown>;
  /** Returns the id of an argument; `isExact` accepts only whole names. */
  resolve(reference: Reference, isExact?: boolean): Promise<number>;
}

/** Administrators change all budgets, other people those that they made for themselves. */
export async function openBudgets(client: SessionClient, team: number | undefined): Promise<BudgetOwner> {
  if (team !== undefined) return openOfTeam(client, team);
  return (await isOperator(client)) ? openAll(client) : openOwn(client);
}

/** A service account, or a token that may not read its person, makes the calls of administrators. */
async function isOperator(client: SessionClient): Promise<boolean> {
  try {
    return (await client.call(selfGet, {})).data.role >= ROLE.admin;
  } catch (problem) {
    if (problem instanceof ApiProblem && UNREADABLE.has(problem.key ?? "")) return true;
    throw problem;
  }
}

const UNREADABLE: ReadonlySet<string> = new Set(["permission_denied", "scope_missing"]);

function openAll(client: SessionClient): BudgetOwner {
  return {
    read: async (id) => (await client.call(budgetGet, { params: { id } })).data,
    create: async (body) => (await client.call(budgetCreate, { body })).data,
    update: async (id, body) => (await client.call(budgetUpdate, { body: { id, ...body } })).data,
    reset: async (id) => (await client.call(budgetReset, { params: { id } })).data,
    values: async (id, keyword) => (await client.call(budgetValues, { params: { id }, query: { keyword } })).data,
    remove: (id) => client.call(budgetDelete, { params: { id } }),
    resolve: async (reference, isExact = false) =>
      typeof reference === "number" ? reference : resolveIdByName(client, reference, isExact),
  };
}

function openOwn(client: SessionClient): BudgetOwner {
  const list = async () => (await client.call(budgetListSelf, {})).data;
  return {
    ...findAmong(list, "you have no budget"),
    async create({ scope, subject, ...terms }) {
      const own = SELF_BUDGET_SCOPES.find((one) => one === scope);
      if (own === undefined)
        throw new CliError(
          `only administrators limit a ${scope}`,
          EXIT.usage,
          "for yourself name --token, --tag app=shop or --end-user 42; for a team --team",
        );
      return (await client.call(ownBudgetCreate, { body: { ...terms, scope: own, subject } })).data;
    },
    update: async (id, body) => (await client.call(ownBudgetUpdate, { params: { id }, body })).data,
    reset: async (id) => (await client.call(ownBudgetReset, { params: { id } })).data,
    values: async (id, keyword) => (await client.call(ownBudgetValues, { params: { id }, query: { keyword } })).data,
    remove: (id) => client.call(ownBudgetDelete, { params: { id } }),
  };
}

/** Finds budgets in a list that the gateway answers whole. */
function findAmong(list: () => Promise<readonly Budget[]>, missing: string): Pick<BudgetOwner, "read" | "resolve"> {
  return {
    async read(id) {
      const found = (await list()).find((budget) => budget.id === id);
      if (!found) throw new CliError(`${missing} ${id}`, EXIT.notFound);
      return found;
    },
    async resolve(reference, isExact = false) {
      if (typeof reference === "number") return reference;
      const rows = (await list()).map((budget) => ({ id: budget.id, name: nameBudget(budget) }));
      const read = (keyword: string) =>
        Promise.resolve(rows.filter(({ name }) => name.toLowerCase().includes(keyword.toLowerCase())));
      return resolveAmong(reference, read, isExact);
    },
  };
}

function openOfTeam(client: SessionClient, team: number): BudgetOwner {
  const params = (bid: number) => ({ params: { id: team, bid } });
  const list = async () => (await client.call(teamBudgetList, { params: { id: team } })).data;
  return {
    ...findAmong(list, "the team has no budget"),
    create: async ({ scope, subject, ...terms }) => {
      const inside = { ...terms, scope: scope as TeamScope, ...(scope !== "team" && { subject }) };
      return (await client.call(teamBudgetCreate, { params: { id: team }, body: inside })).data;
    },
    update: async (id, body) => (await client.call(teamBudgetUpdate, { ...params(id), body })).data,
    reset: async (id) => (await client.call(teamBudgetReset, params(id))).data,
    values: async (id, keyword) => (await client.call(teamBudgetValues, { ...params(id), query: { keyword } })).data,
    remove: (id) => client.call(teamBudgetDelete, params(id)),
  };
}

type TeamScope = NonNullable<CallInput<typeof teamBudgetCreate>["body"]>["scope"];
