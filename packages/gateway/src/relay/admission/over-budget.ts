import type { BudgetRefusal, BudgetTerms } from "../../billing/budgets/budget.ts";
import { systemClock } from "../../lib/clock.ts";
import { AppError } from "../../lib/app-error.ts";
import { splitPayer } from "../../storage/row-names.ts";

const PERIODS = {
  hour: "hourly",
  day: "daily",
  week: "weekly",
  month: "monthly",
  quarter: "quarterly",
  year: "yearly",
  total: "total",
} as const;

/** Clients should not plan for more than a day. */
const MAX_RETRY_SECONDS = 86_400;

/**
 * Returns a 403 `budget_exceeded` that names the period, the owner of the budget and the begin of its next window.
 *
 * @param now epoch milliseconds
 */
export function overBudget({ budget, endsAt }: BudgetRefusal, now: number = systemClock.now()): AppError {
  const { period, length, scope } = budget;
  const word = period === "hours" ? `${length}-hour` : PERIODS[period];
  const entity = describeEntity(budget);
  // Clients learn neither names nor numbers of channels.
  const name = scope === "channel" ? "" : readName(budget);
  const common = { param: scope, entity: { scope, name } };
  if (endsAt === 0)
    return new AppError("budget_exceeded", { ...common, message: `The ${word} budget of ${entity} is used up.` });
  const seconds = Math.min(Math.max(1, endsAt - Math.floor(now / 1000)), MAX_RETRY_SECONDS);
  const values = { period: word, entity, time: new Date(endsAt * 1000).toISOString() };
  return new AppError("budget_exceeded", { ...common, values, retryAfterMs: seconds * 1000 });
}

/** A client learns its own tag or end user, not the account. */
function readName({ scope, subject, subject_name: name = "" }: BudgetTerms): string {
  return scope === "tag" || scope === "end_user" ? splitPayer(subject).value : name || subject;
}

/** Returns what the budget limits, in the words of the caller. */
function describeEntity(budget: BudgetTerms): string {
  switch (budget.scope) {
    case "user":
      return "your account";
    case "token":
      return `key ${readName(budget)}`;
    case "channel":
      return "this channel";
    case "group":
    case "model":
      return `${budget.scope} ${budget.subject}`;
    default:
      return `${budget.scope.replace("_", " ")} ${readName(budget)}`;
  }
}
