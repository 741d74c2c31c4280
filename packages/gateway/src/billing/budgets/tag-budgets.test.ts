import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { BudgetSubjects } from "./budget.ts";
import { ask, eachLedger, Spending, type BudgetHarness } from "./test-harness.contract.ts";

const PAYER = ask.userId;
const tagged = (text: string, endUser = "", userId = PAYER): BudgetSubjects => ({
  ...ask,
  userId,
  tags: { text, endUser },
});

eachLedger("budgets of tags and end users", (open) => {
  let harness: BudgetHarness;
  beforeAll(async () => {
    harness = await open(3);
  });
  afterAll(() => harness.close());
  beforeEach(() => harness.reset());
  const request = (id: string, subjects: BudgetSubjects, replica = 0) => new Spending(harness, id, subjects, replica);

  test("count the calls of one account with that tag, and of no other", async () => {
    await harness.add("tag", `${PAYER}/app=shop`, 100);
    expect(await request("a", tagged("app=shop|env=prod")).reserve(100)).toBeUndefined();
    const refused = await request("b", tagged("app=shop")).reserve(1);
    expect(refused).toMatchObject({ budget: { scope: "tag", subject: `${PAYER}/app=shop` } });
    for (const [at, subjects] of [
      tagged("app=shopping"),
      tagged("env=prod"),
      tagged("", "app=shop"),
      tagged("app=shop", "", PAYER + 1),
      ask,
    ].entries())
      expect(await request(`c${at}`, subjects).reserve(500)).toBeUndefined();
    expect(await harness.state("tag")).toEqual({ used: 0, held: 100 });
  });

  test("a call pays into all of its tags and its end user, or into none", async () => {
    await harness.add("tag", `${PAYER}/app=shop`, 1_000);
    await harness.add("tag", `${PAYER}/env=prod`, 1_000);
    await harness.add("end_user", `${PAYER}/42`, 10);
    const small = request("a", tagged("app=shop|env=prod", "42"));
    expect(await small.reserve(10)).toBeUndefined();
    await small.settle(8);
    const refused = await request("b", tagged("app=shop|env=prod", "42")).reserve(3);
    expect(refused).toMatchObject({ budget: { scope: "end_user" } });
    expect(await request("c", tagged("app=shop", "43")).reserve(5)).toBeUndefined();
    expect(await harness.state("tag", `${PAYER}/app=shop`)).toEqual({ used: 8, held: 5 });
    expect(await harness.state("tag", `${PAYER}/env=prod`)).toEqual({ used: 8, held: 0 });
    expect(await harness.state("end_user")).toEqual({ used: 8, held: 0 });
  });

  test("of 200 calls at once over three replicas, exactly as many pass as a tag and an end user pay for", async () => {
    await harness.add("tag", `${PAYER}/app=shop`, 50);
    await harness.add("end_user", `${PAYER}/42`, 30);
    const all = Array.from({ length: 200 }, (_, at) =>
      request(`r${at}`, tagged("app=shop", at % 2 === 0 ? "42" : "43"), at % 3),
    );
    const answers = await Promise.all(all.map((one) => one.reserve(1)));
    const passed = all.filter((_, at) => answers[at] === undefined);
    expect(passed).toHaveLength(50);
    await Promise.all(passed.map((one) => one.settle(1)));
    expect(await harness.state("tag")).toEqual({ used: 50, held: 0 });
    const { used = 0 } = (await harness.state("end_user")) ?? {};
    expect(used).toBeLessThanOrEqual(30);
  });
});
