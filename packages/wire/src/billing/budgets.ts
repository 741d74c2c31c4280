import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams, queryText } from "../core/envelope.ts";
import {
  BUDGET_MAKERS,
  BUDGET_PERIODS,
  BUDGET_SCOPES,
  budgetFilter,
  budgetThresholds,
  MAX_BUDGET_HOURS,
} from "../core/budget-terms.ts";

const scope = z.enum(BUDGET_SCOPES);
const period = z.enum(BUDGET_PERIODS);
const units = z.int().check(z.minimum(1));
const percent = z.int().check(z.minimum(0), z.maximum(100));
const name = z.string().check(z.minLength(1), z.maxLength(191));

/** A spending limit of a token, user, group, model, channel, team, member, service account, tag or end user. */
export const Budget = z.object({
  id: z.int(),
  scope,
  /**
   * Id of the token, user, channel, team or service account; `TEAM:USER` of a member; name of the group or model;
   * `ACCOUNT/app=shop` of a tag and `ACCOUNT/42` of an end user, with the account that pays. With `*` for the member, the
   * value or the end user it is a template: each of them has a budget with these terms, from its first call on.
   */
  subject: z.string(),
  /** Name of the token, user, group, model or channel; "" if no row has that id any longer. */
  subject_name: z.string(),
  /**
   * `hour`, `day`, `week`, `month`, `quarter` and `year` follow the calendar of `time_zone`. A window of `hours` opens
   * with the first request after the last one ended, and lasts `length` hours. `total` is one window without end.
   */
  period,
  /** Hours of a window of the period `hours`; otherwise 0. */
  length: z.int(),
  /**
   * The day on which windows begin: a weekday from `1` (Monday) to `7`, a day of the month from `1` to `31` (the last day
   * of shorter months), or `MM-DD` for quarters and years; "" = Monday, or the first day.
   */
  anchor: z.string(),
  /** Epoch seconds at which a `total` budget ends and counts no more; 0 = never. */
  ends_at: z.int(),
  /** Time zone that decides when a day begins, such as `Europe/Berlin`. */
  time_zone: z.string(),
  /** The model whose calls count, or the beginning of names and `*`, such as `claude-*`; "" = all calls. */
  filter_model: z.string(),
  /**
   * `team`: the admins of a team made it, `self`: the person whom it limits. They change and delete it, and so do those
   * above them: admins of a team what members made, administrators all.
   */
  managed_by: z.enum(BUDGET_MAKERS),
  /** Quota units. */
  quota_limit: z.int(),
  /** Percentages of the limit that are reported, once in each window. */
  thresholds: z.array(z.int()),
  /** The lowest threshold below 100; 0 = none. */
  soft_percent: z.int(),
  /** True: an event says when the budget is going to be used up before its window ends. */
  forecast: z.boolean(),
  /** True: requests that would exceed the limit are refused. False: notices only. */
  is_hard: z.boolean(),
  /** Quota used in the current window; the next two also describe the current window. */
  used: z.int(),
  /** Quota reserved by running requests. */
  held: z.int(),
  /** Epoch seconds; 0 = no window is open: it begins with the next request. */
  window_start: z.int(),
  /** 0 = the window has no end, or none is open. */
  window_end: z.int(),
  /**
   * Epoch seconds from which spending counts: later than the start of the window if the budget was created inside it.
   */
  counts_since: z.optional(z.int()),
  /** Set for the budget of one value: the template whose terms it has. */
  template_id: z.optional(z.int()),
  /** Set for a template: the number of values that have a budget. */
  values: z.optional(z.int()),
});
export type Budget = z.output<typeof Budget>;

/** Returns the time from which `used` counts; pace, forecast and curve begin there too. */
export function countsSince({ window_start: start, counts_since: since = start }: Budget): number {
  return Math.max(start, since);
}

/** True while a budget of hours waits for the request that opens its next window. */
export function isIdle({ period, window_start: start }: Pick<Budget, "period" | "window_start">): boolean {
  return period === "hours" && start === 0;
}

/** Returns the name and id of the subject, such as `ada #17`; for a deleted row, only its id. */
export function budgetSubject({
  scope,
  subject,
  subject_name: name,
}: Pick<Budget, "scope" | "subject" | "subject_name">): string {
  if (scope === "group" || scope === "model") return subject;
  if (scope === "member" || scope === "tag" || scope === "end_user") return name === "" ? `#${subject}` : name;
  return name === "" ? `#${subject}` : `${name} #${subject}`;
}

/** Members of a form that have a default. */
export const budgetFields = {
  time_zone: z.optional(z.string()),
  length: z.optional(z.int().check(z.minimum(0), z.maximum(MAX_BUDGET_HOURS))),
  anchor: z.optional(z.union([z.string().check(z.maxLength(5)), z.int()])),
  ends_at: z.optional(z.int().check(z.minimum(0))),
  thresholds: z.optional(budgetThresholds),
  /** Replaces the thresholds below 100; 0 = removes them. */
  soft_percent: z.optional(percent),
  forecast: z.optional(z.boolean()),
  is_hard: z.optional(z.boolean()),
};

export const WRONG_BUDGET_TERMS = [
  "time_zone_unknown",
  "budget_length_wrong",
  "budget_anchor_wrong",
  "budget_end_wrong",
] as const;

/** Chooses among the values of a template by a part of their names. */
export const budgetValueQuery = z.object({ keyword: queryText });

export const budgetList = endpoint({
  name: "budgetList",
  method: "GET",
  path: "/api/budget/",
  access: "admin",
  summary: "Budgets, oldest first; without those of users whom the caller may not see.",
  data: z.array(Budget),
});

export const budgetListSelf = endpoint({
  name: "budgetListSelf",
  method: "GET",
  path: "/api/budget/self",
  access: "user",
  summary:
    "Budgets of the caller, of the caller's tokens, tags and end users, of the teams and of the memberships, oldest first.",
  data: z.array(Budget),
});

export const budgetGet = endpoint({
  name: "budgetGet",
  method: "GET",
  path: "/api/budget/{id}",
  access: "admin",
  summary: "Reads one budget.",
  params: idParams,
  data: Budget,
  fails: ["budget_not_found", "user_view_not_permitted"],
});

export const budgetCreate = endpoint({
  name: "budgetCreate",
  method: "POST",
  path: "/api/budget/",
  access: "admin",
  summary: "Creates a budget; by default a hard one with notices at 80 and 100 percent, in UTC.",
  body: z.strictObject({
    scope,
    subject: name,
    period,
    quota_limit: units,
    filter_model: z.optional(budgetFilter),
    ...budgetFields,
  }),
  data: Budget,
  fails: [
    ...WRONG_BUDGET_TERMS,
    "budget_exists",
    "budget_too_many",
    "budget_subject_unknown",
    "user_change_not_permitted",
  ],
});

export const budgetUpdate = endpoint({
  name: "budgetUpdate",
  method: "PUT",
  path: "/api/budget/",
  access: "admin",
  summary:
    "Changes limit, thresholds, hardness or windows; what is used stays, and the running window ends where the new rule has its next boundary.",
  body: z.strictObject({ id: z.int(), quota_limit: z.optional(units), ...budgetFields }),
  data: Budget,
  fails: [...WRONG_BUDGET_TERMS, "entity_changed", "budget_not_found", "budget_exists", "user_change_not_permitted"],
});

export const budgetValues = endpoint({
  name: "budgetValues",
  method: "GET",
  path: "/api/budget/{id}/values",
  access: "admin",
  summary:
    "The values of a template, such as its end users, with their budgets: at most 100, those with most use first.",
  params: idParams,
  query: budgetValueQuery,
  data: z.array(Budget),
  fails: ["budget_not_found", "user_view_not_permitted"],
});

export const budgetReset = endpoint({
  name: "budgetReset",
  method: "POST",
  path: "/api/budget/{id}/reset",
  access: "admin",
  summary:
    "Counts from 0 again: a total budget begins again, one of hours waits for its next request, others keep their window.",
  params: idParams,
  data: Budget,
  fails: ["budget_not_found", "user_change_not_permitted"],
});

export const budgetDelete = endpoint({
  name: "budgetDelete",
  method: "DELETE",
  path: "/api/budget/{id}",
  access: "admin",
  summary: "Deletes a budget.",
  params: idParams,
  fails: ["budget_not_found", "user_change_not_permitted"],
});
