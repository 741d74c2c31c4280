import { expect, test } from "vitest";
import type { BudgetTerms } from "./budget.ts";
import { countsModel } from "./filter.ts";
import { BudgetIndex } from "./lookup.ts";

const terms = (id: number, filter = "", more: Partial<BudgetTerms> = {}): BudgetTerms => ({
  id,
  scope: "user",
  subject: "7",
  period: "day",
  time_zone: "UTC",
  length: 0,
  anchor: "",
  ends_at: 0,
  filter_model: filter,
  quota_limit: 100,
  is_hard: 1,
  ...more,
});
const subjects = { tokenId: 3, userId: 7, group: "vip", channelId: 5 };

test("a filter is a name or the beginning of names", () => {
  const counted = (filter: string) =>
    ["gpt-4o", "gpt-4o-mini", "claude-3"].filter((model) => countsModel(filter, model));
  expect(counted("")).toHaveLength(3);
  expect(counted("gpt-4o")).toEqual(["gpt-4o"]);
  expect(counted("gpt-*")).toEqual(["gpt-4o", "gpt-4o-mini"]);
  expect(counted("gpt-4o*")).toEqual(["gpt-4o", "gpt-4o-mini"]);
  expect(counted("mini")).toEqual([]);
});

test("a call counts in the budgets of its subjects whose filter its model meets", () => {
  const group = terms(4, "claude-*", { scope: "group", subject: "vip" });
  const index = new BudgetIndex([terms(1), terms(2, "gpt-*"), terms(3, "gpt-4o"), group]);
  const ids = (model: string) => index.find({ ...subjects, model }).terms.map(({ id }) => id);
  expect(ids("gpt-4o")).toEqual([1, 2, 3]);
  expect(ids("gpt-4o-mini")).toEqual([1, 2]);
  expect(ids("claude-3")).toEqual([1, 4]);
  expect(ids("other")).toEqual([1]);
});

test("the same combination has the same set, and models matter only where a filter reads them", () => {
  const filtered = new BudgetIndex([terms(1), terms(2, "gpt-*")]);
  const find = (index: BudgetIndex, model: string) => index.find({ ...subjects, model });
  expect(find(filtered, "gpt-4o")).toBe(find(filtered, "gpt-4o"));
  const plain = new BudgetIndex([terms(1)]);
  expect(find(plain, "gpt-4o")).toBe(find(plain, "claude-3"));
  const unmet = new BudgetIndex([terms(2, "gpt-*")]);
  expect(find(unmet, "claude-3").counted).toEqual({});
  expect(unmet.mayConcern({ tokenId: 3, userId: 7, model: "claude-3" })).toBe(false);
});

test("keys of a team count in the budgets of the team and of who uses them", () => {
  const team = terms(1, "", { scope: "team", subject: "4" });
  const member = terms(2, "gpt-*", { scope: "member", subject: "4:17" });
  const service = terms(3, "", { scope: "service_account", subject: "17" });
  const index = new BudgetIndex([team, member, service]);
  const ids = (id: number, actor: string, model = "gpt-4o") =>
    index.find({ ...subjects, model, team: { id, actor } }).terms.map((one) => one.id);
  expect(ids(4, "u17")).toEqual([1, 2]);
  expect(ids(4, "u17", "claude-3")).toEqual([1]);
  expect(ids(4, "u18")).toEqual([1]);
  expect(ids(4, "s17")).toEqual([1, 3]);
  expect(ids(4, "")).toEqual([1]);
  expect(ids(5, "u17")).toEqual([]);
  const caller = { tokenId: 3, userId: 7, model: "m" };
  expect(index.mayConcern(caller)).toBe(false);
  expect(index.mayConcern({ ...caller, team: { id: 4, actor: "" } })).toBe(true);
});

test("a call that does not know yet that its account became a team counts in the budgets of the team", () => {
  const team = terms(1, "", { scope: "team", subject: "4" });
  const index = new BudgetIndex([team], new Map([[7, 4]]));
  expect(index.find({ ...subjects, model: "m" }).counted).toEqual({ budgets: [1] });
  expect(index.find({ ...subjects, userId: 8, model: "m" }).counted).toEqual({});
});
