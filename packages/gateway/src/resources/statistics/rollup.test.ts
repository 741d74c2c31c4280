import { eachLogDatabase } from "@fairway/testkit/databases";
import { LOG_TYPE } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import { DIMENSION, HOUR, type DimensionNumber } from "./dimensions.ts";
import { LATER_SUMS_GAP } from "./facet-sums.ts";
import { mergeText, observe, calculatePercentiles, formatHistogram, type Histogram } from "./histogram.ts";
import { rollUpStatistics } from "./rollup.ts";
import { createStatisticsStore } from "./store.ts";

eachLogDatabase("the roll-up of statistics", (open) => {
  let kit: StoreKit;
  let start = 24 * HOUR * 20_000;
  const signal = new AbortController().signal;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());

  const rollUp = () => rollUpStatistics({ ...kit, logs: kit.logs, settleMs: 0 }, signal);
  const nextDay = () => (start += 24 * HOUR);
  const usage = (dimension: DimensionNumber, ownerId?: number) =>
    createStatisticsStore(kit).usage({
      dimension,
      ownerId,
      subject: "",
      from: start,
      to: start + HOUR,
      interval: HOUR,
      limit: 20,
    });

  test("counts the items of a batch, which has one row, and no latency", async () => {
    const created_at = nextDay();
    const batch = { id: "batch_1", items: 8, succeeded: 5, failed: 2, expired: 1 };
    const row = {
      created_at,
      user_id: 7,
      channel_id: 5,
      model_name: "a",
      quota: 90,
      prompt_tokens: 40,
      use_time: 9000,
    };
    await insertLogs(kit.logs, [{ ...row, completion_tokens: 6, other: JSON.stringify({ batch }) }]);
    await rollUp();
    const sums = { calls: 7, errors: 2, refused: 0, quota: 90, input_tokens: 40, output_tokens: 6 };
    for (const dimension of [DIMENSION.all, DIMENSION.channel])
      expect((await usage(dimension)).subjects).toMatchObject([{ ...sums, latency: { count: 0 } }]);
  });

  test("adds calls, errors and refusals by every subject", async () => {
    const created_at = nextDay();
    const row = { created_at, user_id: 7, token_id: 3, channel_id: 5, model_name: "a", group: "vip" };
    const failed = [4, 0, 0, -1, 9, 500, "x", "upstream_error", "retry", "m", "h", ""];
    const answered = [5, 0, 9, 3, 21, 200, "", "ok", "", "m", "h", ""];
    const trace = { v: 1, by: "weight", ms: 40, c: [], a: [failed, answered] };
    await insertLogs(kit.logs, [
      { ...row, quota: 10, prompt_tokens: 2, completion_tokens: 3, other: JSON.stringify({ frt: 12, trace }) },
      { ...row, quota: 1, other: '{"end_reason":"client_abort"}' },
      { ...row, type: LOG_TYPE.error, channel_id: 0, other: '{"outcome":"rate_limited"}' },
      { ...row, type: LOG_TYPE.error, channel_id: 0, other: '{"outcome":"internal","repeated":4}' },
      { ...row, type: LOG_TYPE.topup, quota: 1_000 },
    ]);
    expect(await rollUp()).toBeGreaterThan(0);
    expect(await rollUp()).toBe(0);
    const sums = { calls: 7, errors: 4, refused: 1, quota: 11, input_tokens: 2, output_tokens: 3 };
    for (const [dimension, subject] of [
      [DIMENSION.all, ""],
      [DIMENSION.user, "7"],
      [DIMENSION.token, "3"],
      [DIMENSION.group, "vip"],
      [DIMENSION.model, "a"],
      [DIMENSION.userModel, "a"],
    ] as const) {
      const found = await usage(dimension);
      expect(found.subjects).toMatchObject([{ subject, ...sums, latency: { count: 1 }, first_token: { count: 1 } }]);
      expect(found.subjects[0]?.points).toMatchObject([{ start: created_at, ...sums }]);
    }
    expect((await usage(DIMENSION.channel)).subjects).toMatchObject([
      { subject: "5", calls: 2, errors: 0, quota: 11 },
      { subject: "4", calls: 1, errors: 1, quota: 0 },
    ]);
    expect((await usage(DIMENSION.channel)).total).toMatchObject({ calls: 3, errors: 1, quota: 11 });
    expect((await usage(DIMENSION.userModel, 8)).subjects).toEqual([]);
    expect(await createStatisticsStore(kit).completeUntil()).toBeGreaterThan(0);
  });

  // @weakness Money: Statistics count a call twice or lose it when replicas gather at the same time
  test("counts each call once when replicas gather at the same time", async () => {
    const created_at = nextDay();
    const times = Array.from({ length: 4_500 }, (_, at) => (at * 7_919) % 60_013);
    await insertLogs(
      kit.logs,
      times.map((ms) => ({
        created_at,
        quota: 1,
        other: JSON.stringify({ trace: { v: 1, by: "only", ms, c: [], a: [] } }),
      })),
    );
    await Promise.all([rollUp(), rollUp(), rollUp()]);
    await rollUp();
    const { total } = await usage(DIMENSION.all);
    expect(total).toMatchObject({ calls: 4_500, quota: 4_500 });
    const whole: Histogram = new Map();
    for (const ms of times) observe(whole, ms);
    expect(formatHistogram(total.latency)).toBe(formatHistogram(whole));
    const { latency } = (await usage(DIMENSION.model)).subjects[0] ?? {};
    expect(latency).toEqual(calculatePercentiles(whole));
  });

  test("leaves the rest of a long log to the next run when its time is over", async () => {
    const created_at = nextDay();
    await insertLogs(
      kit.logs,
      Array.from({ length: 4_100 }, () => ({ created_at, quota: 1 })),
    );
    const limits = { settleMs: 0, budgetMs: 0, rowsPerPass: 2_000 };
    const inTime = () => rollUpStatistics({ ...kit, logs: kit.logs, ...limits }, signal);
    const sums = [];
    for (let run = 0; run < 4; run++) {
      await inTime();
      sums.push((await usage(DIMENSION.all)).total.quota);
    }
    expect(sums).toEqual([2_001, 4_002, 4_100, 4_100]);
  });

  test("merges the hours of later runs with those of earlier ones", async () => {
    const created_at = nextDay();
    const row = (ms: number) => ({ created_at, other: `{"trace":{"v":1,"by":"only","ms":${ms},"c":[],"a":[]}}` });
    await insertLogs(kit.logs, [row(10)]);
    await rollUp();
    await insertLogs(kit.logs, [row(1_000)]);
    await rollUp();
    const expected: Histogram = new Map();
    observe(expected, 10);
    mergeText(expected, formatHistogram(new Map()));
    observe(expected, 1_000);
    const { total } = await usage(DIMENSION.all);
    expect(formatHistogram(total.latency)).toBe(formatHistogram(expected));
  });

  test("adds a pass once that the database gave up and that is tried again", async () => {
    const created_at = nextDay();
    const row = { created_at, other: '{"trace":{"v":1,"by":"only","ms":10,"c":[],"a":[]}}' };
    await insertLogs(kit.logs, [row]);
    await rollUp();
    await insertLogs(kit.logs, [row]);
    const { raw } = kit.database;
    const givenUp = new Error("given up");
    const twice: typeof raw.transaction = async (work) => {
      const first = raw.transaction(async (tx) => {
        await work(tx);
        throw givenUp;
      });
      await expect(first).rejects.toBe(givenUp);
      return raw.transaction(work);
    };
    const database = { ...kit.database, raw: { ...raw, transaction: twice } };
    await rollUpStatistics({ ...kit, database, logs: kit.logs, settleMs: 0 }, signal);
    const { total } = await usage(DIMENSION.all);
    expect(total).toMatchObject({ calls: 2, latency: new Map([...total.latency].map(([bucket]) => [bucket, 2])) });
    const sums = kit.database.db.selectFrom("log_sums").where("counts", "<>", "").where("start", ">=", created_at);
    for (const { counts } of await sums.select("counts").execute()) expect(counts).toContain('{"root":2}');
  });

  test("adds up attempts of channels before and after the time from which their sum is there", async () => {
    const created_at = nextDay();
    const rows = [0, 1].map((hour) => ({ created_at: created_at + hour * HOUR, channel_id: 5 + hour, quota: 1 }));
    await insertLogs(kit.logs, rows);
    await rollUp();
    const before = await usage(DIMENSION.channel);
    expect(before.total).toMatchObject({ calls: 2, quota: 2 });
    const { db } = kit.database;
    const old = db.deleteFrom("usage_statistics").where("dimension", "=", DIMENSION.attempts);
    await old.where("start", "<=", created_at).execute();
    await db.deleteFrom("revisions").where("topic", "=", LATER_SUMS_GAP).execute();
    await db
      .insertInto("revisions")
      .values({ topic: LATER_SUMS_GAP, revision: created_at + 1 })
      .execute();
    expect((await usage(DIMENSION.channel)).total).toEqual(before.total);
  });

  test("are complete up to now when nothing was called since the last run", async () => {
    await rollUp();
    kit.clock.set(kit.clock.now() / 1000 + 600);
    expect(await rollUp()).toBe(0);
    expect(await createStatisticsStore(kit).completeUntil()).toBe(Math.floor(kit.clock.now() / 1000) - 1);
  });

  test("continues behind a log that was replaced", async () => {
    const created_at = nextDay();
    await kit.database.raw.run("update revisions set revision = revision + 1000000 where topic = ?", [
      "usage-statistics",
    ]);
    expect(await rollUp()).toBe(0);
    await insertLogs(kit.logs, [{ created_at, quota: 7 }]);
    await rollUp();
    expect((await usage(DIMENSION.all)).total).toMatchObject({ calls: 1, quota: 7 });
  });
});
