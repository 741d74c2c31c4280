import type { Budget, SELF_BUDGET_SCOPES } from "@fairway/wire";
import type { NewOwnBudget } from "./api.ts";

export type OwnScope = (typeof SELF_BUDGET_SCOPES)[number];

export interface OwnBudgetDraft {
  readonly scope: OwnScope;
  /** Id of a token; a tag or the name of an end user. */
  readonly subject: string;
  readonly period: Budget["period"];
  readonly hours: string;
  readonly model: string;
  /** Quota units; undefined while the text is not an amount. */
  readonly limit: number | undefined;
  readonly isHard: boolean;
}

export const NEW_BUDGET: OwnBudgetDraft = {
  scope: "token",
  subject: "",
  period: "month",
  hours: "5",
  model: "",
  limit: undefined,
  isHard: true,
};

const TAG = /^[a-z][a-z0-9_.-]{0,31}=[^|=]+$/;
const MOST_HOURS = 720;

type ProblemKey = "badAmount" | "badSubject" | "badTag" | "badHours";

/** Validates the form; problems are keys of this feature's texts. Only amounts of an existing budget change. */
export function checkOwnBudget(
  { scope, subject, period, hours, limit }: OwnBudgetDraft,
  isNew: boolean,
): Partial<Record<keyof OwnBudgetDraft, ProblemKey>> {
  const named = subject.trim();
  return {
    ...((limit ?? 0) <= 0 && { limit: "badAmount" as const }),
    ...(isNew && named === "" && { subject: "badSubject" as const }),
    ...(isNew && named !== "" && scope === "tag" && !TAG.test(named) && { subject: "badTag" as const }),
    ...(isNew && period === "hours" && !isLength(hours) && { hours: "badHours" as const }),
  };
}

function isLength(text: string): boolean {
  const hours = Number(text);
  return Number.isInteger(hours) && hours >= 1 && hours <= MOST_HOURS;
}

export function toNewBudget(draft: OwnBudgetDraft): NewOwnBudget {
  const { scope, subject, period, hours, model, limit = 0, isHard } = draft;
  return {
    scope,
    subject: subject.trim(),
    period,
    ...(period === "hours" && { length: Number(hours) }),
    filter_model: model.trim(),
    quota_limit: limit,
    is_hard: isHard,
  };
}
