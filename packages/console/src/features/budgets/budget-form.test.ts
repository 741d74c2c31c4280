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
  length: 0,
  anchor: "",
  ends_at: 0,
  filter_model: "",
  managed_by: "admin",
  thresholds: [80, 100],
  forecast: false,
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

const CHANGE = {
  quota_limit: 1_000,
  time_zone: "Europe/Berlin",
  length: 0,
  anchor: "",
  ends_at: 0,
  thresholds: [80, 100],
  forecast: false,
  is_hard: true,
};

test("notices are percentages, and an empty field means none", () => {
  const form = toBudgetDraft(BUDGET);
  for (const text of ["0", "201", "-1", "8.5", "all", "1,2,3,4,5,6,7,8,9,10,11"])
    expect(checkBudget({ ...form, thresholds: text }, false), text).toEqual({ thresholds: "percentWrong" });
  expect(toBudgetChange(form)).toEqual(CHANGE);
  expect(toBudgetChange({ ...form, thresholds: "50 %, 80;95" })).toEqual({ ...CHANGE, thresholds: [50, 80, 95] });
  expect(toBudgetChange({ ...form, thresholds: " " })).toEqual({ ...CHANGE, thresholds: [] });
});

test("each period has the members of its windows and no others", () => {
  const form = { ...toBudgetDraft(BUDGET), length: "5", anchor: "04-06", ends: "2031-01-31T12:00" };
  const change = (period: Budget["period"]) => toBudgetChange({ ...form, period });
  expect(change("hours")).toEqual({ ...CHANGE, length: 5 });
  expect(change("quarter")).toEqual({ ...CHANGE, anchor: "04-06" });
  expect(change("total")).toEqual({ ...CHANGE, ends_at: Date.parse("2031-01-31T12:00") / 1000 });
  expect(change("day")).toEqual(CHANGE);
  expect(checkBudget({ ...form, period: "hours", length: "721" }, false)).toEqual({ length: "lengthWrong" });
  expect(checkBudget({ ...form, period: "month" }, false)).toEqual({ anchor: "anchorMonthWrong" });
  expect(checkBudget({ ...form, period: "year", anchor: "13-01" }, false)).toEqual({ anchor: "anchorDateWrong" });
  expect(checkBudget({ ...form, anchor: "", filter_model: "a*b" }, false)).toEqual({ filter_model: "modelWrong" });
  const ends = Date.parse("2031-01-31T12:00") / 1000;
  expect(toBudgetDraft({ ...BUDGET, period: "total", ends_at: ends }).ends).toBe("2031-01-31T12:00:00");
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
