import { budgetSubject, type Budget } from "@fairway/wire";
import type { FormErrors } from "../../lib/use-form.ts";
import type { BudgetChange } from "./api.ts";

export const SCOPES = ["user", "token", "group", "model", "channel"] as const satisfies readonly Budget["scope"][];
export const PERIODS = ["day", "week", "month"] as const satisfies readonly Budget["period"][];

export interface BudgetDraft {
  readonly scope: Budget["scope"];
  readonly subject: string;
  readonly period: Budget["period"];
  readonly time_zone: string;
  /** Quota units; undefined while the text is not an amount. */
  readonly quota_limit: number | undefined;
  readonly soft_percent: string;
  readonly is_hard: boolean;
}

/** The server's default percentage. */
const USUAL_PERCENT = "80";

export function newBudget(scope: Budget["scope"], subject: string): BudgetDraft {
  return {
    scope,
    subject,
    period: "month",
    time_zone: "UTC",
    quota_limit: undefined,
    soft_percent: USUAL_PERCENT,
    is_hard: true,
  };
}

export function toBudgetDraft(budget: Budget): BudgetDraft {
  const { scope, subject, period, time_zone, quota_limit, soft_percent, is_hard } = budget;
  return { scope, subject, period, time_zone, quota_limit, soft_percent: String(soft_percent), is_hard };
}

export function toBudgetChange(form: BudgetDraft): BudgetChange {
  return {
    quota_limit: form.quota_limit ?? 0,
    time_zone: form.time_zone.trim(),
    soft_percent: Number(form.soft_percent),
    is_hard: form.is_hard,
  };
}

type ProblemKey = "subjectMissing" | "subjectNoId" | "limitMissing" | "zoneMissing" | "percentWrong";

function subjectProblem({ scope, subject }: BudgetDraft): ProblemKey | undefined {
  if (subject.trim() === "") return "subjectMissing";
  const isNamed = scope === "group" || scope === "model";
  return isNamed || /^\d+$/.test(subject.trim()) ? undefined : "subjectNoId";
}

/** Validates the form; problems are keys of this feature's texts. */
export function checkBudget(form: BudgetDraft, isNew: boolean): Partial<Record<keyof BudgetDraft, ProblemKey>> {
  const subject = isNew ? subjectProblem(form) : undefined;
  const percent = form.soft_percent.trim();
  const isPercent = /^\d{1,3}$/.test(percent) && Number(percent) <= 100;
  return {
    ...(subject && { subject }),
    ...((form.quota_limit ?? 0) < 1 && { quota_limit: "limitMissing" as const }),
    ...(form.time_zone.trim() === "" && { time_zone: "zoneMissing" as const }),
    ...(!isPercent && { soft_percent: "percentWrong" as const }),
  };
}

export function translateErrors(
  problems: ReturnType<typeof checkBudget>,
  t: (key: ProblemKey) => string,
): FormErrors<BudgetDraft> {
  return Object.fromEntries(Object.entries(problems).map(([name, key]) => [name, t(key)]));
}

export type BudgetState = "within" | "near" | "spent";

/** Returns how much of the current window is used; reservations of running requests count as used. */
export function calculateBudgetState({ used, held, quota_limit, soft_percent }: Budget): BudgetState {
  const taken = used + held;
  if (taken >= quota_limit) return "spent";
  return soft_percent > 0 && taken * 100 >= quota_limit * soft_percent ? "near" : "within";
}

export interface BudgetFilter {
  readonly q: string;
  readonly scope: string;
  readonly state: string;
}

/** Returns the budgets that match; `q` is part of the name or number of a subject. */
export function filterBudgets(budgets: readonly Budget[], { q, scope, state }: BudgetFilter): Budget[] {
  const part = q.toLowerCase();
  return budgets.filter(
    (budget) =>
      budgetSubject(budget).toLowerCase().includes(part) &&
      (scope === "" || budget.scope === scope) &&
      (state === "" || calculateBudgetState(budget) === state),
  );
}
