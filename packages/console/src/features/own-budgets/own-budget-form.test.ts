import { expect, test } from "vitest";
import { checkOwnBudget, NEW_BUDGET, toNewBudget } from "./own-budget-form.ts";

const filled = { ...NEW_BUDGET, subject: " 7 ", limit: 5 };

test("a new budget names what it limits, and a changed one only its amount", () => {
  expect(checkOwnBudget(NEW_BUDGET, true)).toEqual({ limit: "badAmount", subject: "badSubject" });
  expect(checkOwnBudget({ ...NEW_BUDGET, limit: 5 }, false)).toEqual({});
  expect(checkOwnBudget(filled, true)).toEqual({});
  expect(checkOwnBudget({ ...filled, scope: "tag", subject: "shop" }, true)).toEqual({ subject: "badTag" });
  expect(checkOwnBudget({ ...filled, scope: "tag", subject: "app=*" }, true)).toEqual({});
  expect(checkOwnBudget({ ...filled, period: "hours", hours: "0" }, true)).toEqual({ hours: "badHours" });
});

test("only windows of hours have a length", () => {
  const sent = { scope: "token", subject: "7", filter_model: "", quota_limit: 5, is_hard: true } as const;
  expect(toNewBudget(filled)).toEqual({ ...sent, period: "month" });
  expect(toNewBudget({ ...filled, period: "hours" })).toEqual({ ...sent, period: "hours", length: 5 });
});
