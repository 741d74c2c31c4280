import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ask, openBudgetRig, Spending, type BudgetRig } from "./test-harness.contract.ts";
import { recountSoon } from "./rows.ts";
import { REAPED, REAPED_UNUSED } from "../ledger/sql/booking.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

eachDatabase("budgets of what broke", (open) => {
  let rig: BudgetRig;
  beforeAll(async () => {
    rig = await openBudgetRig(await open());
  });
  afterAll(() => rig.close());
  beforeEach(() => rig.reset());
  const request = (id: string) => new Spending(rig.budgets, id);
  /** As the schedule does it; answers how many were reaped. */
  const reapFor = async (minutes: number, alive: readonly Spending[] = []) => {
    let reaped = 0;
    for (let at = 0; at < minutes; at += 1) {
      rig.now += MINUTE_MS;
      for (const one of alive) await one.renew();
      reaped += await rig.budgets.reap();
    }
    return reaped;
  };
  const remembered = async () => (await rig.raw.rows("select request_id from budget_reaped", [])).length;

  test("what died with its process is settled at what the ledger says", async () => {
    await rig.add("user", "7", 1_000);
    const [charged, never, alive] = [request("charged"), request("never"), request("alive")];
    for (const one of [charged, never, alive]) await one.reserve(100);
    await rig.book("charged", 70, { detail: REAPED });
    await rig.book("charged", 5, { kind: "correct" });
    expect(await reapFor(1, [alive])).toBe(0);
    expect(await reapFor(2, [alive])).toBe(1);
    expect(await rig.state("user")).toEqual({ used: 75, held: 200 });
    expect(await reapFor(12, [alive])).toBe(1);
    expect(await rig.state("user")).toEqual({ used: 75, held: 100 });
    expect(await remembered()).toBe(1);
    await never.settle(100);
    expect(await rig.state("user")).toEqual({ used: 175, held: 100 });
    expect(await remembered()).toBe(0);
    await never.settle(100);
    expect(await rig.state("user")).toEqual({ used: 175, held: 100 });
  });

  test("a charge that reaches the ledger after its reservation was given up still counts, once", async () => {
    await rig.add("user", "7", 1_000);
    for (const id of ["late", "corrected", "lost"]) await request(id).reserve(100);
    await rig.book("corrected", 0, { detail: REAPED_UNUSED });
    expect(await reapFor(20)).toBe(3);
    expect(await rig.state("user")).toEqual({ used: 0, held: 0 });
    await rig.book("late", 60);
    await rig.book("corrected", 40, { kind: "correct" });
    await reapFor(60);
    expect(await rig.state("user")).toEqual({ used: 100, held: 0 });
    expect(await remembered()).toBe(1);
    rig.now += 8 * DAY_MS;
    await rig.budgets.reap();
    expect(await remembered()).toBe(0);
  });

  test("drops no charge while the database is away", async () => {
    await rig.add("user", "7", 1_000);
    await request("a").reserve(100);
    expect(await reapFor(1)).toBe(0);
    rig.isAway = true;
    await expect(rig.budgets.reap()).rejects.toThrow("away");
    rig.now += 60 * MINUTE_MS;
    rig.isAway = false;
    expect(await reapFor(9)).toBe(0);
    await rig.book("a", 80);
    expect(await reapFor(1)).toBe(1);
    expect(await rig.state("user")).toEqual({ used: 80, held: 0 });
  });

  test("a correction refunds within its window, and takes nothing from the next window", async () => {
    await rig.add("user", "7", 1_000);
    for (const id of ["today", "yesterday"]) await request(id).reserve(100);
    for (const id of ["today", "yesterday"]) await rig.book(id, 50, { detail: REAPED });
    expect(await reapFor(3)).toBe(2);
    expect(await rig.state("user")).toEqual({ used: 100, held: 0 });
    await rig.book("today", -20, { kind: "correct" });
    await reapFor(10);
    expect(await rig.state("user")).toEqual({ used: 80, held: 0 });
    rig.now += DAY_MS;
    await rig.book("yesterday", -20, { kind: "correct" });
    await reapFor(60);
    await request("new").reserve(10);
    expect(await rig.state("user")).toEqual({ used: 0, held: 10 });
    expect(await remembered()).toBe(0);
  });

  test("many that must wait keep no other from being reaped", async () => {
    await rig.add("user", "7", 1_000);
    await Promise.all(Array.from({ length: 450 }, (_, at) => request(`w${at}`).reserve(1)));
    rig.now += 1;
    await request("z").reserve(1);
    await rig.book("z", 1);
    expect(await reapFor(3)).toBe(1);
    expect(await rig.state("user")).toEqual({ used: 1, held: 450 });
  });

  test("does not reap a reservation that is renewed during the read of the reaper", async () => {
    await rig.add("user", "7", 1_000);
    const one = request("a");
    await one.reserve(100);
    await rig.book("a", 10, { detail: REAPED });
    rig.now += 3 * MINUTE_MS;
    await Promise.all([one.renew(), rig.budgets.reap()]);
    expect(await rig.state("user")).toEqual({ used: 0, held: 100 });
    await one.settle(30);
    expect(await rig.state("user")).toEqual({ used: 30, held: 0 });
  });

  test("without the database a hard budget refuses new requests and other channels, and ends no answer", async () => {
    await rig.add("user", "7", 1_000);
    await rig.add("channel", "6", 1_000);
    const one = request("a");
    await one.reserve(100);
    rig.isAway = true;
    await expect(request("b").reserve(100)).rejects.toMatchObject({ code: "budgets_unavailable", status: 503 });
    await expect(one.reserve(100, 6)).rejects.toMatchObject({ code: "budgets_unavailable" });
    expect(await one.reserve(100, 8)).toBeUndefined();
    expect(await one.extend(150)).toBe(true);
    expect(rig.outages).toEqual(["refused", "refused", "passed"]);
    rig.isAway = false;
    expect(await one.extend(160)).toBe(true);
    await one.settle(120);
    expect(await rig.state("user")).toEqual({ used: 120, held: 0 });
  });

  test("a budget that was charged more than a number can carry stays there, and fails no other", async () => {
    await rig.add("model", "m", 1_000, { is_hard: 0 });
    await rig.add("user", "9", 1_000);
    const most = Number.MAX_SAFE_INTEGER;
    for (const id of ["a", "b", "c"]) {
      const one = request(id);
      await one.reserve(10);
      await one.settle(most);
    }
    expect(await rig.state("model")).toEqual({ used: most, held: 0 });
    const others = ["d", "e"].map((id) => new Spending(rig.budgets, id, { ...ask, userId: 9, model: "another" }));
    const all = [request("f"), ...others];
    await Promise.all(all.map((one) => one.reserve(5)));
    expect(await rig.state("user")).toEqual({ used: 0, held: 10 });
    await Promise.all(all.map((one) => one.settle(3)));
    expect(await rig.state("user")).toEqual({ used: 6, held: 0 });
    expect(rig.outages).toEqual([]);
  });

  test("a soft budget lets requests pass without the database, and books the charge once it is back", async () => {
    await rig.add("user", "7", 1_000, { is_hard: 0 });
    await rig.add("channel", "6", 1_000, { is_hard: 0 });
    const [one, other] = [request("a"), request("b")];
    await one.reserve(100);
    rig.isAway = true;
    expect(await one.reserve(100, 6)).toBeUndefined();
    expect(await other.reserve(100)).toBeUndefined();
    expect(rig.outages).toEqual(["passed", "passed"]);
    rig.isAway = false;
    for (const spending of [one, other]) await spending.settle(30);
    expect(await rig.state("user")).toEqual({ used: 60, held: 0 });
    expect(await rig.state("channel")).toEqual({ used: 30, held: 0 });
  });

  test("what is paid back is taken out again, once, and not from a window that came after", async () => {
    await rig.add("user", "7", 1_000);
    await rig.add("model", "m", 1_000, { period: "month" });
    const tasks = ["failed", "done", "late"].map((id) => ({ id, one: request(id) }));
    for (const { id, one } of tasks) {
      await one.reserve(100);
      await one.settle(30, 5, true);
      await rig.book(id, 30);
    }
    const fail = async (id: string) => {
      await rig.book(id, -30, { kind: "refund" });
      await rig.raw.transaction((tx) => recountSoon(tx, id));
    };
    await fail("failed");
    expect(await reapFor(2)).toBe(0);
    expect(await rig.state("user")).toEqual({ used: 60, held: 0 });
    rig.now += DAY_MS;
    await request("tomorrow").settle(5);
    await fail("late");
    await reapFor(1);
    expect(await rig.state("user")).toEqual({ used: 5, held: 0 });
    expect(await rig.state("model")).toEqual({ used: 35, held: 0 });
    rig.now += DAY_MS;
    await reapFor(1);
    expect(await rig.state("model")).toEqual({ used: 35, held: 0 });
    expect(await remembered()).toBe(0);
  });

  test("what soft budgets let through is charged once when the database is back, also where it ended before", async () => {
    await rig.add("user", "7", 1_000, { is_hard: 0 });
    const all = ["a", "b"].map(request);
    rig.isAway = true;
    for (const one of all) {
      await one.reserve(100);
      await one.settle(30);
    }
    expect(rig.outages).toEqual(["passed", "deferred", "passed", "deferred"]);
    rig.isAway = false;
    await rig.budgets.idle(5_000);
    await rig.budgets.idle(5_000);
    expect(await rig.state("user")).toEqual({ used: 60, held: 0 });
    // The answer to the first try may have been lost.
    await all[0]?.settle(30);
    expect(await rig.state("user")).toEqual({ used: 60, held: 0 });
  });

  test("a settlement that the database does not take is the reaper's, and reported", async () => {
    await rig.add("user", "7", 1_000);
    const one = request("a");
    await one.reserve(100);
    rig.isAway = true;
    await one.settle(30);
    expect(rig.outages).toEqual(["deferred"]);
    rig.isAway = false;
    await rig.add("model", "m", 1_000);
    rig.isAway = true;
    await one.settle(30);
    expect(rig.outages).toEqual(["deferred", "lost"]);
    rig.isAway = false;
    await rig.book("a", 30);
    expect(await reapFor(3)).toBe(1);
    expect(await rig.state("user")).toEqual({ used: 30, held: 0 });
  });
});
