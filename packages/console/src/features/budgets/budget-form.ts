import { budgetSubject, type Budget } from "@fairway/wire";
import { fromLocalInput, toLocalInput } from "../../lib/format.ts";
import type { FormErrors } from "../../lib/use-form.ts";
import type { BudgetChange } from "./api.ts";

/** The scopes that a person can choose: service accounts have no calls that make them yet. */
export const SCOPES = [
  "user",
  "token",
  "group",
  "model",
  "channel",
  "team",
  "member",
  "tag",
  "end_user",
] as const satisfies readonly Budget["scope"][];

/** Scopes whose subject is written by name. */
export const NAMED_SCOPES: ReadonlySet<Budget["scope"]> = new Set([
  "group",
  "model",
  "team",
  "member",
  "tag",
  "end_user",
]);

export interface BudgetDraft {
  readonly scope: Budget["scope"];
  readonly subject: string;
  readonly period: Budget["period"];
  /** Hours. */
  readonly length: string;
  readonly anchor: string;
  /** Local date and time of the end of a total budget, as the field of the browser has it; "" = none. */
  readonly ends: string;
  readonly time_zone: string;
  readonly filter_model: string;
  /** Quota units; undefined while the text is not an amount. */
  readonly quota_limit: number | undefined;
  /** Percentages. */
  readonly thresholds: string;
  readonly forecast: boolean;
  readonly is_hard: boolean;
}

/** The server's default percentages. */
const USUAL_PERCENTS = "80, 100";
const USUAL_HOURS = "5";

export function newBudget(scope: Budget["scope"], subject: string): BudgetDraft {
  return {
    scope,
    subject,
    period: "month",
    length: USUAL_HOURS,
    anchor: "",
    ends: "",
    time_zone: "UTC",
    filter_model: "",
    quota_limit: undefined,
    thresholds: USUAL_PERCENTS,
    forecast: false,
    is_hard: true,
  };
}

export function toBudgetDraft(budget: Budget): BudgetDraft {
  const { scope, subject, period, anchor, time_zone, filter_model, quota_limit, forecast, is_hard } = budget;
  return {
    scope,
    subject,
    period,
    anchor,
    time_zone,
    filter_model,
    quota_limit,
    forecast,
    is_hard,
    length: budget.length > 0 ? String(budget.length) : USUAL_HOURS,
    ends: budget.ends_at > 0 ? toLocalInput(budget.ends_at) : "",
    thresholds: budget.thresholds.join(", "),
  };
}

export function toBudgetChange(form: BudgetDraft): BudgetChange {
  const { period } = form;
  return {
    quota_limit: form.quota_limit ?? 0,
    time_zone: form.time_zone.trim(),
    length: period === "hours" ? Number(form.length) : 0,
    anchor: ANCHORED.has(period) ? form.anchor.trim() : "",
    ends_at: period === "total" ? (fromLocalInput(form.ends) ?? 0) : 0,
    thresholds: readPercents(form.thresholds),
    forecast: form.forecast,
    is_hard: form.is_hard,
  };
}

/** Periods whose windows can begin on another day. */
const ANCHORED: ReadonlySet<Budget["period"]> = new Set(["week", "month", "quarter", "year"]);

function readPercents(text: string): number[] {
  return text
    .split(/[\s,;%，、]+/)
    .filter((part) => part !== "")
    .map(Number);
}

type ProblemKey =
  | "subjectMissing"
  | "subjectNoId"
  | "memberWrong"
  | "tagWrong"
  | "endUserWrong"
  | "limitMissing"
  | "zoneMissing"
  | "percentWrong"
  | "lengthWrong"
  | "anchorMonthWrong"
  | "anchorDateWrong"
  | "modelWrong";

function subjectProblem({ scope, subject }: BudgetDraft): ProblemKey | undefined {
  if (subject.trim() === "") return "subjectMissing";
  if (scope === "member" && !/^[^:\s]+:[^:\s]+$/.test(subject.trim())) return "memberWrong";
  if (scope === "tag" && !/^[^/\s]+\/[a-z][a-z0-9_.-]{0,31}=[^|=]+$/.test(subject.trim())) return "tagWrong";
  if (scope === "end_user" && !/^[^/\s]+\/.+$/.test(subject.trim())) return "endUserWrong";
  return NAMED_SCOPES.has(scope) || /^\d+$/.test(subject.trim()) ? undefined : "subjectNoId";
}

const MOST_PERCENTS = 10;
const MOST_PERCENT = 200;
const MOST_HOURS = 720;

function arePercents(text: string): boolean {
  const percents = readPercents(text);
  const isPercent = (percent: number) => Number.isInteger(percent) && percent >= 1 && percent <= MOST_PERCENT;
  return percents.length <= MOST_PERCENTS && percents.every(isPercent);
}

function anchorProblem({ period, anchor }: BudgetDraft): ProblemKey | undefined {
  const text = anchor.trim();
  if (text === "") return undefined;
  if (period === "month") return /^([1-9]|[12]\d|3[01])$/.test(text) ? undefined : "anchorMonthWrong";
  if (period !== "quarter" && period !== "year") return undefined;
  return /^(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/.test(text) ? undefined : "anchorDateWrong";
}

function isLength({ period, length }: BudgetDraft): boolean {
  const hours = Number(length);
  return period !== "hours" || (Number.isInteger(hours) && hours >= 1 && hours <= MOST_HOURS);
}

const MODEL = /^([^*\s][^*]*\*?)?$/;

/** Validates the form; problems are keys of this feature's texts. */
export function checkBudget(form: BudgetDraft, isNew: boolean): Partial<Record<keyof BudgetDraft, ProblemKey>> {
  const subject = isNew ? subjectProblem(form) : undefined;
  const anchor = anchorProblem(form);
  return {
    ...(subject && { subject }),
    ...((form.quota_limit ?? 0) < 1 && { quota_limit: "limitMissing" as const }),
    ...(form.time_zone.trim() === "" && { time_zone: "zoneMissing" as const }),
    ...(!isLength(form) && { length: "lengthWrong" as const }),
    ...(anchor && { anchor }),
    ...(!MODEL.test(form.filter_model.trim()) && { filter_model: "modelWrong" as const }),
    ...(!arePercents(form.thresholds) && { thresholds: "percentWrong" as const }),
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
