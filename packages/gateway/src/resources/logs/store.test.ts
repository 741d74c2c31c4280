import { TEST_TOKEN_NAME } from "@fairway/wire";
import { eachLogDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../test/kit/store-kit.ts";
import { buildFacets } from "./facets.ts";
import { EVERYTHING, type LogQuery } from "./filter.ts";
import { createLogStore, type LogStore } from "./store.ts";

eachLogDatabase("log store", (open) => {
  let kit: StoreKit;
  let store: LogStore;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    store = createLogStore({ ...kit, database: kit.logs, sums: kit.database });
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    await kit.logs.db.deleteFrom("logs").execute();
  });

  const insert = (...rows: Parameters<typeof insertLogs>[1]) => insertLogs(kit.logs, rows);
  const contents = async (query: Partial<LogQuery> = {}, page = { offset: 0, limit: 100 }) =>
    (await store.page({ ...EVERYTHING, ...query }, page)).map((row) => row.content);

  test("filters by every column, and counts what it finds", async () => {
    const chain = (...ids: string[]) => JSON.stringify({ admin_info: { use_channel: ids }, list: ["1", "2"] });
    await insert(
      {
        content: "a",
        type: 2,
        username: "ann",
        user_id: 5,
        token_name: "t1",
        token_id: 3,
        model_name: "gpt-4o",
        channel_id: 7,
        group: "vip",
        request_id: "r1",
        other: chain("7"),
        created_at: START_SECONDS,
      },
      {
        content: "b",
        type: 1,
        username: "ann",
        user_id: 5,
        token_name: "t,2",
        token_id: 3,
        model_name: "gpt-4o-mini",
        use_time: 31,
        created_at: START_SECONDS + 1,
      },
      {
        content: "c",
        type: 2,
        username: "bob",
        user_id: 6,
        token_name: "t1",
        token_id: 4,
        model_name: "claude_3",
        is_stream: 1,
        other: chain("123456", "7"),
        created_at: START_SECONDS + 2,
      },
    );
    const found = async (query: Partial<LogQuery>) => {
      const rows = await contents(query);
      expect(await store.total({ ...EVERYTHING, ...query })).toBe(rows.length);
      return rows.join("");
    };
    expect(await found({})).toBe("cba");
    expect(await found({ type: 1 })).toBe("b");
    expect(await found({ username: "ann" })).toBe("ba");
    expect(await found({ username: "an%" })).toBe("");
    expect(await found({ user_id: 6 })).toBe("c");
    expect(await found({ ownerId: 5, user_id: 6 })).toBe("");
    expect(await found({ token_name: "t1" })).toBe("ca");
    expect(await found({ token_id: 3 })).toBe("ba");
    expect(await found({ token_id: 3, token_name: "t1" })).toBe("a");
    expect(await found({ token_id: 3, ownerId: 6 })).toBe("");
    expect(await found({ tokens: ["t1", "t,2"] })).toBe("cba");
    expect(await found({ model_name: "gpt-4o" })).toBe("a");
    expect(await found({ model_name: "gpt-4o%" })).toBe("ba");
    expect(await found({ model_name: "%_3" })).toBe("c");
    expect(await found({ model_name: "gpt_4o%" })).toBe("");
    expect(await found({ models: ["claude_3", "gpt-4o"] })).toBe("ca");
    expect(await found({ channel: 7 })).toBe("a");
    expect(await found({ group: "vip" })).toBe("a");
    expect(await found({ request_id: "r1" })).toBe("a");
    expect(await found({ min_use_time: 31 })).toBe("b");
    expect(await found({ is_stream: true })).toBe("c");
    expect(await found({ is_stream: false })).toBe("ba");
    expect(await found({ has_retry: true })).toBe("c");
    expect(await found({ has_retry: false })).toBe("ba");
    expect(await found({ start_timestamp: START_SECONDS + 1 })).toBe("cb");
    expect(await found({ start_timestamp: START_SECONDS + 1, end_timestamp: START_SECONDS + 1 })).toBe("b");
  });

  test("filters failed calls by code and status", async () => {
    const failed = (content: string, status: number, code: string) => ({
      content,
      type: 5,
      created_at: START_SECONDS,
      other: JSON.stringify({ status_code: status, error_code: code, error_type: "client", trace: { c: [code] } }),
    });
    await insert(
      failed("a", 429, "rate_limit_exceeded"),
      failed("b", 429, "upstream_rate_limited"),
      failed("c", 404, "model_not_found"),
      { ...failed("d", 429, "rate_limit_exceeded"), type: 2 },
    );
    const found = async (query: Partial<LogQuery>) => {
      const rows = await contents(query);
      expect(await store.total({ ...EVERYTHING, ...query })).toBe(rows.length);
      return rows.join("");
    };
    expect(await found({ code: "rate_limit_exceeded" })).toBe("a");
    expect(await found({ code: "rate%" })).toBe("");
    expect(await found({ code: "limit_exceeded" })).toBe("");
    expect(await found({ status: 429 })).toBe("ba");
    expect(await found({ status: 42 })).toBe("");
    expect(await found({ status: 429, code: "upstream_rate_limited", type: 5 })).toBe("b");
    expect(await found({ status: 404, type: 2 })).toBe("");
    const facets = buildFacets(await store.facets(EVERYTHING), "owner");
    expect(facets.statuses).toEqual([
      { value: "429", count: 2 },
      { value: "404", count: 1 },
    ]);
    expect(facets.codes.map(({ value }) => value)).toEqual([
      "model_not_found",
      "rate_limit_exceeded",
      "upstream_rate_limited",
    ]);
    expect(await store.spent({ ...EVERYTHING, code: "rate_limit_exceeded" })).toBe(0);
  });

  test("pages by number, deep or not, and by cursor", async () => {
    await insert(
      ...Array.from({ length: 1_205 }, (_, index) => ({
        content: String(index),
        created_at: START_SECONDS + Math.floor(index / 3),
      })),
    );
    expect(await contents({}, { offset: 0, limit: 2 })).toEqual(["1204", "1203"]);
    expect(await contents({}, { offset: 1_202, limit: 10 })).toEqual(["2", "1", "0"]);
    expect(await contents({}, { offset: 5_000, limit: 10 })).toEqual([]);
    const [row] = await store.page(EVERYTHING, { offset: 700, limit: 1 });
    const before = await store.cursorAt(row?.id ?? 0);
    const below = await store.page(EVERYTHING, { offset: 0, limit: 2, before });
    expect(below.map((one) => Number(one.content))).toEqual([Number(row?.content) - 1, Number(row?.content) - 2]);
    await kit.logs.db
      .deleteFrom("logs")
      .where("id", "=", row?.id ?? 0)
      .execute();
    const gone = await store.cursorAt(row?.id ?? 0);
    const [next] = await store.page(EVERYTHING, { offset: 0, limit: 1, before: gone });
    expect(Number(next?.content)).toBeLessThan(Number(row?.content));
  });

  test("sums consumption in the period, and calls and tokens of the last minute", async () => {
    const now = START_SECONDS;
    await insert(
      { quota: 10, prompt_tokens: 1, completion_tokens: 2, created_at: now - 10, username: "ann" },
      { quota: 20, prompt_tokens: 4, completion_tokens: 8, created_at: now - 70 },
      { quota: 500, type: 1, created_at: now - 5 },
      { type: 5, created_at: now - 5, username: "ann" },
      { created_at: now - 5, token_name: TEST_TOKEN_NAME },
    );
    expect(await store.spent(EVERYTHING)).toBe(30);
    expect(await store.spent({ ...EVERYTHING, type: 1, start_timestamp: now - 60 })).toBe(10);
    expect(await store.rates({ ...EVERYTHING, start_timestamp: now + 50 })).toEqual({ rpm: 2, tpm: 3 });
    expect(await store.rates({ ...EVERYTHING, username: "nobody" })).toEqual({ rpm: 0, tpm: 0 });
    expect(await store.spent({ ...EVERYTHING, username: "nobody" })).toBe(0);
  });

  test("draws a histogram and marks failures", async () => {
    expect(await store.histogram(EVERYTHING)).toEqual({
      interval: 1,
      from: START_SECONDS,
      to: START_SECONDS,
      buckets: [],
    });
    await insert(
      { created_at: 7_200 },
      { created_at: 7_259 },
      { created_at: 7_260, type: 5 },
      { created_at: 14_400, type: 1 },
    );
    expect(await store.histogram(EVERYTHING)).toEqual({
      interval: 300,
      from: 7_200,
      to: 14_400,
      buckets: [
        { start: 7_200, count: 3, errors: 1, others: 0 },
        { start: 14_400, count: 1, errors: 0, others: 1 },
      ],
    });
    expect(await store.histogram({ ...EVERYTHING, start_timestamp: 7_200, end_timestamp: 7_299 })).toMatchObject({
      interval: 1,
    });
  });

  test("divides the whole period of the filter, up to now, however few rows are in it", async () => {
    await insert({ created_at: START_SECONDS - 3_000 });
    const period = { start_timestamp: START_SECONDS - 3_600, end_timestamp: START_SECONDS + 3_600 };
    const found = await store.histogram({ ...EVERYTHING, ...period });
    expect(found).toMatchObject({ interval: 60, from: START_SECONDS - 3_600, to: START_SECONDS });
    expect(await store.histogram({ ...EVERYTHING, ...period, model_name: "absent" })).toMatchObject({
      from: START_SECONDS - 3_600,
      to: START_SECONDS,
      buckets: [],
    });
  });

  test("counts the values of what it finds", async () => {
    await insert(
      { model_name: "a", token_name: "x", channel_id: 7 },
      { model_name: "a", group: "vip" },
      { model_name: "b", type: 1 },
    );
    const facets = buildFacets(await store.facets(EVERYTHING), new Map([[7, "Azure"]]));
    expect(facets).toEqual({
      complete: true,
      models: [
        { value: "a", count: 2 },
        { value: "b", count: 1 },
      ],
      tokens: [{ value: "x", count: 1 }],
      groups: [
        { value: "default", count: 2 },
        { value: "vip", count: 1 },
      ],
      types: [
        { value: "2", count: 2 },
        { value: "1", count: 1 },
      ],
      channels: [{ value: "7", count: 1, name: "Azure" }],
      users: [{ value: "root", count: 3 }],
      codes: [],
      statuses: [],
    });
    expect(buildFacets(await store.facets(EVERYTHING), "owner")).toMatchObject({ channels: [], users: [] });
  });

  test("a pattern stands for the models of this moment, in one order over all of them", async () => {
    const models = ["gpt-4o", "gpt-4o-mini", "claude", "o3"];
    const row = (index: number, model_name: string) => ({
      content: String(index),
      model_name,
      created_at: 1_000 + index,
    });
    await insert(...Array.from({ length: 40 }, (_, index) => row(index, models[index % 4] ?? "")));
    const query = { model_name: "%4o%" };
    expect(await contents(query, { offset: 0, limit: 5 })).toEqual(["37", "36", "33", "32", "29"]);
    expect(await contents(query, { offset: 18, limit: 5 })).toEqual(["1", "0"]);
    expect(await contents({ model_name: "%", models: ["o3", "claude", "absent"] }, { offset: 1, limit: 2 })).toEqual([
      "38",
      "35",
    ]);
    expect(await store.total({ ...EVERYTHING, ...query })).toBe(20);
    const [, , third] = await store.page({ ...EVERYTHING, ...query }, { offset: 0, limit: 3 });
    const before = await store.cursorAt(third?.id ?? 0);
    const next = await store.page({ ...EVERYTHING, ...query }, { offset: 0, limit: 2, before });
    expect(next.map((row) => row.content)).toEqual(["32", "29"]);
    await insert(row(50, "new-4o"), row(51, "other"));
    expect(await contents(query, { offset: 0, limit: 2 })).toEqual(["50", "37"]);
    expect(await contents({ model_name: "absent%" })).toEqual([]);
    expect(await store.total({ ...EVERYTHING, model_name: "absent%" })).toBe(0);
  });

  test("searches by type and by the start of the content", async () => {
    await insert(
      { content: "3 blind mice", type: 2 },
      { content: "x", type: 3, user_id: 5 },
      { content: "100% sure", type: 4 },
    );
    const found = async (keyword: string, owner?: number) =>
      (await store.search(keyword, owner)).map((row) => row.content);
    expect(await found("3")).toEqual(["x", "3 blind mice"]);
    expect(await found("100%")).toEqual(["100% sure"]);
    expect(await found("100_")).toEqual([]);
    expect(await found("3", 5)).toEqual(["x"]);
    expect(await found("x", 5)).toEqual([]);
  });

  test("deletes old rows in steps and never hands out an id again", async () => {
    await insert(...Array.from({ length: 4_500 }, (_, index) => ({ created_at: 1_000 + (index % 10) })));
    const newest = await store.newestId();
    let reported = 0;
    const removed = await store.removeBefore(2_000, async (count) => {
      reported = count;
      await insert({ content: "cleared", created_at: START_SECONDS });
    });
    expect([removed, reported, await contents()]).toEqual([4_500, 4_500, ["cleared"]]);
    expect(await store.newestId()).toBe(newest + 1);
    expect(await store.removeBefore(2_000, async () => {})).toBe(0);
  });

  test("hands out rows that came later, and those of a token", async () => {
    await insert({ content: "a", token_id: 3, user_id: 5 }, { content: "b", token_id: 4, user_id: 5 });
    const last = await store.newestId();
    await insert({ content: "c", token_id: 3, user_id: 5 });
    expect((await store.after(EVERYTHING, last, 10)).map((row) => row.content)).toEqual(["c"]);
    expect((await store.ofToken(5, 3)).map((row) => row.content)).toEqual(["c", "a"]);
  });
});
