import type { LogFacets } from "@fairway/wire";
import { eachLogDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  BEGIN,
  checkStates,
  DAY,
  HOUR,
  OLDER_MARKS,
  openDrawnLogs,
  buildRow,
  type DrawnLogs,
  type DrawnRow as Row,
} from "../../../../test/kit/drawn-logs.ts";
import { START_SECONDS } from "../../../../test/kit/store-kit.ts";
import { buildFacets } from "../facets.ts";
import { EVERYTHING, type LogQuery } from "../filter.ts";

/** Counts the rows one by one. */
function expected(found: readonly Row[]): LogFacets {
  const count = (readValue: (row: Row) => string | undefined) => {
    const counts = new Map<string, number>();
    for (const row of found) {
      const value = readValue(row);
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

eachLogDatabase("facets", (open) => {
  let logs: DrawnLogs;

  beforeAll(async () => {
    logs = await openDrawnLogs(await open());
  });
  afterAll(() => logs.database.close());
  beforeEach(() => logs.empty());

  const facets = async (part: Partial<LogQuery>) =>
    buildFacets(await logs.store.facets({ ...EVERYTHING, ...part }), new Map());
  const check = async (part: Partial<LogQuery>) => {
    const query = { ...EVERYTHING, ...part };
    expect(await facets(part), JSON.stringify(part)).toEqual(expected(logs.listRows(query)));
  };
  const PERIODS = [
    [0, 0],
    [BEGIN + 1, BEGIN + 9 * DAY],
    [BEGIN + 3 * DAY - HOUR, BEGIN + 7 * DAY + 1_800],
    [BEGIN + 5 * HOUR, 0],
    [BEGIN + 2 * DAY + 23 * HOUR, BEGIN + 4 * DAY - 1],
    [BEGIN + 23 * HOUR, BEGIN + 24 * HOUR - 1],
    [BEGIN + 70 * HOUR + 1_800, BEGIN + 73 * HOUR + 900],
    [0, BEGIN + 3 * DAY + 1_800],
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
  /** Filters that the sums of users cannot answer. */
  const OF_ALL = FILTERS.filter(({ ownerId, username }) => ownerId === undefined && username === undefined);
  const checkAll = async (filters = FILTERS) => {
    for (const [start_timestamp, end_timestamp] of PERIODS)
      for (const filter of filters) await check({ ...filter, start_timestamp, end_timestamp });
  };

  test("are those of the rows, whatever the sums hold of them", () => checkStates(logs, checkAll, 25));

  const hourly = (count: number, more: (index: number) => Partial<Row> = () => ({})): Row[] =>
    Array.from({ length: count }, (_, index) => ({
      ...buildRow({
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
    await logs.insert(hourly(100));
    await logs.rollUp();
    await logs.database.db.updateTable("facet_sums").set({ log_rows: 9_000 }).execute();
    const all = await facets({ ownerId: 1 });
    expect(all.complete).toBe(true);
    expect(all.users[0]?.count).toBeGreaterThan(30_000);
    expect((await facets({ ownerId: 1, model_name: "claude" })).users).toEqual([{ value: "ann", count: 100 }]);
  });

  test("of all users and of models come from their sums", async () => {
    await logs.insert(hourly(70));
    await logs.insert(hourly(70, () => ({ model_name: "gpt-4o" })));
    await logs.rollUp();
    await logs.database.db.updateTable("log_sums").set({ log_rows: 9_000 }).execute();
    const period = { start_timestamp: BEGIN, end_timestamp: BEGIN + 58 * HOUR - 1 };
    const isFromSums = async (part: Partial<LogQuery>) =>
      ((await facets({ ...period, ...part })).types[0]?.count ?? 0) > 18_000;
    expect(await isFromSums({})).toBe(true);
    expect(await isFromSums({ type: 2 })).toBe(true);
    expect(await isFromSums({ model_name: "claude", start_timestamp: BEGIN + 40 * HOUR })).toBe(true);
    expect(await isFromSums({ models: ["claude", "gpt-4o"], start_timestamp: BEGIN + 45 * HOUR })).toBe(true);
    const hour = { start_timestamp: BEGIN + 40 * HOUR, end_timestamp: BEGIN + 41 * HOUR - 1 };
    expect((await facets(hour)).types).toEqual([{ value: "2", count: 9_000 }]);
    // This is more text than one request reads.
    expect(await isFromSums({ model_name: "claude" })).toBe(false);
    expect(await isFromSums({ channel: 1 })).toBe(false);
    expect(await isFromSums({ ownerId: 1 })).toBe(false);
  });

  test("of the whole log come from the sums of its days, the first one included while it lost no row", async () => {
    await logs.insert(hourly(100, (index) => ({ created_at: BEGIN + 10 * HOUR + index * HOUR + 7 })));
    await logs.insert(hourly(100, (index) => ({ type: 5, created_at: BEGIN + 10 * HOUR + index * HOUR + 40 })));
    await logs.rollUp();
    const days = logs.database.db.updateTable("log_sums").where("span", "=", DAY);
    await days.set({ log_rows: 9_000 }).execute();
    const count = async (part: Partial<LogQuery> = {}) =>
      (await facets(part)).types.toSorted((a, b) => Number(a.value) - Number(b.value)).map((type) => type.count);
    // 110 hours span five days.
    expect(await count()).toEqual([45_000, 45_000]);
    expect(await count({ end_timestamp: BEGIN + 4 * DAY - 1 })).toEqual([36_000, 36_000]);
    await logs.remove(BEGIN + 12 * HOUR + 20, 5);
    // The failed calls of twelve hours, and of four days.
    expect(await count()).toEqual([45_000, 36_012]);
    await logs.remove(BEGIN + 12 * HOUR + 20);
    expect(await count()).toEqual([36_011, 36_012]);
    await logs.insert(hourly(1, () => ({ created_at: START_SECONDS - 100 })));
    expect(await count()).toEqual([36_012, 36_012]);
  });

  test("are those of the newest rows where a log has more days than are read at once", async () => {
    await logs.insert(hourly(60, (index) => ({ created_at: BEGIN - index * DAY + 9 * DAY })));
    await logs.rollUp();
    await logs.database.db.updateTable("log_sums").set({ log_rows: 9_000 }).execute();
    expect((await facets({})).types).toEqual([{ value: "2", count: 60 }]);
  });

  test("are those of the rows where a program moved the marks that knows the sums of users only", async () => {
    logs.clock.set(BEGIN + 5 * DAY);
    await logs.insert(hourly(120));
    await logs.rollUp();
    await logs.insert(hourly(120, (index) => ({ created_at: BEGIN + index * HOUR + 9 })));
    await logs.moveMarks(OLDER_MARKS.beforeLogSums);
    await logs.insert(hourly(200).slice(120));
    logs.clock.set(START_SECONDS);
    await logs.rollUp();
    await checkAll(OF_ALL);
  });

  test("leave out failed calls that were removed from an hour before the rest of it", async () => {
    await logs.insert(hourly(200));
    await logs.insert(hourly(100, (index) => ({ type: 5, created_at: BEGIN + 50 * HOUR + index * 30 })));
    await logs.rollUp();
    const before = BEGIN + 50 * HOUR + 900;
    await logs.remove(before, 5);
    await checkAll();
  });

  test("are those of the rows where another program moved the mark of the statistics", async () => {
    logs.clock.set(BEGIN + 5 * DAY);
    await logs.insert(hourly(120));
    await logs.rollUp();
    const more = hourly(120, (index) => ({ created_at: BEGIN + index * HOUR + 9 }));
    await logs.insert(more);
    await logs.moveMarks(OLDER_MARKS.beforeFacetSums);
    await logs.insert(hourly(200).slice(120));
    logs.clock.set(START_SECONDS);
    await logs.rollUp();
    await checkAll();
  });

  test("are those of the rows when another log took the place of the one in the sums", async () => {
    await logs.insert(hourly(200));
    await logs.rollUp();
    await logs.database.db.updateTable("revisions").set({ revision: 900_000_000 }).execute();
    await logs.rollUp();
    await checkAll();
  });

  test("are counted from rows where an hour has very many values", async () => {
    await logs.insert(hourly(100));
    await logs.insert(hourly(600, (index) => ({ created_at: BEGIN + 50 * HOUR, token_name: `t${index}` })));
    await logs.rollUp();
    await logs.insert(hourly(3));
    await logs.rollUp();
    const { tokens, complete } = await facets({ ownerId: 1 });
    expect(complete).toBe(true);
    expect(tokens[0]).toEqual({ value: "a", count: 103 });
    expect(tokens).toHaveLength(20);
  });

  test("sums of rows that no longer exist are removed", async () => {
    await logs.insert(hourly(240));
    await logs.rollUp();
    const before = BEGIN + 5 * DAY;
    await logs.remove(before);
    for (let run = 0; run < 3; run++) await logs.rollUp();
    for (const table of ["facet_sums", "log_sums"] as const) {
      const left = logs.database.db.selectFrom(table).select((eb) => eb.fn.min("start").as("start"));
      expect(Number((await left.executeTakeFirstOrThrow()).start)).toBeGreaterThanOrEqual(before - DAY);
    }
    await checkAll();
  });
});
