import { eachDatabase } from "@fairway/testkit/databases";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openStoreKit, type StoreKit } from "../../test/store-kit.ts";
import { createLog } from "../observability/log.ts";
import { createBudgets, type Budget, type Budgets, type BudgetSubjects } from "./budgets.ts";
import { quota } from "./quota.ts";

const NOON = Date.parse("2026-11-21T12:00:00Z");
const DAY_MS = 86_400_000;
const ask: BudgetSubjects = { tokenId: 3, userId: 7, group: "vip", model: "m", channelId: 5 };

eachDatabase("budgets", (open) => {
  let kit: StoreKit;
  let now: number;
  let budgets: Budgets;
  let told: [string, number][];

  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    now = NOON;
    told = [];
    for (const table of ["budgets", "budget_holds", "ledger"]) await kit.database.raw.run(`delete from ${table}`, []);
    budgets = createBudgets({
      database: kit.database.raw,
      clock: { now: () => now },
      log: createLog({ level: "off", format: "text", out: new PassThrough() }),
      onThreshold: ({ scope }, percent) => void told.push([scope, percent]),
    });
  });

  const add = async (scope: string, subject: string, limit: number, more: object = {}) => {
    const row = { scope, subject, period: "day", time_zone: "UTC", quota_limit: limit, soft_percent: 0, is_hard: 1 };
    await kit.database.db
      .insertInto("budgets")
      .values({ ...row, window_start: 0, ...more })
      .execute();
    await budgets.reload();
  };
  const state = async (scope: string) => {
    const sql = "select used, held from budgets where scope = ?";
    const [row] = await kit.database.raw.rows<Pick<Budget, "used" | "held">>(sql, [scope]);
    return row && { ...row };
  };

  test("of 200 requests at once a budget of one lets exactly one through", async () => {
    await add("user", "7", 100);
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, at) => budgets.reserve(`r${at}`, ask, quota(100))),
    );
    expect(answers.filter((refusal) => refusal === undefined)).toHaveLength(1);
    expect(await state("user")).toEqual({ used: 0, held: 100 });
    const refusal = answers.find((answer) => answer !== undefined);
    expect(refusal).toMatchObject({ budget: { scope: "user" }, endsAt: Date.parse("2026-11-22T00:00:00Z") / 1000 });
  });

  test("what was charged takes the place of what was reserved, and lets others in", async () => {
    await add("user", "7", 100);
    await budgets.reserve("a", ask, quota(90));
    expect(await budgets.reserve("b", ask, quota(20))).toBeDefined();
    await budgets.settle("a", ask, 30);
    await budgets.settle("a", ask, 30);
    expect(await state("user")).toEqual({ used: 30, held: 0 });
    expect(await budgets.reserve("b", ask, quota(70))).toBeUndefined();
    await budgets.settle("b", ask, 0);
    expect(await state("user")).toEqual({ used: 30, held: 0 });
  });

  test("a request reserves in all its budgets or in none", async () => {
    for (const [scope, subject] of [
      ["token", "3"],
      ["group", "vip"],
      ["model", "m"],
    ] as const)
      await add(scope, subject, 100);
    await add("channel", "5", 10);
    expect(await budgets.reserve("a", ask, quota(50))).toMatchObject({ budget: { scope: "channel" } });
    for (const scope of ["token", "group", "model", "channel"])
      expect(await state(scope)).toEqual({ used: 0, held: 0 });
    expect(await budgets.reserve("a", { ...ask, channelId: 6 }, quota(50))).toBeUndefined();
    for (const scope of ["token", "group", "model"]) expect(await state(scope)).toEqual({ used: 0, held: 50 });
  });

  test("the channel that served is charged, whichever was reserved for", async () => {
    await add("channel", "5", 100);
    await add("user", "7", 1_000);
    await budgets.reserve("a", ask, quota(50));
    await budgets.settle("a", { ...ask, channelId: 6 }, 40);
    expect(await state("channel")).toEqual({ used: 0, held: 0 });
    expect(await state("user")).toEqual({ used: 40, held: 0 });
  });

  test("another channel's budget takes the place of the first one's, or nothing changes", async () => {
    for (const subject of ["5", "6", "7"]) await add("channel", subject, subject === "7" ? 10 : 100);
    await add("user", "7", 1_000);
    const held = async () => {
      const sql = "select held from budgets order by subject, scope";
      return (await kit.database.raw.rows<Pick<Budget, "held">>(sql, [])).map((row) => row.held);
    };
    const share = (channelId: number) => ({ subjects: { ...ask, channelId }, amount: quota(50) });
    await budgets.reserve("a", ask, quota(50));
    expect(await held()).toEqual([50, 0, 0, 50]);
    expect(await budgets.move("a", share(5), share(6))).toBeUndefined();
    expect(await held()).toEqual([0, 50, 0, 50]);
    expect(await budgets.move("a", share(6), share(7))).toMatchObject({ budget: { subject: "7" } });
    expect(await held()).toEqual([0, 50, 0, 50]);
    expect(await budgets.move("a", share(6), share(8))).toBeUndefined();
    await budgets.settle("a", share(8).subjects, 20);
    expect(await held()).toEqual([0, 0, 0, 0]);
    expect(await budgets.move("a", share(8), share(5))).toBeUndefined();
    expect(await held()).toEqual([0, 0, 0, 0]);
  });

  test("what is extended at once by many never passes a hard budget", async () => {
    await add("user", "7", 1_000);
    await add("model", "m", 100, { is_hard: 0 });
    const share = { subjects: ask, amount: quota(10) };
    for (let at = 0; at < 50; at += 1) await budgets.reserve(`r${at}`, ask, quota(10));
    const carried = await Promise.all(
      Array.from({ length: 50 }, async (_, at) => budgets.extend(`r${at}`, share, quota(60))),
    );
    expect(carried.filter(Boolean)).toHaveLength(10);
    expect(await state("user")).toEqual({ used: 0, held: 1_000 });
    expect(await state("model")).toEqual({ used: 0, held: 1_000 });
    for (let at = 0; at < 50; at += 1) await budgets.settle(`r${at}`, ask, 1);
    expect(await state("user")).toEqual({ used: 50, held: 0 });
    expect(await budgets.extend("r0", share, quota(10_000))).toBe(true);
    expect(await state("user")).toEqual({ used: 50, held: 0 });
  });

  test("a new window begins with nothing used; what runs stays reserved and counts in it", async () => {
    await add("user", "7", 100);
    await budgets.reserve("a", ask, quota(60));
    await budgets.settle("a", ask, 60);
    await budgets.reserve("b", ask, quota(40));
    now += DAY_MS;
    expect(await budgets.reserve("c", ask, quota(61))).toBeDefined();
    expect(await budgets.reserve("c", ask, quota(60))).toBeUndefined();
    await budgets.settle("b", ask, 10);
    expect(await state("user")).toEqual({ used: 10, held: 60 });
    // A clock that goes back does not open the old window again.
    now -= DAY_MS;
    await budgets.settle("c", ask, 5);
    expect(await state("user")).toEqual({ used: 15, held: 0 });
  });

  test("thresholds are told once, and a soft budget stops nobody", async () => {
    await add("user", "7", 100, { is_hard: 0, soft_percent: 80 });
    for (const id of ["a", "b", "c", "d"]) {
      expect(await budgets.reserve(id, ask, quota(50))).toBeUndefined();
      await budgets.settle(id, ask, 45);
    }
    expect(told).toEqual([
      ["user", 80],
      ["user", 100],
    ]);
    expect(await state("user")).toEqual({ used: 180, held: 0 });
  });

  test("what died with its process is settled at what the ledger says", async () => {
    await add("user", "7", 1_000);
    await budgets.reserve("charged", ask, quota(100));
    await budgets.reserve("never", ask, quota(100));
    await budgets.reserve("alive", ask, quota(100));
    const row = { kind: "consume", user_id: 7, token_id: 3, channel_id: 5, detail: "", created_at: now };
    await kit.database.db
      .insertInto("ledger")
      .values([
        { ...row, request_id: "charged", quota: -70 },
        { ...row, request_id: "charged", kind: "correct", quota: -5 },
      ])
      .execute();
    now += 100_000;
    await budgets.renew("alive");
    expect(await budgets.reap()).toBe(0);
    now += 60_000;
    expect(await budgets.reap()).toBe(1);
    expect(await state("user")).toEqual({ used: 75, held: 200 });
    now += 600_000;
    await budgets.renew("alive");
    expect(await budgets.reap()).toBe(1);
    expect(await state("user")).toEqual({ used: 75, held: 100 });
    await budgets.settle("never", ask, 100);
    expect(await state("user")).toEqual({ used: 75, held: 100 });
  });
});
