import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { BudgetSubjects } from "./budget.ts";
import { ask, eachLedger, Spending, type BudgetHarness } from "./test-harness.contract.ts";

const TEAM = 4;
const by = (actor: string): BudgetSubjects => ({ ...ask, team: { id: TEAM, actor } });

eachLedger("budgets of teams", (open) => {
  let harness: BudgetHarness;
  beforeAll(async () => {
    harness = await open(3);
  });
  afterAll(() => harness.close());
  beforeEach(() => harness.reset());
  const request = (id: string, subjects: BudgetSubjects, replica = 0) => new Spending(harness, id, subjects, replica);

  test("the cap of one member stops that member, and the others continue", async () => {
    await harness.add("member", `${TEAM}:17`, 100);
    await harness.add("team", String(TEAM), 10_000);
    expect(await request("a", by("u17")).reserve(100)).toBeUndefined();
    expect(await request("b", by("u17")).reserve(1)).toMatchObject({ budget: { scope: "member", subject: "4:17" } });
    expect(await request("c", by("u18")).reserve(500)).toBeUndefined();
    expect(await request("d", by("s17")).reserve(500)).toBeUndefined();
    expect(await request("e", ask).reserve(500)).toBeUndefined();
    expect(await harness.state("team")).toEqual({ used: 0, held: 1_100 });
    expect(await harness.state("member")).toEqual({ used: 0, held: 100 });
  });

  test("of 200 calls at once over three replicas, exactly as many pass as team and service account pay for", async () => {
    await harness.add("team", String(TEAM), 50);
    await harness.add("service_account", "3", 30);
    const all = Array.from({ length: 200 }, (_, at) => request(`r${at}`, by(at % 2 === 0 ? "s3" : "u17"), at % 3));
    const answers = await Promise.all(all.map((one) => one.reserve(1)));
    const passed = all.filter((_, at) => answers[at] === undefined);
    expect(passed).toHaveLength(50);
    await Promise.all(passed.map((one) => one.settle(1)));
    expect(await harness.state("team")).toEqual({ used: 50, held: 0 });
    const { used = 0 } = (await harness.state("service_account")) ?? {};
    expect(used).toBeLessThanOrEqual(30);
  });
});
