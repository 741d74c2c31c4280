// What the dashboard shows of prompt caches and batches must equal SQL over the rows of the log and of batches.
import { eachDatabase } from "@fairway/testkit/databases";
import { propertyRuns } from "@fairway/testkit/property-runs";
import { LOG_TYPE, type BatchTotals, type CacheUsage } from "@fairway/wire";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildBatchRow } from "../../../../test/kit/batch-row.ts";
import { insertLogs } from "../../../../test/kit/log-rows.ts";
import { startManagementApp, type ManagementApp } from "../../../../test/kit/management-app.ts";
import { readCode, signInMembers, type Members } from "../../../../test/kit/members.ts";
import type { LogRowInput } from "../../../storage/log-rows.ts";
import { DAY, HOUR } from "../dimensions.ts";
import { FACET_MARK } from "../facet-sums.ts";
import { LOG_SUMS_MARK } from "../log-sums.ts";
import { REPORT_SUMS_MARK } from "../report-sums/gather.ts";
import { rollUpStatistics, STATISTICS_MARK } from "../rollup.ts";
import { CACHE_SUMS_MARK } from "./gather.ts";

const pick = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const tokens = fc.integer({ min: 0, max: 5_000 });

/** `age` = seconds before the test's end. */
const row = fc
  .record({
    isMine: fc.boolean(),
    token_id: pick(0, 3, 4),
    channel_id: pick(5, 6),
    model_name: pick("a", "b", "é"),
    age: fc.integer({ min: 1, max: 2 * DAY }),
    type: pick(LOG_TYPE.consume, LOG_TYPE.consume, LOG_TYPE.error),
    quota: fc.integer({ min: 0, max: 1_000_000_000 }),
    prompt_tokens: tokens,
    read: tokens,
    written: tokens,
    saved: fc.integer({ min: -1_000_000, max: 1_000_000 }),
    kind: pick("plain", "plain", "cached", "cached", "batch", "created", "storage"),
    items: fc.integer({ min: 0, max: 9 }),
  })
  .map(({ read, written, saved, kind, items, ...plain }) => {
    const cached = { cache_tokens: read, cache_creation_tokens: written, cache_saved: saved };
    const other = {
      plain: {},
      cached,
      batch: { ...cached, batch: { id: "b", items: 9, succeeded: items, failed: 0 } },
      created: { cached_content: { id: "c", tokens: written } },
      storage: { cached_content: { id: "c", tokens: 9, seconds: 90, deposit: 0 } },
    }[kind];
    return { ...plain, other: JSON.stringify(other) };
  });

/** A number in the details of a log row; 0 without it. */
const MEMBER = {
  sqlite: (path: string) => `coalesce(json_extract(other, '$.${path}'), 0)`,
  mysql: (path: string) => `coalesce(cast(json_value(other, '$.${path}') as signed), 0)`,
  postgres: (path: string) => `coalesce((other::jsonb #>> '{${path.replace(".", ",")}}')::bigint, 0)`,
};

eachDatabase("what caches and batches have saved", (open) => {
  let app: ManagementApp;
  let members: Members;
  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
    members = await signInMembers(app);
  }, 60_000);
  afterAll(() => app.close());

  const now = () => Math.floor(app.clock.now() / 1_000);
  const all = <T>(path: string) => members.admin.data<T>(members.admin.get(path));
  const own = <T>(path: string) => members.user.data<T>(members.user.get(path));

  async function roll(rows: readonly Partial<LogRowInput>[]): Promise<void> {
    const { database, clock } = app;
    for (const table of ["logs", "cache_sums", "usage_statistics", "facet_sums", "log_sums", "report_sums"] as const)
      await database.db.deleteFrom(table).execute();
    const marks = [STATISTICS_MARK, FACET_MARK, LOG_SUMS_MARK, REPORT_SUMS_MARK, CACHE_SUMS_MARK];
    await database.db.deleteFrom("revisions").where("topic", "in", marks).execute();
    await insertLogs(database, rows);
    const signal = new AbortController().signal;
    await rollUpStatistics({ database, logs: database, clock, settleMs: 0, rowsPerPass: 7 }, signal);
  }

  /** The same figures, from the rows of the log. */
  async function sumRows(columns: readonly string[], where: string): Promise<object[]> {
    const of = MEMBER[app.database.kind];
    const isCall = `(${of("cached_content.seconds")} = 0)`;
    const sum = (what: string) => `sum(case when ${isCall} then ${what} else 0 end)`;
    const isBatch = `other like '%"batch":%'`;
    const sql = `select ${columns.map((column) => `${column}, `).join("")}
      ${sum(`case when ${isBatch} then ${of("batch.succeeded")} else 1 end`)} as requests,
      ${sum(`case when ${of("cache_tokens")} > 0 then 1 else 0 end`)} as hits,
      ${sum("prompt_tokens")} as input_tokens, ${sum(of("cache_tokens"))} as cached_tokens,
      ${sum(`(${of("cache_creation_tokens")} + ${of("cached_content.tokens")})`)} as written_tokens, ${sum(of("cache_saved"))} as saved,
      sum(case when ${isCall} then 0 else quota end) as storage
      from logs where type = ${LOG_TYPE.consume} and ${where}
      ${columns.length > 0 ? `group by ${columns.join(", ")}` : ""}`;
    const rows = await app.database.raw.rows<Record<string, number | string | null>>(sql, []);
    const isText = (name: string) => name === "model_name";
    return rows.map((found) =>
      Object.fromEntries(
        Object.entries(found).map(([name, value]) => [
          isText(name) ? "model" : name,
          isText(name) ? value : Number(value ?? 0),
        ]),
      ),
    );
  }

  const sorted = (rows: readonly object[]) =>
    rows.map((one) => JSON.stringify(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))).toSorted();
  const without = (rows: readonly CacheUsage[], ...names: readonly (keyof CacheUsage)[]) =>
    rows.map((one) => Object.fromEntries(Object.entries(one).filter(([name]) => !names.includes(name as never))));

  test("caches: the sums of the log's rows, for each grouping, period and user", async () => {
    const { userId } = members.user;
    const cases = fc.record({ rows: fc.array(row, { maxLength: 30 }), hours: fc.integer({ min: 0, max: 47 }) });
    const property = fc.asyncProperty(cases, async ({ rows, hours }) => {
      const end = now();
      const made = rows.map(({ isMine, age, ...rest }) => ({
        ...rest,
        user_id: isMine ? userId : 999,
        created_at: end - age,
      }));
      await roll(made);
      const from = end - hours * HOUR;
      const span = `start_timestamp=${from}&end_timestamp=${end}`;
      const where = `created_at >= ${from - (from % HOUR)}`;
      expect(sorted(without(await all<CacheUsage[]>(`/api/data/cache?${span}`), "name"))).toEqual(
        sorted(await sumRows(["channel_id", "token_id", "model_name"], where)),
      );
      expect(
        sorted(
          without(await own<CacheUsage[]>(`/api/data/self/cache?by=token&${span}`), "name", "channel_id", "model"),
        ),
      ).toEqual(sorted(await sumRows(["token_id"], `${where} and user_id = ${userId}`)));
      const [total] = await all<CacheUsage[]>(`/api/data/cache?by=all&username=ann&${span}`);
      const [expected] = await sumRows([], `${where} and user_id = ${userId}`);
      expect(total).toMatchObject(expected ?? {});
    });
    await fc.assert(property, { numRuns: propertyRuns(40) });
  }, 240_000);

  test("caches: users learn no channel, and nothing of others", async () => {
    await roll([{ user_id: 999, channel_id: 5, created_at: now() - 9, prompt_tokens: 7 }]);
    expect(await own("/api/data/self/cache")).toEqual([]);
    for (const by of ["channel", "token,channel", "user"])
      expect(await readCode(members.user.get(`/api/data/self/cache?by=${by}`))).toBe("G1");
    expect(await all("/api/data/cache?username=nobody")).toEqual([]);
    expect(await readCode(members.admin.get("/api/data/cache?by=token,token,user"))).toBe("G1");
  });

  test("batches: the sums of their rows, open now and settled in the period", async () => {
    const { userId } = members.user;
    const batch = (id: string, more: object) => buildBatchRow({ id, request_id: id, ...more });
    const rows = [
      batch("b1", { user_id: userId, phase: "open", deposit: 500 }),
      batch("b2", { user_id: 999, phase: "stuck", deposit: 70 }),
      batch("b3", {
        user_id: userId,
        phase: "settled",
        deposit: 9,
        settled_at: 5_000,
        charged: 40,
        saved: 39,
        succeeded: 3,
      }),
      batch("b4", {
        user_id: userId,
        phase: "settled",
        deposit: 9,
        settled_at: 9_000,
        charged: 2,
        saved: 2,
        succeeded: 1,
      }),
      batch("b5", { user_id: 999, phase: "settled", settled_at: 5_001, charged: 1_000, saved: 1_001, succeeded: 8 }),
      batch("b6", { user_id: userId, phase: "refused" }),
    ];
    await app.database.db.insertInto("batches").values(rows).execute();
    const period = "start_timestamp=4000&end_timestamp=6000";
    expect(await all<BatchTotals>(`/api/batch/totals?${period}`)).toEqual({
      open: 2,
      deposit: 570,
      settled: 2,
      succeeded: 11,
      charged: 1_040,
      saved: 1_040,
    });
    const mine = { open: 1, deposit: 500, settled: 1, succeeded: 3, charged: 40, saved: 39 };
    expect(await own<BatchTotals>(`/api/batch/self/totals?${period}`)).toEqual(mine);
    expect(await all<BatchTotals>(`/api/batch/totals?username=ann&${period}`)).toEqual(mine);
    const none = { open: 0, deposit: 0, settled: 0, succeeded: 0, charged: 0, saved: 0 };
    expect(await all<BatchTotals>("/api/batch/totals?username=nobody")).toEqual(none);
  });
});
