import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams } from "../core/envelope.ts";

const scope = z.enum(["token", "user", "group", "model", "channel"]);
const period = z.enum(["day", "week", "month"]);
const units = z.int().check(z.minimum(1));
const percent = z.int().check(z.minimum(0), z.maximum(100));
const name = z.string().check(z.minLength(1), z.maxLength(191));

/** A spending limit of a token, user, group, model or channel for a calendar period. */
export const Budget = z.object({
  id: z.int(),
  scope,
  /** Id of the token, user or channel; name of the group or model. */
  subject: z.string(),
  /** Name of the token, user, group, model or channel; "" if no row has that id any longer. */
  subject_name: z.string(),
  period,
  /** Time zone that decides when a day begins, such as `Europe/Berlin`. Weeks begin on Monday. */
  time_zone: z.string(),
  /** Quota units. */
  quota_limit: z.int(),
  /** Percentage of the limit at which the super administrator gets a mail; 0 = never. */
  soft_percent: z.int(),
  /** True: requests that would exceed the limit are refused. False: notices only. */
  is_hard: z.boolean(),
  /** Quota used in the current window; the next two also describe the current window. */
  used: z.int(),
  /** Quota reserved by running requests. */
  held: z.int(),
  /** Epoch seconds. */
  window_start: z.int(),
  window_end: z.int(),
  /**
   * Epoch seconds from which spending counts: later than the start of the window if the budget was created inside it.
   */
  counts_since: z.optional(z.int()),
});
export type Budget = z.output<typeof Budget>;

/** Returns the time from which `used` counts; pace, forecast and curve begin there too. */
export function countsSince({ window_start: start, counts_since: since = start }: Budget): number {
  return Math.max(start, since);
}

/** Returns the name and id of the subject, such as `ada #17`; for a deleted row, only its id. */
export function budgetSubject({
  scope,
  subject,
  subject_name: name,
}: Pick<Budget, "scope" | "subject" | "subject_name">): string {
  if (scope === "group" || scope === "model") return subject;
  return name === "" ? `#${subject}` : `${name} #${subject}`;
}

const optionalFields = {
  time_zone: z.optional(z.string()),
  soft_percent: z.optional(percent),
  is_hard: z.optional(z.boolean()),
};

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
  summary: "Budgets of the caller and of the caller's tokens, oldest first.",
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
  summary: "Creates a budget; by default a hard one with a notice at 80 percent, in UTC.",
  body: z.strictObject({ scope, subject: name, period, quota_limit: units, ...optionalFields }),
  data: Budget,
  fails: ["budget_exists", "time_zone_unknown", "budget_subject_unknown", "user_change_not_permitted"],
});

export const budgetUpdate = endpoint({
  name: "budgetUpdate",
  method: "PUT",
  path: "/api/budget/",
  access: "admin",
  summary: "Changes limit, threshold, hardness or time zone; what is used in the window stays.",
  body: z.strictObject({ id: z.int(), quota_limit: z.optional(units), ...optionalFields }),
  data: Budget,
  fails: ["entity_changed", "budget_not_found", "time_zone_unknown", "user_change_not_permitted"],
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
