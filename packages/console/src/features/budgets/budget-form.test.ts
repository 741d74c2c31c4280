import type { Budget } from "@fairway/wire";
import { expect, test } from "vitest";
import {
  toBudgetChange,
  checkBudget,
  filterBudgets,
  toBudgetDraft,
  newBudget,
  calculateBudgetState,
} from "./budget-form.ts";

const BUDGET: Budget = {
  id: 1,
  scope: "group",
  subject: "vip",
  subject_name: "vip",
  period: "month",
  time_zone: "Europe/Berlin",
  quota_limit: 1_000,
  soft_percent: 80,
  is_hard: true,
  used: 0,
  held: 0,
  window_start: 0,
  window_end: 0,
};

test("a new budget needs a subject and a limit; users, tokens and channels are meant by their id", () => {
  expect(checkBudget(newBudget("user", ""), true)).toEqual({ subject: "subjectMissing", quota_limit: "limitMissing" });
  const limited = { ...newBudget("user", "ada"), quota_limit: 1 };
  expect(checkBudget(limited, true)).toEqual({ subject: "subjectNoId" });
  expect(checkBudget({ ...limited, scope: "model", subject: "gpt-4o" }, true)).toEqual({});
});

test("the notice is a percentage, and 0 switches it off", () => {
  const form = toBudgetDraft(BUDGET);
  for (const text of ["", "101", "-1", "8.5", "all"]) {
    expect(checkBudget({ ...form, soft_percent: text }, false), text).toEqual({ soft_percent: "percentWrong" });
  }
  expect(toBudgetChange({ ...form, soft_percent: "0" })).toEqual({
    quota_limit: 1_000,
    time_zone: "Europe/Berlin",
    soft_percent: 0,
    is_hard: true,
  });
});

test("reservations count as used", () => {
  expect(calculateBudgetState({ ...BUDGET, used: 700, held: 99 })).toBe("within");
  expect(calculateBudgetState({ ...BUDGET, used: 700, held: 100 })).toBe("near");
  expect(calculateBudgetState({ ...BUDGET, used: 900, held: 100 })).toBe("spent");
  expect(calculateBudgetState({ ...BUDGET, used: 999, soft_percent: 0 })).toBe("within");
});

test("budgets are filtered by part of the name or number of their subject, scope and state", () => {
  const spent = { ...BUDGET, id: 2, scope: "user" as const, subject: "17", subject_name: "ada", used: 1_000 };
  const ids = (filter: Partial<Parameters<typeof filterBudgets>[1]>) =>
    filterBudgets([BUDGET, spent], { q: "", scope: "", state: "", ...filter }).map(({ id }) => id);
  expect(ids({})).toEqual([1, 2]);
  expect(ids({ q: "VI" })).toEqual([1]);
  expect(ids({ q: "Ada" })).toEqual([2]);
  expect(ids({ q: "#17" })).toEqual([2]);
  expect(ids({ scope: "user" })).toEqual([2]);
  expect(ids({ state: "spent" })).toEqual([2]);
});
