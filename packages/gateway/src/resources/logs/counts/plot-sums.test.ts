import type { LogHistogram } from "@fairway/wire";
import { eachLogDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  BEGIN,
  checkStates,
  DAY,
  HOUR,
  OLDER_MARKS,
  openDrawnLogs,
  type DrawnLogs,
  type DrawnRow as Row,
} from "../../../../test/kit/drawn-logs.ts";
import { START_SECONDS } from "../../../../test/kit/store-kit.ts";
import { EVERYTHING, type LogQuery } from "../filter.ts";

eachLogDatabase("plots from the sums of the log", (open) => {
  let logs: DrawnLogs;

  beforeAll(async () => {
    logs = await openDrawnLogs(await open());
  });
  afterAll(() => logs.database.close());
  beforeEach(() => logs.empty());

  /** Counts the rows one by one. */
  function expected(query: LogQuery, interval: number) {
    const buckets = new Map<number, LogHistogram["buckets"][number]>();
    for (const row of logs.listRows(query)) {
      const start = row.created_at - (row.created_at % interval);
      const { count, errors, others } = buckets.get(start) ?? { count: 0, errors: 0, others: 0 };
      const sums = { errors: errors + Number(row.type === 5), others: others + Number([1, 3, 4].includes(row.type)) };
      buckets.set(start, { start, count: count + 1, ...sums });
    }
    return [...buckets.values()].toSorted((a, b) => a.start - b.start);
  }

  /** Periods whose plots use intervals from weeks down to five minutes. */
  const PERIODS = [
    [0, 0],
    [BEGIN + 1, BEGIN + 9 * DAY],
    [BEGIN + 70 * HOUR + 700, BEGIN + 73 * HOUR + 1_800],
    [BEGIN + 70 * HOUR - 450, BEGIN + 94 * HOUR - 451],
    [BEGIN + 2 * DAY, BEGIN + 4 * DAY - 1],
    [BEGIN + 70 * HOUR, BEGIN + 78 * HOUR + 10],
    [BEGIN + 5 * DAY, START_SECONDS + 2 * DAY],
    [0, BEGIN + 73 * HOUR],
  ] as const;
  const FILTERS: readonly Partial<LogQuery>[] = [
    {},
    { type: 2 },
    { type: 5 },
    { model_name: "claude" },
    { model_name: "g%", type: 2 },
    { models: ["", "claude", "nothing"] },
    { channel: 2 },
    { ownerId: 1 },
    { username: "bob", type: 5 },
    { ownerId: 2, model_name: "claude" },
  ];
  /** Filters that the sums of users cannot answer. */
  const OF_ALL = FILTERS.filter(({ ownerId, username }) => ownerId === undefined && username === undefined);
  const checkAll = async (filters = FILTERS) => {
    for (const [start_timestamp, end_timestamp] of PERIODS) {
      for (const filter of filters) {
        const query = { ...EVERYTHING, ...filter, start_timestamp, end_timestamp };
        const { interval, from, to, buckets } = await logs.store.histogram(query);
        const about = JSON.stringify({ ...filter, start_timestamp, end_timestamp });
        expect(buckets, about).toEqual(expected(query, interval));
        const times = logs.listRows(query).map((row) => row.created_at);
        if (start_timestamp === 0 && times.length > 0) expect(from, about).toBe(Math.min(...times));
        if (end_timestamp === 0 && times.length > 0) expect(to, about).toBe(Math.max(...times));
      }
    }
  };

  test("are those of the rows, whatever the sums hold of them", () => checkStates(logs, checkAll, 15));

  const each = (seconds: number, count: number): Row[] =>
    Array.from({ length: count }, (_, index) => ({
      user_id: 1 + (index % 2),
      username: ["ann", "bob"][index % 2] ?? "",
      type: index % 9 === 0 ? 5 : 2,
      created_at: BEGIN + 2 * DAY + index * seconds + (index % 7),
      model_name: ["claude", "gpt-4o", "gpt-4o "][index % 3] ?? "",
      token_name: "a",
      group: "vip",
      channel_id: 1,
      other: "",
    }));

  test("of a day are read by five minutes, of longer periods by the hour", async () => {
    await logs.insert(each(120, 4_000));
    await logs.rollUp();
    await checkAll();
    await logs.database.db.updateTable("log_sums").set({ log_rows: 1_000 }).execute();
    await logs.database.db.updateTable("facet_sums").set({ log_rows: 1_000 }).execute();
    const most = async (part: Partial<LogQuery>, days: number) => {
      const period = { start_timestamp: BEGIN + 2 * DAY, end_timestamp: BEGIN + (2 + days) * DAY - 1 };
      const { buckets } = await logs.store.histogram({ ...EVERYTHING, ...period, ...part });
      return Math.max(...buckets.map(({ count }) => count));
    };
    for (const part of [{}, { type: 2 }, { type: 5 }, { model_name: "claude" }, { models: ["claude", "gpt-4o"] }])
      for (const days of [1, 2, 5]) expect(await most(part, days), JSON.stringify(part)).toBeGreaterThanOrEqual(1_000);
    expect(await most({ ownerId: 1 }, 5)).toBeGreaterThanOrEqual(1_000);
    for (const part of [{ ownerId: 1 }, { channel: 1 }, { token_name: "a" }])
      expect(await most(part, 1), JSON.stringify(part)).toBeLessThan(1_000);
  });

  test("are those of the rows where a program moved the marks that knows the sums of users only", async () => {
    logs.clock.set(BEGIN + 5 * DAY);
    await logs.insert(each(600, 400));
    await logs.rollUp();
    await logs.insert(each(900, 300));
    await logs.moveMarks(OLDER_MARKS.beforeLogSums);
    await logs.insert(each(1_500, 300));
    await logs.rollUp();
    await checkAll(OF_ALL);
    logs.clock.set(START_SECONDS);
    await logs.insert(each(1_800, 300));
    await logs.rollUp();
    await checkAll(OF_ALL);
  });
});
