import * as z from "zod/mini";
import { SELF_BUDGET_SCOPES } from "../core/budget-terms.ts";
import { endpoint } from "../core/endpoint.ts";
import { idParams } from "../core/envelope.ts";
import { Budget, budgetCreate, budgetFields, budgetUpdate, budgetValueQuery, WRONG_BUDGET_TERMS } from "./budgets.ts";

const CHANGED = ["budget_not_found", "budget_of_administrator"] as const;

export const ownBudgetCreate = endpoint({
  name: "ownBudgetCreate",
  method: "POST",
  path: "/api/budget/self",
  access: "user",
  summary:
    "Limits what a token, a tag or an end user of the caller spends; never more than an administrator allows. 50 at most.",
  body: z.strictObject({
    scope: z.enum(SELF_BUDGET_SCOPES),
    /** Id of the token, `app=shop` of a tag, name of an end user; `app=*` and `*` stand for each of them. */
    subject: z.string().check(z.minLength(1), z.maxLength(128)),
    period: budgetCreate.body.shape.period,
    quota_limit: budgetCreate.body.shape.quota_limit,
    filter_model: budgetCreate.body.shape.filter_model,
    ...budgetFields,
  }),
  data: Budget,
  fails: [
    ...WRONG_BUDGET_TERMS,
    "budget_exists",
    "budget_too_many",
    "budget_subject_unknown",
    "budget_above_administrator",
  ],
});

export const ownBudgetUpdate = endpoint({
  name: "ownBudgetUpdate",
  method: "PUT",
  path: "/api/budget/self/{id}",
  access: "user",
  summary: "Changes a budget that the caller made; what is used stays.",
  params: idParams,
  body: z.strictObject({ quota_limit: budgetUpdate.body.shape.quota_limit, ...budgetFields }),
  data: Budget,
  fails: [...CHANGED, ...WRONG_BUDGET_TERMS, "entity_changed", "budget_exists", "budget_above_administrator"],
});

export const ownBudgetReset = endpoint({
  name: "ownBudgetReset",
  method: "POST",
  path: "/api/budget/self/{id}/reset",
  access: "user",
  summary: "Lets a budget that the caller made count from 0 again.",
  params: idParams,
  data: Budget,
  fails: CHANGED,
});

export const ownBudgetValues = endpoint({
  name: "ownBudgetValues",
  method: "GET",
  path: "/api/budget/self/{id}/values",
  access: "user",
  summary: "The values of a template of the caller, such as the end users, with their budgets: at most 100.",
  params: idParams,
  query: budgetValueQuery,
  data: z.array(Budget),
  fails: ["budget_not_found"],
});

export const ownBudgetDelete = endpoint({
  name: "ownBudgetDelete",
  method: "DELETE",
  path: "/api/budget/self/{id}",
  access: "user",
  summary: "Deletes a budget that the caller made.",
  params: idParams,
  fails: CHANGED,
});
