import { expect, test } from "vitest";
import type { BudgetTerms } from "../../billing/budgets/budget.ts";
import { overBudget } from "./over-budget.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const budget: BudgetTerms = {
  id: 1,
  scope: "user",
  subject: "7",
  subject_name: "ann",
  period: "day",
  time_zone: "UTC",
  length: 0,
  anchor: "",
  ends_at: 0,
  filter_model: "",
  quota_limit: 5,
  is_hard: 1,
};
const refusal = (more: Partial<BudgetTerms> = {}, endsAt = NOW / 1000 + 60) => {
  const { message, param, entity, retryAfterMs, status } = overBudget({ budget: { ...budget, ...more }, endsAt }, NOW);
  return { message, param, entity, retryAfterMs, status };
};

test("a refusal names the period, what is limited and the next window", () => {
  expect(refusal()).toEqual({
    status: 403,
    message: "The daily budget of your account is used up; the next window begins at 2026-11-21T12:01:00.000Z.",
    param: "user",
    entity: { scope: "user", name: "ann" },
    retryAfterMs: 60_000,
  });
  const words = (more: Partial<BudgetTerms>) => /^The (.*) is used up/.exec(refusal(more).message)?.[1];
  expect(words({ period: "hours", length: 5 })).toBe("5-hour budget of your account");
  expect(words({ period: "hour" })).toBe("hourly budget of your account");
  expect(words({ period: "quarter", scope: "token", subject_name: "ci" })).toBe("quarterly budget of key ci");
  expect(words({ period: "year", scope: "group", subject: "vip" })).toBe("yearly budget of group vip");
  expect(words({ period: "week", scope: "model", subject: "gpt-4o" })).toBe("weekly budget of model gpt-4o");
  const member = { period: "hours", length: 5, scope: "member", subject_name: "ann of team Research" } as const;
  expect(words(member)).toBe("5-hour budget of member ann of team Research");
  expect(words({ scope: "team", subject_name: "Research" })).toBe("daily budget of team Research");
  const shop = { scope: "tag", subject: "7/app=shop", subject_name: "app=shop of ada" } as const;
  expect(words(shop)).toBe("daily budget of tag app=shop");
  expect(words({ scope: "end_user", subject: "7/a/b", subject_name: "" })).toBe("daily budget of end user a/b");
  expect(words({ scope: "service_account", subject_name: "ci" })).toBe("daily budget of service account ci");
  const channel = { period: "month", scope: "channel", subject: "12", subject_name: "azure-secret" } as const;
  expect(refusal(channel)).toMatchObject({ entity: { scope: "channel", name: "" } });
  expect(JSON.stringify(refusal(channel))).not.toMatch(/azure|12"/);
});

test("a total budget has no next window, and no wait is longer than a day", () => {
  expect(refusal({ period: "total" }, 0)).toMatchObject({
    message: "The total budget of your account is used up.",
    retryAfterMs: undefined,
  });
  expect(refusal({ period: "year" }, NOW / 1000 + 10 ** 7).retryAfterMs).toBe(86_400_000);
  expect(refusal({}, NOW / 1000 - 5).retryAfterMs).toBe(1_000);
});
