import { eachDatabase } from "@fairway/testkit/databases";
import { propertyRuns } from "@fairway/testkit/property-runs";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  BEGIN,
  DAY,
  HOUR,
  hourArbitrary,
  isMatch,
  rowOf,
  rowsArbitrary,
  type DrawnRow as Row,
} from "../../../../test/kit/drawn-logs.ts";
import { insertLogs } from "../../../../test/kit/log-rows.ts";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../../test/kit/store-kit.ts";
import { FACET_MARK } from "../../statistics/facet-sums.ts";
import { rollUpStatistics, STATISTICS_MARK } from "../../statistics/rollup.ts";
import { EVERYTHING, type LogQuery } from "../filter.ts";
import { createLogStore, type LogStore } from "../store.ts";

eachDatabase("plots from the sums of the log", (open) => {
  let kit: StoreKit;
  let store: LogStore;
  let rows: Row[] = [];

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    store = createLogStore({ ...kit, sums: kit.database });
  });
  afterAll(() => kit.database.close());
  beforeEach(() => empty());

  const empty = async () => {
    for (const table of ["logs", "facet_sums", "log_sums", "usage_statistics", "revisions"] as const)
      await kit.database.db.deleteFrom(table).execute();
    rows = [];
  };
  const rollUp = () => rollUpStatistics({ ...kit, logs: kit.database, settleMs: 0 }, new AbortController().signal);
  const insert = async (more: readonly Row[]) => {
    await insertLogs(kit.database, more);
    rows.push(...more);
  };
  const remove = async (isOld: (row: Row) => boolean, before: number, type?: number) => {
    const old = kit.database.db.deleteFrom("logs").where("created_at", "<", before);
    await (type === undefined ? old : old.where("type", "=", type)).execute();
    rows = rows.filter((row) => !isOld(row));
  };

  /** Counts the rows one by one. */
  function expected(query: LogQuery, interval: number) {
    const buckets = new Map<number, { start: number; count: number; errors: number }>();
    for (const row of rows.filter((one) => isMatch(one, query))) {
      const start = row.created_at - (row.created_at % interval);
      const { count, errors } = buckets.get(start) ?? { count: 0, errors: 0 };
      buckets.set(start, { start, count: count + 1, errors: errors + Number(row.type === 5) });
    }
    return [...buckets.values()].toSorted((a, b) => a.start - b.start);
  }

  /** Plots by weeks down to those by five minutes. */
  const PERIODS = [
    [0, 0],
    [BEGIN + 1, BEGIN + 9 * DAY],
    [BEGIN + 70 * HOUR + 700, BEGIN + 73 * HOUR + 1_800],
    [BEGIN + 70 * HOUR - 450, BEGIN + 94 * HOUR - 451],
    [BEGIN + 2 * DAY, BEGIN + 4 * DAY - 1],
    [BEGIN + 70 * HOUR, BEGIN + 78 * HOUR + 10],
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
  /** What the sums of users do not answer. */
  const OF_ALL = FILTERS.filter(({ ownerId, username }) => ownerId === undefined && username === undefined);
  const checkAll = async (filters = FILTERS) => {
    for (const [start_timestamp, end_timestamp] of PERIODS) {
      for (const filter of filters) {
        const query = { ...EVERYTHING, ...filter, start_timestamp, end_timestamp };
        const { interval, buckets } = await store.histogram(query);
        expect(buckets, JSON.stringify({ ...filter, start_timestamp, end_timestamp })).toEqual(
          expected(query, interval),
        );
      }
    }
  };

  test("are those of the rows, whatever the sums hold of them", async () => {
    const drawn = fc.record({
      one: rowsArbitrary,
      two: rowsArbitrary,
      rowsFrom: hourArbitrary,
      errorsFrom: hourArbitrary,
    });
    await fc.assert(
      fc.asyncProperty(drawn, async ({ one, two, rowsFrom, errorsFrom }) => {
        await empty();
        await insert(one.map(rowOf));
        await rollUp();
        await checkAll();
        await insert(two.map(rowOf));
        await checkAll();
        const errorsBefore = BEGIN + errorsFrom * HOUR + 700;
        await remove((row) => row.type === 5 && row.created_at < errorsBefore, errorsBefore, 5);
        await checkAll();
        const before = BEGIN + rowsFrom * HOUR + 90;
        await remove((row) => row.created_at < before, before);
        await rollUp();
        await checkAll();
      }),
      { numRuns: propertyRuns(15) },
    );
  });

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
    await insert(each(120, 4_000));
    await rollUp();
    await checkAll();
    await kit.database.db.updateTable("log_sums").set({ log_rows: 1_000 }).execute();
    await kit.database.db.updateTable("facet_sums").set({ log_rows: 1_000 }).execute();
    const most = async (part: Partial<LogQuery>, days: number) => {
      const period = { start_timestamp: BEGIN + 2 * DAY, end_timestamp: BEGIN + (2 + days) * DAY - 1 };
      const { buckets } = await store.histogram({ ...EVERYTHING, ...period, ...part });
      return Math.max(...buckets.map(({ count }) => count));
    };
    for (const part of [{}, { type: 2 }, { type: 5 }, { model_name: "claude" }, { models: ["claude", "gpt-4o"] }])
      for (const days of [1, 2, 5]) expect(await most(part, days), JSON.stringify(part)).toBeGreaterThanOrEqual(1_000);
    expect(await most({ ownerId: 1 }, 5)).toBeGreaterThanOrEqual(1_000);
    for (const part of [{ ownerId: 1 }, { channel: 1 }, { token_name: "a" }])
      expect(await most(part, 1), JSON.stringify(part)).toBeLessThan(1_000);
  });

  test("are those of the rows where a program moved the marks that knows the sums of users only", async () => {
    kit.clock.set(BEGIN + 5 * DAY);
    await insert(each(600, 400));
    await rollUp();
    await insert(each(900, 300));
    const mark = { revision: await store.newestId() };
    const moved = kit.database.db.updateTable("revisions").set(mark);
    await moved.where("topic", "in", [STATISTICS_MARK, FACET_MARK]).execute();
    await insert(each(1_500, 300));
    await rollUp();
    await checkAll(OF_ALL);
    kit.clock.set(START_SECONDS);
    await insert(each(1_800, 300));
    await rollUp();
    await checkAll(OF_ALL);
  });
});
