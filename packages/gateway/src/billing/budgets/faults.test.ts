import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { quota } from "../money/quota.ts";
import { ask, eachLedger, Spending, type BudgetHarness, type Replica } from "./test-harness.contract.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

eachLedger("budgets of what broke", (open) => {
  let harness: BudgetHarness;
  beforeAll(async () => {
    harness = await open();
  });
  afterAll(() => harness.close());
  beforeEach(() => harness.reset());
  const request = (id: string, subjects = ask) => new Spending(harness, id, subjects);
  const withRedis = open.hasRedis ? ["with Redis"] : [];
  const withoutRedis = open.hasRedis ? [] : ["without"];
  const only = () => harness.replicas[0] as Replica;
  /** Reaps like the schedule; returns the number of reaped balance reservations. */
  const reapFor = async (minutes: number, alive: readonly Spending[] = []) => {
    let reaped = 0;
    for (let at = 0; at < minutes; at += 1) {
      harness.now += MINUTE_MS;
      for (const one of alive) await one.renew();
      reaped += await only().ledger.reap();
      await only().budgets.reap();
    }
    return reaped;
  };
  const remembered = async () => (await harness.raw.rows("select request_id from budget_reaped", [])).length;
  const refund = (requestId: string, amount: number) =>
    only().ledger.change({
      requestId: harness.buildRequestId(requestId),
      kind: "refund",
      userId: 7,
      quota: quota(amount),
    });

  test("what died with its process is charged at what it had reported, and corrected if it lives after all", async () => {
    await harness.add("user", "7", 1_000);
    const [charged, never, alive] = [request("charged"), request("never"), request("alive")];
    for (const one of [charged, never, alive]) await one.reserve(100);
    await charged.renew(70);
    expect(await reapFor(1, [alive])).toBe(2);
    expect(await harness.state("user")).toEqual({ used: 70, held: 100 });
    expect(await reapFor(3, [alive])).toBe(0);
    expect(await harness.state("user")).toEqual({ used: 70, held: 100 });
    expect(await remembered()).toBe(1);
    await charged.settle(75);
    await never.settle(100);
    expect(await harness.state("user")).toEqual({ used: 175, held: 100 });
    expect(await remembered()).toBe(0);
    await never.settle(100);
    expect(await harness.state("user")).toEqual({ used: 175, held: 100 });
  });

  test("drops no charge while the database is away", async () => {
    await harness.add("user", "7", 1_000);
    const one = request("a");
    await one.reserve(100);
    await one.renew(80);
    harness.isAway = true;
    harness.now += 60 * MINUTE_MS;
    await expect(only().ledger.reap()).rejects.toThrow("away");
    harness.isAway = false;
    expect(await reapFor(1)).toBe(1);
    expect(await harness.state("user")).toEqual({ used: 80, held: 0 });
  });

  test("a correction refunds within its window, and takes nothing from the next window", async () => {
    await harness.add("user", "7", 1_000);
    const [today, yesterday] = [request("today"), request("yesterday")];
    for (const one of [today, yesterday]) {
      await one.reserve(100);
      await one.renew(50);
    }
    expect(await reapFor(3)).toBe(2);
    expect(await harness.state("user")).toEqual({ used: 100, held: 0 });
    await today.settle(30);
    expect(await harness.state("user")).toEqual({ used: 80, held: 0 });
    harness.now += DAY_MS;
    const next = request("next");
    await next.reserve(10);
    await next.settle(5);
    await yesterday.settle(30);
    expect(await harness.state("user")).toEqual({ used: 5, held: 0 });
    expect(await remembered()).toBe(0);
  });

  test("a correction on another channel moves the charge to its budget", async () => {
    for (const subject of ["5", "6"]) await harness.add("channel", subject, 1_000);
    const one = request("a");
    await one.reserve(100);
    await one.renew(50);
    expect(await reapFor(1)).toBe(1);
    await one.settle(70, 6);
    expect(await harness.state("channel", "5")).toEqual({ used: 0, held: 0 });
    expect(await harness.state("channel", "6")).toEqual({ used: 70, held: 0 });
  });

  test("does not reap a reservation that is renewed during the read of the reaper", async () => {
    await harness.add("user", "7", 1_000);
    const one = request("a");
    await one.reserve(100);
    harness.now += MINUTE_MS - 1;
    await Promise.all([one.renew(10), only().ledger.reap()]);
    await reapFor(1, [one]);
    expect(await harness.state("user")).toEqual({ used: 0, held: 100 });
    await one.settle(30);
    expect(await harness.state("user")).toEqual({ used: 30, held: 0 });
  });

  test("a reservation whose process died before its hold is returned, many at once", async () => {
    await harness.add("user", "7", 1_000);
    const { budgets } = only();
    const alive = request("alive");
    await alive.reserve(100);
    await Promise.all(
      Array.from({ length: 150 }, (_, at) =>
        budgets.reserve({ requestId: `r${at}`, subjects: ask, held: undefined }, quota(1)),
      ),
    );
    expect(await harness.state("user")).toEqual({ used: 0, held: 250 });
    await reapFor(1, [alive]);
    expect(await harness.state("user")).toEqual({ used: 0, held: 250 });
    await reapFor(2, [alive]);
    expect(await harness.state("user")).toEqual({ used: 0, held: 100 });
  });

  test.each(withoutRedis)(
    "%s the database a hard budget refuses new requests and other channels, and ends no answer",
    async () => {
      await harness.add("user", "7", 1_000);
      await harness.add("channel", "6", 1_000);
      const one = request("a");
      await one.reserve(100);
      harness.isAway = true;
      await expect(request("b").reserve(100)).rejects.toMatchObject({ code: "budgets_unavailable", status: 503 });
      await expect(one.reserve(100, 6)).rejects.toMatchObject({ code: "budgets_unavailable" });
      expect(await one.reserve(100, 8)).toBeUndefined();
      expect(await one.extend(150)).toBe(true);
      expect(harness.outages).toEqual(["refused", "refused", "passed"]);
      harness.isAway = false;
      expect(await one.extend(160)).toBe(true);
      await one.settle(120);
      expect(await harness.state("user")).toEqual({ used: 120, held: 0 });
    },
  );

  test.each(withRedis)("%s a hard budget that was read continues without the database", async () => {
    await harness.add("user", "7", 300);
    await harness.add("channel", "6", 1_000);
    const [one, other] = [request("a"), request("b")];
    await one.reserve(100);
    harness.isAway = true;
    expect(await other.reserve(100)).toBeUndefined();
    expect(await request("c").reserve(101)).toBeDefined();
    expect(await one.extend(200)).toBe(true);
    expect(await one.extend(201)).toBe(false);
    await expect(one.reserve(100, 6)).rejects.toMatchObject({ code: "budgets_unavailable", status: 503 });
    expect(harness.outages).toEqual(["refused"]);
    await one.settle(150);
    // The charge is not in the database yet, but already counts.
    await expect.poll(() => request("d").reserve(51)).toBeDefined();
    await expect.poll(async () => (await request(`e${Math.random()}`).reserve(50)) === undefined).toBe(true);
    harness.isAway = false;
    await other.settle(20);
    expect(await harness.state("user")).toEqual({ used: 170, held: 50 });
  });

  test("a budget that was charged more than a number can carry stays there, and fails no other", async () => {
    await harness.add("model", "m", 1_000, { is_hard: 0 });
    await harness.add("user", "9", 1_000);
    const most = Number.MAX_SAFE_INTEGER;
    const start = Date.parse("2026-11-21T00:00:00Z") / 1000;
    await harness.raw.run("update budgets set used = ?, window_start = ? where scope = 'model'", [most - 10, start]);
    for (const id of ["a", "b"]) {
      const one = request(id);
      await one.reserve(10);
      await one.settle(1_000);
    }
    expect(await harness.state("model")).toEqual({ used: most, held: 0 });
    const others = ["d", "e"].map((id) => request(id, { ...ask, userId: 9, model: "another" }));
    const all = [request("f"), ...others];
    await Promise.all(all.map((one) => one.reserve(5)));
    expect(await harness.state("user")).toEqual({ used: 0, held: 10 });
    await Promise.all(all.map((one) => one.settle(3)));
    expect(await harness.state("user")).toEqual({ used: 6, held: 0 });
    expect(harness.outages).toEqual([]);
  });

  test("a soft budget lets requests pass without the database, and has their charges once it is back", async () => {
    await harness.add("user", "7", 1_000, { is_hard: 0 });
    await harness.add("channel", "6", 1_000, { is_hard: 0 });
    const [one, other] = [request("a"), request("b")];
    await one.reserve(100);
    harness.isAway = true;
    expect(await one.reserve(100, 6)).toBeUndefined();
    expect(await other.reserve(100)).toBeUndefined();
    expect(harness.outages).toEqual(open.hasRedis ? ["passed"] : ["passed", "passed"]);
    harness.isAway = false;
    for (const spending of [one, other]) await spending.settle(30);
    expect(await harness.state("user")).toEqual({ used: 60, held: 0 });
    expect(await harness.state("channel")).toEqual({ used: 30, held: 0 });
  });

  test("a charge that the database does not take yet counts in its budgets once, also in new ones", async () => {
    await harness.add("user", "7", 1_000);
    const all = [request("a"), request("b")];
    for (const one of all) await one.reserve(100);
    await harness.add("model", "m", 1_000);
    harness.isAway = true;
    const settled = all.map((one) => one.settle(30));
    await new Promise((resolve) => setTimeout(resolve, 100));
    harness.isAway = false;
    await Promise.all(settled);
    for (const scope of ["user", "model"]) expect(await harness.state(scope)).toEqual({ used: 60, held: 0 });
    // The answer to the first try may have been lost.
    await all[0]?.settle(30);
    expect(await harness.state("user")).toEqual({ used: 60, held: 0 });
  });

  test("what is paid back is taken out again, once, and not from a window that came after", async () => {
    await harness.add("user", "7", 1_000);
    await harness.add("model", "m", 1_000, { period: "month" });
    for (const id of ["failed", "done", "late"]) {
      const one = request(id);
      await one.reserve(100);
      await one.settle(30, 5, true);
    }
    expect(await harness.state("user")).toEqual({ used: 90, held: 0 });
    expect(await refund("failed", 30)).toBe(true);
    expect(await refund("failed", 30)).toBe(false);
    expect(await harness.state("user")).toEqual({ used: 60, held: 0 });
    harness.now += DAY_MS;
    await request("tomorrow").settle(5);
    expect(await harness.state("user")).toEqual({ used: 5, held: 0 });
    await refund("late", 30);
    expect(await harness.state("user")).toEqual({ used: 5, held: 0 });
    expect(await harness.state("model")).toEqual({ used: 35, held: 0 });
    harness.now += 8 * DAY_MS;
    await reapFor(1);
    expect(await remembered()).toBe(0);
  });

  test("what was paid back before its charge was booked is not in a budget", async () => {
    await harness.add("user", "7", 1_000);
    const one = request("a");
    await one.reserve(100);
    await refund("a", 30);
    await one.settle(30, 5, true);
    expect(await harness.state("user")).toEqual({ used: 0, held: 0 });
  });
});
