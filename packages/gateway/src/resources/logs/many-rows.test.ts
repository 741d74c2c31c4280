import { LOG_TOTAL_CAP } from "@fairway/wire";
import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../test/kit/store-kit.ts";
import { LOG_COLUMNS } from "../../storage/log-rows.ts";
import { EVERYTHING, type LogQuery } from "./filter.ts";
import { createLogStore, type LogStore } from "./store.ts";

/** One row per second from `START_SECONDS`. */
const SECONDS = 70_000;
/** Rows of the second before them: more than a slice can contain. */
const CROWDED = 32_000;
const CROWDED_SECOND = START_SECONDS - 1;
const at = (index: number) => START_SECONDS + index;
/** Rows that a filter without an index finds. */
const SLOW = [0, 40_000, 55_000];

eachDatabase("log store with many rows", (open) => {
  let kit: StoreKit;
  let store: LogStore;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    store = createLogStore({ ...kit, sums: kit.database });
    await insertLogs(kit.database, rowsFrom(500, at));
    for (let count = 500; count < SECONDS; count *= 2) await copy(at(0), at(Math.min(count, SECONDS - count)), count);
    await insertLogs(
      kit.database,
      rowsFrom(500, () => CROWDED_SECOND),
    );
    for (let count = 500; count < CROWDED; count *= 2) await copy(CROWDED_SECOND, at(0), 0);
    for (const index of SLOW) await change(index, { content: String(index), use_time: 99 });
    for (const index of [5_500, ...Array.from({ length: 9 }, (_, digit) => 55_001 + digit)])
      await change(index, { content: String(index) });
  });
  afterAll(() => kit.database.close());

  const rowsFrom = (count: number, calculateTime: (index: number) => number) =>
    Array.from({ length: count }, (_, index) => ({ content: "-", quota: 1, created_at: calculateTime(index) }));
  /** Copies the rows of a period inside the database, each created `by` seconds later. */
  const copy = async (from: number, before: number, by: number) => {
    const columns = LOG_COLUMNS.map((name) => `"${name}"`).join(", ");
    const later = columns.replace('"created_at"', '"created_at" + ?');
    const period = "where created_at >= ? and created_at < ? order by id";
    const insert = `insert into logs (${columns}) select ${later} from logs ${period}`;
    await kit.database.raw.run(insert, [by, from, before]);
  };
  const change = (index: number, more: { readonly content: string; readonly use_time?: number }) =>
    kit.database.db.updateTable("logs").set(more).where("created_at", "=", at(index)).execute();
  const contents = async (query: Partial<LogQuery>, page = { offset: 0, limit: 100 }) =>
    (await store.page({ ...EVERYTHING, ...query }, page)).map((row) => row.content);

  test("reads long periods in slices without losing or doubling a row", async () => {
    const singles = { ...EVERYTHING, start_timestamp: at(0) };
    expect(await store.total(singles)).toBe(SECONDS);
    expect(await store.total({ ...EVERYTHING, end_timestamp: CROWDED_SECOND })).toBe(CROWDED);
    expect(await store.spent(EVERYTHING)).toBe(SECONDS + CROWDED);
    expect(await store.spent({ ...singles, end_timestamp: at(1_999) })).toBe(2_000);
    const histogram = await store.histogram(EVERYTHING);
    expect(histogram.buckets.reduce((sum, bucket) => sum + bucket.count, 0)).toBe(SECONDS + CROWDED);
    expect(histogram.interval).toBe(900);
  });

  test("finds the few rows of a filter that no index answers, by page and by cursor", async () => {
    const slow = { min_use_time: 99 };
    expect(await contents(slow)).toEqual(["55000", "40000", "0"]);
    expect(await contents(slow, { offset: 1, limit: 1 })).toEqual(["40000"]);
    expect(await contents(slow, { offset: 3, limit: 1 })).toEqual([]);
    expect(await contents({ ...slow, start_timestamp: at(1), end_timestamp: at(54_999) })).toEqual(["40000"]);
    const [first] = await store.page({ ...EVERYTHING, ...slow }, { offset: 0, limit: 1 });
    const before = await store.cursorAt(first?.id ?? 0);
    const next = await store.page({ ...EVERYTHING, ...slow }, { offset: 0, limit: 2, before });
    expect(next.map((row) => row.content)).toEqual(["40000", "0"]);
    expect(await store.search("5500", undefined)).toHaveLength(11);
  });

  test("counts no further than its cap, and where no index counts among the newest rows only", async () => {
    expect(SECONDS + CROWDED).toBeGreaterThan(LOG_TOTAL_CAP);
    expect(await store.total(EVERYTHING)).toBe(LOG_TOTAL_CAP);
    const slow = { ...EVERYTHING, min_use_time: 99 };
    expect(await store.total(slow)).toBe(2);
    expect(await store.total({ ...slow, end_timestamp: at(19_000) })).toBe(1);
  });
});
