import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ask, eachLedger, NOON, Spending, type BudgetHarness } from "./test-harness.contract.ts";

interface Row {
  readonly type: string;
  readonly account_id: number;
  readonly user_id: number;
  readonly data: string;
}

eachLedger("events of budgets", (open) => {
  let harness: BudgetHarness;
  beforeAll(async () => {
    harness = await open(3);
  });
  afterAll(() => harness.close());
  beforeEach(() => harness.reset());
  const request = (id: string, replica = 0) => new Spending(harness, id, ask, replica);
  const read = async () => {
    await harness.flush();
    const rows = await harness.raw.rows<Row>("select type, account_id, user_id, data from events order by id", []);
    return rows.map((row) => ({ ...row, data: JSON.parse(row.data) as Record<string, unknown> }));
  };
  const percents = async (type = "budget.threshold") =>
    (await read()).filter((row) => row.type === type).map(({ data }) => data["percent"]);

  test("thresholds that three replicas pass at once are one event each, in the transaction of the charge", async () => {
    await harness.add("user", "7", 1_000, { thresholds: "50,80,95" });
    const all = Array.from({ length: 30 }, (_, at) => request(`r${at}`, at % 3));
    await Promise.all(all.map((one) => one.reserve(33)));
    await Promise.all(all.map((one) => one.settle(33)));
    expect(new Set(await percents())).toEqual(new Set([50, 80, 95]));
    expect(await percents()).toHaveLength(3);
    const [event] = await read();
    const data = { scope: "user", subject: "7", name: "user7", limit: 1_000, percent: 50, period: "day" };
    expect(event).toMatchObject({ type: "budget.threshold", account_id: 7, user_id: 7, data });
    expect(harness.reported.map(([, percent]) => percent).toSorted((a, b) => a - b)).toEqual([50, 80, 95]);
  });

  test("one charge that passes several thresholds reports each, and a refund lowers none of them", async () => {
    await harness.add("user", "7", 100, { thresholds: "50,80,95" });
    const first = request("a");
    await first.reserve(96);
    await first.settle(96, undefined, true);
    await harness.flush();
    const refund = { requestId: harness.buildRequestId("a"), kind: "refund", userId: 7, quota: 96 } as never;
    await harness.replicas[0]?.ledger.change(refund);
    const second = request("b", 1);
    await second.reserve(90);
    await second.settle(90);
    expect(await percents()).toEqual([50, 80, 95]);
    harness.now = NOON + 86_400_000;
    const next = request("c", 2);
    await next.reserve(60);
    await next.settle(60);
    expect(await percents()).toEqual([50, 80, 95, 50]);
  });

  test("a soft budget reports what goes beyond it, and one without thresholds reports nothing", async () => {
    await harness.add("user", "7", 100, { thresholds: "150,200", is_hard: 0 });
    await harness.add("group", "vip", 10, { thresholds: "-", is_hard: 0 });
    for (const name of ["a", "b", "c", "d"]) {
      const one = request(name);
      await one.reserve(50);
      await one.settle(50);
    }
    expect(await percents()).toEqual([150, 200]);
  });

  test("the first refusal of a window is an event, whichever replicas refuse", async () => {
    await harness.add("user", "7", 100, { period: "hours", length: 5, thresholds: "-" });
    const first = request("first");
    await first.reserve(80);
    await Promise.all(Array.from({ length: 12 }, (_, at) => request(`r${at}`, at % 3).reserve(30)));
    expect(await percents("budget.exhausted")).toEqual([100]);
    harness.now += 1_000;
    await request("again", 2).reserve(30);
    expect(await percents("budget.exhausted")).toEqual([100]);
    await first.settle(80);
    harness.now += 5 * 3_600_000;
    const next = request("next");
    await next.reserve(80);
    await request("refused", 1).reserve(30);
    expect(await percents("budget.exhausted")).toEqual([100, 100]);
    await next.release();
  });
});
