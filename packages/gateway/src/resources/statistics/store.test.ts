import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import type { UsageStatisticsTable } from "../../storage/tables/schema-statistics.ts";
import { DAY, DIMENSION, HOUR } from "./dimensions.ts";
import { createStatisticsStore } from "./store.ts";

eachDatabase("usage statistics", (open) => {
  let kit: StoreKit;
  const DAYS = 20_000 * DAY;

  const row = (change: Partial<UsageStatisticsTable>): UsageStatisticsTable => ({
    span: HOUR,
    dimension: DIMENSION.model,
    owner_id: 0,
    subject: "gpt-4o",
    start: DAYS,
    calls: 1,
    errors: 0,
    refused: 0,
    quota: 10,
    input_tokens: 1,
    output_tokens: 1,
    latency: "100:1",
    first_token: "",
    ...change,
  });

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    const rows = [
      // These are the last hour of a day, two whole days, and the first hour of the next day.
      row({ start: DAYS - HOUR, quota: 1 }),
      row({ span: DAY, start: DAYS, quota: 20, calls: 2, latency: "100:2" }),
      row({ span: DAY, start: DAYS + DAY, quota: 300, latency: "150:1" }),
      row({ start: DAYS + 2 * DAY, quota: 4_000 }),
      // This hour is inside the whole days, which already count it.
      row({ start: DAYS + HOUR, quota: 20, calls: 2 }),
      row({ subject: "o3", start: DAYS - HOUR, quota: 5 }),
    ];
    await kit.database.db.insertInto("usage_statistics").values(rows).execute();
  });
  afterAll(() => kit.database.close());

  const ask = { dimension: DIMENSION.model, ownerId: undefined, subject: "", interval: 0, limit: 10 };

  test("sum hours at the ends of a period and whole days in it, each once", async () => {
    const store = createStatisticsStore(kit);
    const found = await store.usage({ ...ask, from: DAYS - HOUR, to: DAYS + 2 * DAY });
    expect(found.subjects.map(({ subject, quota, calls }) => [subject, quota, calls])).toEqual([
      ["gpt-4o", 4_321, 5],
      ["o3", 5, 1],
    ]);
    expect(found.subjects[0]?.latency.count).toBe(5);
  });

  test("leave out subjects of an earlier answer, and count those behind the last", async () => {
    const store = createStatisticsStore(kit);
    const period = { ...ask, from: DAYS - HOUR, to: DAYS + 2 * DAY };
    const read = async (skip: number, limit: number) => {
      const { subjects, more } = await store.usage({ ...period, skip, limit });
      return [subjects.map(({ subject }) => subject), more];
    };
    expect(await read(0, 1)).toEqual([["gpt-4o"], 1]);
    expect(await read(1, 1)).toEqual([["o3"], 0]);
    expect(await read(2, 1)).toEqual([[], 0]);
  });

  test("points add up to the sums of any period", async () => {
    const store = createStatisticsStore(kit);
    const days = { ...ask, from: DAYS, to: DAYS + 2 * DAY - HOUR };
    const [withPoints, without] = [await store.usage({ ...days, interval: DAY }), await store.usage(days)];
    expect(withPoints.subjects.map((subject) => ({ ...subject, points: [] }))).toEqual(without.subjects);
    expect(withPoints.subjects[0]).toMatchObject({ quota: 320, calls: 3, latency: { count: 3 } });
    // The period ends inside the second day, so the day's point contains only the hours before that end.
    const part = await store.usage({ ...days, to: DAYS + DAY + HOUR, interval: DAY });
    expect([part.subjects[0]?.quota, part.subjects[0]?.points.map(({ quota }) => quota)]).toEqual([20, [20]]);
  });

  test("rank tokens, which are ids, by their quota", async () => {
    const token = (subject: string, quota: number) =>
      row({ dimension: DIMENSION.token, owner_id: Number(subject), subject, quota });
    const rows = [token("9", 5), token("10", 70), token("111", 6)];
    await kit.database.db.insertInto("usage_statistics").values(rows).execute();
    const tokens = { ...ask, dimension: DIMENSION.token, from: DAYS, to: DAYS };
    const { subjects } = await createStatisticsStore(kit).usage(tokens);
    expect(subjects.map(({ subject, quota }) => [subject, quota])).toEqual([
      ["10", 70],
      ["111", 6],
      ["9", 5],
    ]);
  });

  test("name the dearest subjects and count the others", async () => {
    const store = createStatisticsStore(kit);
    const found = await store.usage({ ...ask, from: DAYS - HOUR, to: DAYS, limit: 1 });
    expect([found.subjects.map(({ subject }) => subject), found.more]).toEqual([["o3"], 1]);
  });

  test("answer points by hour, oldest first", async () => {
    const store = createStatisticsStore(kit);
    const found = await store.usage({ ...ask, subject: "gpt-4o", from: DAYS - HOUR, to: DAYS + HOUR, interval: HOUR });
    expect(found.subjects[0]?.points.map(({ start, quota }) => [start - DAYS, quota])).toEqual([
      [-HOUR, 1],
      [HOUR, 20],
    ]);
  });

  test("the first and the last day of any clock hold only hours of the period, as SQL sums them", async () => {
    const { db } = kit.database;
    const first = 30_000 * DAY;
    const hours = Array.from({ length: 96 }, (_, hour) => ({ hour, quota: 1 + ((hour * 37) % 101) }));
    const of = (dimension: number, subject: string) => [
      ...hours.map(({ hour, quota }) => row({ dimension, subject, start: first + hour * HOUR, quota })),
      ...[0, 1, 2, 3].map((day) =>
        row({
          dimension,
          subject,
          span: DAY,
          start: first + day * DAY,
          calls: 24,
          quota: hours.filter(({ hour }) => Math.floor(hour / 24) === day).reduce((sum, { quota }) => sum + quota, 0),
        }),
      ),
    ];
    await db
      .insertInto("usage_statistics")
      .values([...of(DIMENSION.group, "vip"), ...of(DIMENSION.all, "")])
      .execute();
    const store = createStatisticsStore(kit);
    for (const [begin, end] of [
      [0, 95],
      [7, 80],
      [23, 24],
      [25, 47],
      [11, 11],
    ] as const) {
      const inside = hours.filter(({ hour }) => hour >= begin && hour <= end);
      const expected = inside.reduce((sum, { quota }) => sum + quota, 0);
      for (const interval of [0, HOUR, 6 * HOUR, DAY])
        for (const utcOffset of [0, 2 * HOUR, -5 * HOUR]) {
          const period = { from: first + begin * HOUR, to: first + end * HOUR, interval, utcOffset };
          const found = await store.usage({ ...ask, dimension: DIMENSION.group, ...period });
          const sums = [
            found.total.quota,
            found.subjects[0]?.quota,
            ...(interval > 0 ? [sumQuota(found.subjects[0]?.points), sumQuota(found.totalPoints)] : []),
          ];
          expect([begin, end, interval, utcOffset, ...new Set(sums)]).toEqual([
            begin,
            end,
            interval,
            utcOffset,
            expected,
          ]);
        }
    }
  });

  test("merge hours into longer points that begin at the reader's midnight", async () => {
    const store = createStatisticsStore(kit);
    const asked = { ...ask, subject: "gpt-4o", from: DAYS - HOUR, to: DAYS + HOUR };
    const pointsAt = async (interval: number, utcOffset: number) => {
      const found = await store.usage({ ...asked, interval, utcOffset });
      return found.subjects[0]?.points.map(({ start, quota, latency }) => [start - DAYS, quota, latency.count]);
    };
    expect(await pointsAt(6 * HOUR, 0)).toEqual([
      [-6 * HOUR, 1, 1],
      [0, 20, 1],
    ]);
    expect(await pointsAt(DAY, 2 * HOUR)).toEqual([[-2 * HOUR, 21, 2]]);
    expect(await pointsAt(DAY, -5 * HOUR)).toEqual([[-19 * HOUR, 21, 2]]);
  });
});

function sumQuota(points: readonly { readonly quota: number }[] = []): number {
  return points.reduce((sum, { quota }) => sum + quota, 0);
}
