import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import { startProxy, type Proxy } from "@fairway/testkit/proxy";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { selectShard } from "../../../redis/keys.ts";
import { chargeText } from "../../ledger/charge.ts";
import type { RedisHarness } from "../../ledger/redis/test-harness.contract.ts";
import { createSettlement } from "../../ledger/test-harness.contract.ts";
import { quota } from "../../money/quota.ts";
import { ask, openBudgetHarness, Spending, type BudgetHarness } from "../test-harness.contract.ts";
import { followCall, putCall } from "./calls.ts";

const MINUTE_MS = 60_000;
/** Longer than a heartbeat, as in production. */
const BARRIER_MS = 1_500;

let proxy: Proxy;
let harness: BudgetHarness;
beforeAll(async () => {
  proxy = await startProxy((await freshRedis()).port);
  harness = await openBudgetHarness(await createDatabase("mariadb"), 2, {
    redisUrl: `redis://127.0.0.1:${proxy.port}`,
    barrierMs: BARRIER_MS,
  });
});
afterAll(async () => {
  await harness.close();
  await proxy.stop();
});
beforeEach(() => harness.reset());
const request = (id: string, replica = 0) => new Spending(harness, id, ask, replica);
const live = () => harness.replicas[0]?.redis as RedisHarness;

test("after Redis was emptied, processes report what is open, and the rest is read from the database", async () => {
  await harness.add("user", "7", 1_000);
  const [spent, open, other] = [request("spent"), request("open"), request("other", 1)];
  for (const one of [spent, open, other]) await one.reserve(200);
  await spent.settle(150);
  expect(await harness.state("user")).toEqual({ used: 150, held: 400 });
  const unbooked = request("unbooked");
  await unbooked.reserve(100);
  const settling = unbooked.settle(90);
  await live().redis.sendOne({ command: "flushall", args: [] }, 2_000);
  await settling;
  // Redis grants nothing until both replicas have reported their open reservations.
  expect(await request("large", 1).reserve(400)).toBeDefined();
  expect(await harness.state("user")).toEqual({ used: 240, held: 400 });
  expect(await request("fits").reserve(360)).toBeUndefined();
  await open.settle(10);
  await other.settle(20);
  expect(await harness.state("user")).toEqual({ used: 270, held: 360 });
}, 60_000);

test("connections that break lose no reservation and no charge", async () => {
  await harness.add("user", "7", 10_000);
  const all = Array.from({ length: 40 }, (_, at) => request(`r${at}`, at % 2));
  const reserved = Promise.all(all.map((one) => one.reserve(200)));
  proxy.cut();
  expect(await reserved).toEqual(all.map(() => undefined));
  expect(await harness.state("user")).toEqual({ used: 0, held: 8_000 });
  const settled = Promise.all(all.map((one) => one.settle(100)));
  proxy.cut();
  await settled;
  expect(await harness.state("user")).toEqual({ used: 4_000, held: 0 });
}, 60_000);

test("what a replica had open that renews no longer is charged at what it reported, in its budgets", async () => {
  await harness.add("user", "7", 1_000);
  const [reported, silent] = [request("reported"), request("silent")];
  for (const one of [reported, silent]) await one.reserve(300);
  await reported.renew(120);
  harness.now += MINUTE_MS;
  await harness.replicas[1]?.ledger.reap();
  expect(await harness.state("user")).toEqual({ used: 120, held: 0 });
});

test("a settler that died between its commit and its acknowledgement charges nothing twice and leaves nothing open", async () => {
  await harness.add("user", "7", 1_000);
  const one = request("a");
  await one.reserve(300);
  await one.settle(100);
  expect(await harness.state("user")).toEqual({ used: 100, held: 0 });
  const { redis } = live();
  const [{ id } = { id: 0 }] = await harness.raw.rows<{ id: number }>("select id from budgets", []);
  const hold = { requestId: harness.buildRequestId("a"), userId: 7, tokenId: 0, amount: quota(300), leaseUntil: 0 };
  const lease = { now: harness.now, leaseMs: MINUTE_MS };
  await redis.sendOne(
    putCall(redis.keys, { requestId: hold.requestId, userId: 7, amount: 100, ids: [id] }, lease, false),
    2_000,
  );
  expect((await harness.replicas[0]?.budgets.heldElsewhere())?.get(id)).toBe(100);
  const charge = chargeText({ settlement: createSettlement(hold, 100, { budgets: [id] }) });
  const fields = ["a", "7:0", "i", "", "j", "", "e", charge];
  await redis.sendOne({ command: "xadd", args: [redis.keys.charges(selectShard(7)), "*", ...fields] }, 2_000);
  expect(await harness.state("user")).toEqual({ used: 100, held: 0 });
});

test("a state that comes late replaces no newer one", async () => {
  await harness.add("user", "7", 1_000);
  const [{ id } = { id: 0 }] = await harness.raw.rows<{ id: number }>("select id from budgets", []);
  const one = request("a");
  await one.reserve(300);
  await one.settle(700);
  await harness.flush();
  const budget = { id, revision: 0, window_start: 0, used: 0, held: 0 };
  const { redis } = live();
  const epoch = String(await redis.sendOne({ command: "get", args: [redis.keys.budgets.epoch] }, 2_000));
  await redis.sendOne(followCall(redis.keys, { epoch, budgets: [budget], ended: [] }), 2_000);
  await redis.sendOne(
    followCall(redis.keys, { epoch: "1000", budgets: [{ ...budget, revision: 99 }], ended: [] }),
    2_000,
  );
  expect(await request("b").reserve(301)).toBeDefined();
  expect(await request("c").reserve(300)).toBeUndefined();
});
