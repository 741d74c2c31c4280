import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import { startProxy, type Proxy } from "@fairway/testkit/proxy";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ask, openBudgetHarness, Spending, type BudgetHarness } from "../test-harness.contract.ts";

let proxy: Proxy;
let harness: BudgetHarness;
beforeAll(async () => {
  proxy = await startProxy((await freshRedis()).port);
  const redisUrl = `redis://127.0.0.1:${proxy.port}`;
  harness = await openBudgetHarness(await createDatabase("mariadb"), 1, { redisUrl, onOutage: "sql" });
});
afterAll(async () => {
  proxy.isStalled = false;
  await harness.close();
  await proxy.stop();
});
beforeEach(() => harness.reset());
const request = (id: string) => new Spending(harness, id, ask);
const inDatabase = async () =>
  (await harness.raw.rows<{ used: number; held: number }>("select used, held from budgets", []))[0];

test("while Redis is away a budget is reserved and charged in the database, and Redis follows", async () => {
  await harness.add("user", "7", 1_000);
  const before = request("before");
  await before.reserve(300);
  proxy.isStalled = true;
  const [one, other, large] = [request("one"), request("other"), request("large")];
  expect(await one.reserve(200)).toBeUndefined();
  expect(await other.reserve(100)).toBeUndefined();
  // Open reservations of this process in Redis count, even while its charge waits for Redis.
  expect(await large.reserve(401)).toBeDefined();
  await before.settle(30);
  expect(await large.reserve(401)).toBeDefined();
  expect(await one.extend(250)).toBe(true);
  expect(await inDatabase()).toEqual({ used: 0, held: 350 });
  await one.settle(220);
  await other.release();
  await expect.poll(inDatabase).toEqual({ used: 220, held: 0 });
  proxy.isStalled = false;
  await harness.flush();
  await harness.replicas[0]?.budgets.reap();
  expect(await harness.state("user")).toEqual({ used: 250, held: 0 });
  expect(await request("full").reserve(751)).toBeDefined();
  expect(await request("fits").reserve(750)).toBeUndefined();
}, 60_000);
