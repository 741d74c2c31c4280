import type { LogFacets } from "@fairway/wire";
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
import { facetsOf } from "../facets.ts";
import { EVERYTHING, type LogQuery } from "../filter.ts";
import { createLogStore, type LogStore } from "../store.ts";

/** Counts the rows one by one. */
function expected(rows: readonly Row[], query: LogQuery): LogFacets {
  const found = rows.filter((row) => isMatch(row, query));
  const count = (valuesOf: (row: Row) => string | undefined) => {
    const counts = new Map<string, number>();
    for (const row of found) {
      const value = valuesOf(row);
      if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    return [...counts]
      .map(([value, times]) => ({ value, count: times }))
      .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
  };
  const status = (row: Row) => /"status_code":(\d+)/.exec(String(row.other))?.[1];
  return {
    complete: true,
    models: count((row) => row.model_name),
    tokens: count((row) => row.token_name),
    groups: count((row) => row.group),
    types: count((row) => String(row.type)),
    channels: count((row) => (row.channel_id === 0 ? "" : String(row.channel_id))).map((one) => ({ ...one, name: "" })),
    users: count((row) => row.username),
    codes: count((row) => status(row) && `code_${status(row)}`),
    statuses: count(status),
  };
}

eachDatabase("facets", (open) => {
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
  const facets = async (part: Partial<LogQuery>) => facetsOf(await store.facets({ ...EVERYTHING, ...part }), new Map());
  const check = async (part: Partial<LogQuery>) => {
    const query = { ...EVERYTHING, ...part };
    expect(await facets(part), JSON.stringify(part)).toEqual(expected(rows, query));
  };
  const PERIODS = [
    [0, 0],
    [BEGIN + 1, BEGIN + 9 * DAY],
    [BEGIN + 3 * DAY - HOUR, BEGIN + 7 * DAY + 1_800],
    [BEGIN + 5 * HOUR, 0],
    [BEGIN + 2 * DAY + 23 * HOUR, BEGIN + 4 * DAY - 1],
  ] as const;
  const FILTERS: readonly Partial<LogQuery>[] = [
    { ownerId: 1 },
    { username: "bob" },
    { username: "eve", type: 2 },
    { ownerId: 2, type: 5 },
    { ownerId: 1, model_name: "claude" },
    {},
    { type: 2 },
    { type: 5 },
    { model_name: "claude" },
    { model_name: "g%", type: 2 },
    { models: ["", "claude", "nothing"] },
    { channel: 2 },
  ];
  /** What the sums of users do not answer. */
  const OF_ALL = FILTERS.filter(({ ownerId, username }) => ownerId === undefined && username === undefined);
  const checkAll = async (filters = FILTERS) => {
    for (const [start_timestamp, end_timestamp] of PERIODS)
      for (const filter of filters) await check({ ...filter, start_timestamp, end_timestamp });
  };

  test("are those of the rows, whatever the sums hold of them", async () => {
    const later = fc.record({
      one: rowsArbitrary,
      two: rowsArbitrary,
      rowsFrom: hourArbitrary,
      errorsFrom: hourArbitrary,
    });
    await fc.assert(
      fc.asyncProperty(later, async ({ one, two, rowsFrom, errorsFrom }) => {
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
      { numRuns: propertyRuns(25) },
    );
  });

  const hourly = (count: number, more: (index: number) => Partial<Row> = () => ({})): Row[] =>
    Array.from({ length: count }, (_, index) => ({
      ...rowOf({
        user: 0,
        type: 2,
        hour: index,
        second: 7,
        model: "claude",
        token: "a",
        group: "vip",
        channel: 1,
        status: 400,
      }),
      ...more(index),
    }));

  test("come from the sums for whole hours, and count more rows than are read one by one", async () => {
    await insert(hourly(100));
    await rollUp();
    await kit.database.db.updateTable("facet_sums").set({ log_rows: 9_000 }).execute();
    const all = await facets({ ownerId: 1 });
    expect(all.complete).toBe(true);
    expect(all.users[0]?.count).toBeGreaterThan(30_000);
    expect((await facets({ ownerId: 1, model_name: "claude" })).users).toEqual([{ value: "ann", count: 100 }]);
  });

  test("of all users and of models come from their sums", async () => {
    await insert(hourly(70));
    await insert(hourly(70, () => ({ model_name: "gpt-4o" })));
    await rollUp();
    await kit.database.db.updateTable("log_sums").set({ log_rows: 9_000 }).execute();
    const period = { start_timestamp: BEGIN, end_timestamp: BEGIN + 58 * HOUR - 1 };
    const isFromSums = async (part: Partial<LogQuery>) =>
      ((await facets({ ...period, ...part })).types[0]?.count ?? 0) > 18_000;
    expect(await isFromSums({})).toBe(true);
    expect(await isFromSums({ type: 2 })).toBe(true);
    expect(await isFromSums({ model_name: "claude", start_timestamp: BEGIN + 40 * HOUR })).toBe(true);
    expect(await isFromSums({ models: ["claude", "gpt-4o"], start_timestamp: BEGIN + 45 * HOUR })).toBe(true);
    // More texts than are read at once.
    expect(await isFromSums({ model_name: "claude" })).toBe(false);
    expect(await isFromSums({ start_timestamp: 0 })).toBe(false);
    expect(await isFromSums({ channel: 1 })).toBe(false);
    expect(await isFromSums({ ownerId: 1 })).toBe(false);
  });

  test("are those of the rows where a program moved the marks that knows the sums of users only", async () => {
    kit.clock.set(BEGIN + 5 * DAY);
    await insert(hourly(120));
    await rollUp();
    await insert(hourly(120, (index) => ({ created_at: BEGIN + index * HOUR + 9 })));
    const mark = { revision: await store.newestId() };
    const moved = kit.database.db.updateTable("revisions").set(mark);
    await moved.where("topic", "in", [STATISTICS_MARK, FACET_MARK]).execute();
    await insert(hourly(200).slice(120));
    kit.clock.set(START_SECONDS);
    await rollUp();
    await checkAll(OF_ALL);
  });

  test("leave out failed calls that were removed from an hour before the rest of it", async () => {
    await insert(hourly(200));
    await insert(hourly(100, (index) => ({ type: 5, created_at: BEGIN + 50 * HOUR + index * 30 })));
    await rollUp();
    const before = BEGIN + 50 * HOUR + 900;
    await remove((row) => row.type === 5 && row.created_at < before, before, 5);
    await checkAll();
  });

  test("are those of the rows where another program moved the mark of the statistics", async () => {
    kit.clock.set(BEGIN + 5 * DAY);
    await insert(hourly(120));
    await rollUp();
    const more = hourly(120, (index) => ({ created_at: BEGIN + index * HOUR + 9 }));
    await insert(more);
    const mark = { revision: await store.newestId() };
    await kit.database.db.updateTable("revisions").set(mark).where("topic", "=", STATISTICS_MARK).execute();
    await insert(hourly(200).slice(120));
    kit.clock.set(START_SECONDS);
    await rollUp();
    await checkAll();
  });

  test("are those of the rows when another log took the place of the one in the sums", async () => {
    await insert(hourly(200));
    await rollUp();
    await kit.database.db.updateTable("revisions").set({ revision: 900_000_000 }).execute();
    await rollUp();
    await checkAll();
  });

  test("are counted from rows where an hour has very many values", async () => {
    await insert(hourly(100));
    await insert(hourly(600, (index) => ({ created_at: BEGIN + 50 * HOUR, token_name: `t${index}` })));
    await rollUp();
    await insert(hourly(3));
    await rollUp();
    const { tokens, complete } = await facets({ ownerId: 1 });
    expect(complete).toBe(true);
    expect(tokens[0]).toEqual({ value: "a", count: 103 });
    expect(tokens).toHaveLength(20);
  });

  test("sums of rows that no longer exist are removed", async () => {
    await insert(hourly(240));
    await rollUp();
    const before = BEGIN + 5 * DAY;
    await remove((row) => row.created_at < before, before);
    for (let run = 0; run < 3; run++) await rollUp();
    for (const table of ["facet_sums", "log_sums"] as const) {
      const left = kit.database.db.selectFrom(table).select((eb) => eb.fn.min("start").as("start"));
      expect(Number((await left.executeTakeFirstOrThrow()).start)).toBeGreaterThanOrEqual(before - DAY);
    }
    await checkAll();
  });
});
