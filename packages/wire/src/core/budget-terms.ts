import * as z from "zod/mini";

/** What budgets limit. */
export const BUDGET_SCOPES = [
  "token",
  "user",
  "group",
  "model",
  "channel",
  "team",
  "member",
  "service_account",
  "tag",
  "end_user",
] as const;

/**
 * Who makes a budget and changes it: administrators of the installation, the admins of a team for what is in it, or a
 * person for the person's own. Each of them changes what the later ones made, and never what an earlier one made.
 */
export const BUDGET_MAKERS = ["admin", "team", "self"] as const;
export type BudgetMaker = (typeof BUDGET_MAKERS)[number];

/** What a team limits itself. */
export const TEAM_BUDGET_SCOPES = ["team", "member", "service_account", "token", "tag", "end_user"] as const;

/** What people limit themselves. */
export const SELF_BUDGET_SCOPES = ["token", "tag", "end_user"] as const;
/** Most budgets that a person makes, and most of them that stand for each value. */
export const MAX_SELF_BUDGETS = 50;
export const MAX_SELF_TEMPLATES = 5;

/** Most values of one template that have a budget of their own; further ones share that of `~other`. */
export const MAX_BUDGET_VALUES = 10_000;

/** The value of a template: each one has a budget with its terms. */
export const ANY_VALUE = "*";

const PATTERN_FORM: Readonly<Partial<Record<(typeof BUDGET_SCOPES)[number], RegExp>>> = {
  tag: /^\d+\/[^=]+=\*$/,
  end_user: /^\d+\/\*$/,
  member: /^\d+:\*$/,
};

/** True for a budget that stands for each value of its subject: `17/app=*`, `17/*`, `4:*`. */
export function isBudgetTemplate({
  scope,
  subject,
}: {
  readonly scope: (typeof BUDGET_SCOPES)[number];
  readonly subject: string;
}): boolean {
  return PATTERN_FORM[scope]?.test(subject) === true;
}

/** The periods of budgets. */
export const BUDGET_PERIODS = ["hour", "hours", "day", "week", "month", "quarter", "year", "total"] as const;

/** Most hours of a window of the period `hours`. */
export const MAX_BUDGET_HOURS = 720;
/** The model whose calls count, or the beginning of names and `*`. */
export const budgetFilter = z.string().check(z.maxLength(191), z.regex(/^([^*,\s][^*,]*\*?)?$/));
export const budgetThresholds = z.array(z.int().check(z.minimum(1), z.maximum(200))).check(z.maxLength(10));

/** The budget that is made with a token. */
export const TokenBudget = z.strictObject({
  period: z.enum(BUDGET_PERIODS),
  /** Quota units that the token may spend in one window. */
  quota_limit: z.int().check(z.minimum(1)),
  /** Time zone that decides when a day begins; UTC if absent. */
  time_zone: z.optional(z.string()),
  /** Hours of a window of the period `hours`. */
  length: z.optional(z.int().check(z.minimum(0), z.maximum(MAX_BUDGET_HOURS))),
});
export type TokenBudget = z.output<typeof TokenBudget>;
