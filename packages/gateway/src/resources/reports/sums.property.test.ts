// A report from sums must equal the report from the rows of the log, to the unit, whatever the sums leave out.
import fc from "fast-check";
import { eachLogDatabase } from "@fairway/testkit/databases";
import { propertyRuns } from "@fairway/testkit/property-runs";
import { LOG_TYPE, OTHER_VALUE, type ReportField } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import type { LogRowInput } from "../../storage/log-rows.ts";
import { EVERYTHING, type LogQuery, type Period } from "../logs/filter.ts";
import { DAY, HOUR } from "../statistics/dimensions.ts";
import type { SumBounds } from "../statistics/report-sums/bound.ts";
import { REPORT_SUMS_GAP } from "../statistics/report-sums/gather.ts";
import { rollUpStatistics } from "../statistics/rollup.ts";
import { ReportGroups } from "./groups.ts";
import { createReportStore } from "./store.ts";

const BEGIN = 20_833 * DAY;
const END = BEGIN + 3 * DAY;
const pick = <T>(...values: readonly T[]) => fc.constantFrom(...values);

const row: fc.Arbitrary<Partial<LogRowInput>> = fc
  .record({
    user_id: pick(1, 2),
    token_id: pick(0, 3),
    model_name: pick("a", "A", "b|c", "é"),
    group: pick("default", "vip"),
    channel_id: pick(0, 5),
    actor: pick("", "u1"),
    tags: pick("", "app=shop", "app=crm|env=prod", "app=SHOP", "env=~other"),
    end_user: pick("", "42", "ü", "u|x"),
    created_at: fc.integer({ min: BEGIN - HOUR, max: END + HOUR }),
    type: pick(LOG_TYPE.consume, LOG_TYPE.consume, LOG_TYPE.error, LOG_TYPE.topup),
    quota: fc.integer({ min: 0, max: 1_000_000_000 }),
    prompt_tokens: fc.integer({ min: 0, max: 5_000 }),
    completion_tokens: fc.integer({ min: 0, max: 5_000 }),
    repeated: fc.integer({ min: 1, max: 9 }),
    isBatch: fc.boolean(),
  })
  .map(({ repeated, isBatch, ...plain }) => {
    const isError = plain.type === LOG_TYPE.error;
    if (isError) return { ...plain, quota: 0, other: JSON.stringify(repeated > 1 ? { repeated } : {}) };
    if (plain.type !== LOG_TYPE.consume || !isBatch) return plain;
    const batch = { id: "b", items: 9, succeeded: repeated, failed: 2 };
    return { ...plain, content: "Batch b: done", other: JSON.stringify({ batch }) };
  });

const QUESTIONS: readonly (readonly ReportField[])[] = [
  [],
  ["model"],
  ["group"],
  ["token"],
  ["channel"],
  ["actor"],
  ["user"],
  ["end_user"],
  ["tag:app"],
  ["tag:env", "user"],
  ["model", "tag:app"],
  ["user", "tag:app", "model"],
  ["user", "end_user"],
];

const period = fc
  .tuple(fc.integer({ min: BEGIN - HOUR, max: END }), fc.integer({ min: 1, max: 3 * DAY }))
  .map(([from, length]) => ({ from, to: Math.min(from + length, END + 2 * HOUR) }));

eachLogDatabase("a report from sums", (open) => {
  let kit: StoreKit;
  beforeAll(async () => {
    kit = await openStoreKit(await open());
    kit.clock.set(END + DAY);
  });
  afterAll(() => kit.database.close());

  const clear = async () => {
    await kit.logs.db.deleteFrom("logs").execute();
    for (const table of ["report_sums", "report_values", "usage_statistics", "facet_sums", "log_sums"] as const)
      await kit.database.db.deleteFrom(table).execute();
    await kit.database.db.deleteFrom("revisions").execute();
  };
  const rollUp = (bounds: SumBounds) =>
    rollUpStatistics({ ...kit, logs: kit.logs, settleMs: 0, rowsPerPass: 11, bounds }, new AbortController().signal);
  const report = async (by: readonly ReportField[], filter: LogQuery, of: Period) => {
    const groups = new ReportGroups(by);
    const store = createReportStore({ database: kit.database, logs: kit.logs });
    await store.addPeriod(groups, { by, filter, period: of, start: BEGIN });
    return { ...groups.finish(), total: groups.total };
  };
  /** Names are those of the time of the call in rows, and those of today in sums. */
  const withoutNames = (by: readonly ReportField[], { groups }: Awaited<ReturnType<typeof report>>) =>
    groups
      .map(({ values, figures }) => {
        const rest = [...values];
        const keys = by.map(
          (field) => rest.splice(0, field === "user" || field === "token" || field === "channel" ? 2 : 1)[0],
        );
        return JSON.stringify([keys, figures]);
      })
      .toSorted();
  const asRows = (filter: LogQuery): LogQuery => ({ ...filter, models: ["a", "A", "b|c", "é"] });

  test("equals the report from the rows, for every question, period and owner", async () => {
    const cases = fc.record({
      rows: fc.array(row, { maxLength: 40 }),
      by: fc.constantFrom(...QUESTIONS),
      of: period,
      owner: pick({}, { ownerId: 1 }),
      gap: pick(0, BEGIN + 5 * HOUR),
    });
    let summed = 0;
    await fc.assert(
      fc.asyncProperty(cases, async ({ rows, by, of, owner, gap }) => {
        await clear();
        await insertLogs(kit.logs, rows);
        await rollUp({ values: 500, endUsers: 5_000 });
        if (gap > 0) {
          await kit.database.db.deleteFrom("report_sums").where("start", "<", gap).where("span", "=", HOUR).execute();
          await kit.database.db.insertInto("revisions").values({ topic: REPORT_SUMS_GAP, revision: gap }).execute();
        }
        const filter = { ...EVERYTHING, ...owner };
        const found = await report(by, filter, of);
        const expected = await report(by, asRows(filter), of);
        expect(withoutNames(by, found)).toEqual(withoutNames(by, expected));
        expect(found.total).toEqual(expected.total);
        // Whole hours come from the sums: without the rows they are still there.
        await kit.logs.db.deleteFrom("logs").execute();
        summed += (await report(by, filter, of)).total.quota;
      }),
      { numRuns: propertyRuns(25) },
    );
    expect(summed).toBeGreaterThan(0);
  });

  test("joins values beyond the bounds, in one pass or in many, and loses nothing", async () => {
    const counts = fc.record({
      rows: fc.array(row, { minLength: 10, maxLength: 40 }),
      by: fc.constantFrom(
        ...QUESTIONS.filter((by) => by.some((field) => field.startsWith("tag:") || field === "end_user")),
      ),
    });
    await fc.assert(
      fc.asyncProperty(counts, async ({ rows, by }) => {
        await clear();
        const invented = rows.map((one, at) => ({ ...one, tags: `app=v${at}|env=w${at % 9}`, end_user: `e${at}` }));
        const half = Math.floor(invented.length / 2);
        await insertLogs(kit.logs, invented.slice(0, half));
        await rollUp({ values: 3, endUsers: 4 });
        await insertLogs(kit.logs, invented.slice(half));
        await rollUp({ values: 3, endUsers: 4 });
        const of = { from: BEGIN - HOUR, to: END + 2 * HOUR };
        const found = await report(by, EVERYTHING, of);
        const expected = await report(by, asRows(EVERYTHING), of);
        expect(found.total).toEqual(expected.total);
        const sum = { calls: 0, quota: 0 };
        for (const { figures } of found.groups) {
          sum.calls += figures.calls;
          sum.quota += figures.quota;
          expect(figures.calls).toBeGreaterThan(0);
        }
        expect(sum).toEqual({ calls: expected.total.calls, quota: expected.total.quota });
        const joined = found.groups.filter(({ values }) => values.includes(OTHER_VALUE));
        expect(found.isBounded).toBe(joined.length > 0);
        expect(found.left > 0).toBe(found.isBounded);
        // Two owners and six days at most, counted in UTC.
        const stored = kit.database.db.selectFrom("report_sums").where("tag_key", "=", "app").where("cube", "=", 6);
        const perDay = await stored
          .where("span", "=", DAY)
          .select(({ fn }) => ["owner_id", "start", fn.countAll<number>().as("values")])
          .groupBy(["owner_id", "start"])
          .execute();
        for (const { values } of perDay) expect(Number(values)).toBeLessThanOrEqual(4);
      }),
      { numRuns: propertyRuns(8) },
    );
  });

  test("10,000 end users of one day are 5,000 and the rest, whose sum is that of all calls", async () => {
    await clear();
    const rows = Array.from({ length: 10_000 }, (_, at) => ({
      user_id: 1,
      type: LOG_TYPE.consume,
      created_at: BEGIN + (at % DAY),
      end_user: `customer-${at}`,
      tags: `app=v${at % 600}`,
      quota: 1 + (at % 7),
    }));
    const charged = rows.reduce((sum, { quota }) => sum + quota, 0);
    await insertLogs(kit.database, rows);
    const deps = { ...kit, logs: kit.database, settleMs: 0, bounds: { values: 500, endUsers: 5_000 } };
    await rollUpStatistics(deps, new AbortController().signal);
    // Without the rows, whatever is answered comes from the sums.
    await kit.database.db.deleteFrom("logs").execute();
    for (const [by, most] of [
      ["end_user", 5_000],
      ["tag:app", 500],
    ] as const) {
      const { groups, total, isBounded } = await report([by], EVERYTHING, { from: BEGIN, to: BEGIN + DAY - 1 });
      const others = groups.filter(({ values }) => values.includes(OTHER_VALUE));
      expect([by, groups.length, others.length, isBounded]).toEqual([by, most + 1, 1, true]);
      expect([total.calls, total.quota]).toEqual([10_000, charged]);
      expect(groups.reduce((sum, { figures }) => sum + figures.quota, 0)).toBe(charged);
      expect(groups.reduce((sum, { figures }) => sum + figures.calls, 0)).toBe(10_000);
    }
  }, 120_000);

  test("reads rows after a program without these sums has moved the mark of the statistics", async () => {
    await clear();
    await insertLogs(kit.logs, [{ created_at: BEGIN, quota: 7, tags: "app=shop" }]);
    await rollUp({ values: 500, endUsers: 5_000 });
    await kit.database.db.updateTable("report_sums").set({ quota: 900 }).execute();
    const of = { from: BEGIN, to: BEGIN + HOUR - 1 };
    expect((await report(["tag:app"], EVERYTHING, of)).total.quota).toBe(900);
    const mark = kit.database.db.updateTable("revisions").where("topic", "=", "usage-statistics");
    await mark.set(({ eb }) => ({ revision: eb("revision", "+", 1) })).execute();
    expect((await report(["tag:app"], EVERYTHING, of)).total.quota).toBe(7);
  });
});
