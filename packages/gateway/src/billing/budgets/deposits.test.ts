import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type BudgetHarness, eachLedger, Spending } from "./test-harness.contract.ts";

const DAY_MS = 86_400_000;

eachLedger("a deposit in the budgets of its batch", (open) => {
  let harness: BudgetHarness;
  beforeAll(async () => void (harness = await open(2)));
  afterAll(() => harness.close());
  beforeEach(() => harness.reset());

  const deposited = async (id: string, amount: number) => {
    const batch = new Spending(harness, id);
    expect(await batch.reserve(amount)).toBeUndefined();
    await batch.deposit(amount);
    return batch;
  };

  test("counts as spent until its charge replaces it", async () => {
    await harness.add("user", "7", 100);
    const batch = await deposited("a", 60);
    expect(await harness.state("user")).toEqual({ used: 60, held: 0 });
    expect(await new Spending(harness, "b", undefined, 1).reserve(41)).toMatchObject({ budget: { scope: "user" } });
    expect(await batch.closeDeposit(25)).toBe(true);
    expect(await batch.closeDeposit(25)).toBe(false);
    expect(await harness.state("user")).toEqual({ used: 25, held: 0 });
    await expect.poll(() => new Spending(harness, "c", undefined, 1).reserve(75)).toBeUndefined();
  });

  test("above the estimate is counted in full", async () => {
    await harness.add("user", "7", 100);
    await harness.add("model", "m", 1000);
    const batch = await deposited("a", 60);
    expect(await batch.closeDeposit(130)).toBe(true);
    expect(await harness.state("user")).toEqual({ used: 130, held: 0 });
    expect(await harness.state("model")).toEqual({ used: 130, held: 0 });
  });

  test("returns nothing to a window that has ended", async () => {
    await harness.add("user", "7", 100);
    const batch = await deposited("a", 60);
    harness.now += DAY_MS;
    const other = new Spending(harness, "b");
    expect(await other.reserve(10)).toBeUndefined();
    await other.settle(10);
    expect(await batch.closeDeposit(20)).toBe(true);
    expect(await harness.state("user")).toEqual({ used: 10, held: 0 });
  });

  test("is remembered for as long as the batch runs", async () => {
    await harness.add("user", "7", 100, { period: "month" });
    const batch = await deposited("a", 60);
    harness.now += 9 * DAY_MS - 1;
    for (const { budgets } of harness.replicas) await budgets.reap();
    expect(await batch.closeDeposit(20)).toBe(true);
    expect(await harness.state("user")).toEqual({ used: 20, held: 0 });
  });
});
