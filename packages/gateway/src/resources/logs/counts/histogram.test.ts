import { TEST_TOKEN_NAME, type LogHistogram } from "@fairway/wire";
import { eachLogDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { insertLogs } from "../../../../test/kit/log-rows.ts";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../../test/kit/store-kit.ts";
import { rollUpUsage } from "../../usage-data/rollup.ts";
import { EVERYTHING, type LogQuery } from "../filter.ts";
import { createLogStore, type LogStore } from "../store.ts";

const HOUR = 3_600;
/** The first second of an hour, ten days before the clock of the test. */
const BEGIN = START_SECONDS - (START_SECONDS % HOUR) - 240 * HOUR;

eachLogDatabase("calls over time", (open) => {
  let kit: StoreKit;
  let store: LogStore;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    store = createLogStore({ ...kit, database: kit.logs, sums: kit.database });
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    await kit.logs.db.deleteFrom("logs").execute();
    for (const table of ["quota_data", "revisions"] as const) await kit.database.db.deleteFrom(table).execute();
  });

  const rollUp = () =>
    rollUpUsage(
      { database: kit.database, logs: kit.logs, isEnabled: () => true, settleMs: 0 },
      new AbortController().signal,
    );

  /** Inserts two rows in each hour, of several users, models and types. */
  function insertHours(from: number, to: number): Promise<void> {
    const rows = Array.from({ length: (to - from) * 2 }, (_, half) => ({
      user_id: 1 + (half % 3),
      username: ["ann", "bob", "eve"][half % 3] ?? "",
      model_name: ["gpt-4o", "gpt-4o-mini", "claude"][half % 3] ?? "",
      token_name: half % 13 === 0 ? TEST_TOKEN_NAME : half % 5 === 0 ? "t" : "u",
      token_id: half % 5,
      type: half % 7 === 0 ? 5 : half % 11 === 0 ? 1 : 2,
      created_at: BEGIN + from * HOUR + half * (HOUR / 2) + (half % 7),
    }));
    return insertLogs(kit.logs, rows);
  }

  /** Counts the buckets from the rows themselves. */
  async function fromRows(query: LogQuery, { interval, from, to }: LogHistogram): Promise<LogHistogram["buckets"]> {
    const all = await store.page({ ...query, start_timestamp: from, end_timestamp: to }, { offset: 0, limit: 2_000 });
    const buckets = new Map<number, LogHistogram["buckets"][number]>();
    for (const row of all) {
      const start = row.created_at - (row.created_at % interval);
      const { count, errors, others } = buckets.get(start) ?? { count: 0, errors: 0, others: 0 };
      const isOther = [1, 3, 4].includes(row.type) || (row.type === 2 && row.token_name === TEST_TOKEN_NAME);
      const sums = { errors: errors + (row.type === 5 ? 1 : 0), others: others + (isOther ? 1 : 0) };
      buckets.set(start, { start, count: count + 1, ...sums });
    }
    return [...buckets.values()].toSorted((a, b) => a.start - b.start);
  }

  async function checkAll(): Promise<void> {
    const periods = [
      [0, 0],
      [BEGIN + 100, BEGIN + 200 * HOUR + 1_800],
      [BEGIN + 30 * HOUR + 1, START_SECONDS + HOUR],
      [BEGIN, BEGIN + 24 * HOUR],
    ] as const;
    const filters: Partial<LogQuery>[] = [
      {},
      { type: 2 },
      { type: 5 },
      { ownerId: 3 },
      { username: "bob", type: 2 },
      { model_name: "gpt-4%" },
      { token_name: "t" },
      { token_id: 2 },
      { model_name: "nothing%" },
    ];
    for (const [start_timestamp, end_timestamp] of periods) {
      for (const filter of filters) {
        const query = { ...EVERYTHING, ...filter, start_timestamp, end_timestamp };
        const found = await store.histogram(query);
        expect(found.buckets, JSON.stringify(query)).toEqual(await fromRows(query, found));
      }
    }
  }

  test("are the same with hourly sums, without them, and with sums that lack the newest rows", async () => {
    await insertHours(0, 130);
    await checkAll();
    await rollUp();
    await checkAll();
    await insertHours(120, 200);
    await checkAll();
    await rollUp();
    await checkAll();
  });

  test("come from the sums where those cover the filter, and failed calls from their rows", async () => {
    await insertHours(0, 200);
    await rollUp();
    await kit.database.db.updateTable("quota_data").set({ count: 50 }).execute();
    const period = { start_timestamp: BEGIN, end_timestamp: BEGIN + 200 * HOUR };
    const { interval, buckets } = await store.histogram({ ...EVERYTHING, ...period });
    expect(interval % HOUR).toBe(0);
    expect(buckets[1]?.count).toBeGreaterThanOrEqual(50);
    expect(buckets.reduce((sum, { errors }) => sum + errors, 0)).toBe(58);
    const ofToken = await store.histogram({ ...EVERYTHING, ...period, token_name: "u" });
    expect(Math.max(...ofToken.buckets.map(({ count }) => count))).toBeLessThan(50);
  });
});
