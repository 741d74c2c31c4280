import * as z from "zod/mini";
import {
  Budget,
  budgetCreate,
  budgetFields,
  budgetUpdate,
  budgetValueQuery,
  WRONG_BUDGET_TERMS,
} from "../billing/budgets.ts";
import { TEAM_BUDGET_SCOPES } from "../core/budget-terms.ts";
import { endpoint } from "../core/endpoint.ts";
import { idParams, pathId } from "../core/envelope.ts";

const GONE = ["team_not_found", "team_right_missing"] as const;
const CHANGED = [...GONE, "budget_not_found", "budget_of_administrator"] as const;
const params = z.object({ id: pathId, bid: pathId });

export const teamBudgetList = endpoint({
  name: "teamBudgetList",
  method: "GET",
  path: "/api/team/{id}/budget/",
  access: "user",
  summary: "Budgets of a team, its wallet, members, service accounts, keys, tags and end users, oldest first.",
  params: idParams,
  data: z.array(Budget),
  fails: GONE,
});

export const teamBudgetCreate = endpoint({
  name: "teamBudgetCreate",
  method: "POST",
  path: "/api/team/{id}/budget/",
  access: "user",
  summary:
    "Limits what the team, one of its members, service accounts, keys, tags or end users spends; never more than an administrator allows.",
  params: idParams,
  body: z.strictObject({
    scope: z.enum(TEAM_BUDGET_SCOPES),
    /**
     * Id or name of the member, id of the service account or key, `app=shop` of a tag, name of an end user; absent for
     * the team itself. `*`, or `app=*` for a tag, stands for each of them.
     */
    subject: z.optional(z.string().check(z.minLength(1), z.maxLength(128))),
    period: budgetCreate.body.shape.period,
    quota_limit: budgetCreate.body.shape.quota_limit,
    filter_model: budgetCreate.body.shape.filter_model,
    ...budgetFields,
  }),
  data: Budget,
  fails: [
    ...GONE,
    ...WRONG_BUDGET_TERMS,
    "budget_exists",
    "budget_too_many",
    "budget_subject_unknown",
    "budget_above_administrator",
  ],
});

export const teamBudgetValues = endpoint({
  name: "teamBudgetValues",
  method: "GET",
  path: "/api/team/{id}/budget/{bid}/values",
  access: "user",
  summary: "The values of a template of the team, such as its end users, with their budgets: at most 100.",
  params,
  query: budgetValueQuery,
  data: z.array(Budget),
  fails: [...GONE, "budget_not_found"],
});

export const teamBudgetUpdate = endpoint({
  name: "teamBudgetUpdate",
  method: "PUT",
  path: "/api/team/{id}/budget/{bid}",
  access: "user",
  summary: "Changes a budget that the team made; what is used stays.",
  params,
  body: z.strictObject({ quota_limit: budgetUpdate.body.shape.quota_limit, ...budgetFields }),
  data: Budget,
  fails: [...CHANGED, ...WRONG_BUDGET_TERMS, "entity_changed", "budget_exists", "budget_above_administrator"],
});

export const teamBudgetReset = endpoint({
  name: "teamBudgetReset",
  method: "POST",
  path: "/api/team/{id}/budget/{bid}/reset",
  access: "user",
  summary: "Lets a budget that the team made count from 0 again.",
  params,
  data: Budget,
  fails: CHANGED,
});

export const teamBudgetDelete = endpoint({
  name: "teamBudgetDelete",
  method: "DELETE",
  path: "/api/team/{id}/budget/{bid}",
  access: "user",
  summary: "Deletes a budget that the team made.",
  params,
  fails: CHANGED,
});
