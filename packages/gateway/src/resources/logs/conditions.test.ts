import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import { createMatcher, EVERYTHING, type LogQuery } from "./filter.ts";
import { createLogStore } from "./store.ts";

const FILTERS: readonly Partial<LogQuery>[] = [
  {},
  { type: 2 },
  { username: "ann" },
  { ownerId: 2 },
  { user_id: 1 },
  { token_name: "t,1" },
  { token_id: 4 },
  { tokens: ["t,1", "t2"] },
  { model_name: "gpt-4o" },
  { model_name: "%4o%" },
  { model_name: "gpt_4o%" },
  { model_name: "%.%" },
  { models: ["o3", "gpt-4o"] },
  { models: ["o3", "gpt-4o"], model_name: "g%" },
  { models: ["o3", "gpt-4o"], model_name: "gpt-4o" },
  { models: ["o3", "gpt%4o"] },
  { models: ["o3", ""] },
  { tags: "app=shop" },
  { tags: "app|env=prod" },
  { tags: "ap" },
  { end_user: "u_1" },
  { actor: "u1" },
  { otherThan: [1, 2] },
  { isNothing: true },
  { isNothing: true, model_name: "%" },
  { channel: 7 },
  { group: "vip" },
  { request_id: "r4" },
  { min_use_time: 3 },
  { is_stream: true },
  { is_stream: false },
  { has_retry: true },
  { has_retry: false },
  { code: "rate_limit_exceeded" },
  { code: "rate_limit" },
  { status: 429 },
  { status: 429, type: 2 },
  { start_timestamp: 1_010, end_timestamp: 1_020 },
  { type: 2, group: "vip", has_retry: true, model_name: "%o%" },
];

const FAILED = '{"status_code":429,"error_code":"rate_limit_exceeded","error_type":"client"}';

eachDatabase("filters of the log", (open) => {
  let kit: StoreKit;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());

  test("find the same rows in memory as in the database, and count them", async () => {
    const store = createLogStore({ ...kit, sums: kit.database });
    const pick = <T>(values: readonly T[], at: number): T => values[at % values.length] as T;
    const rows = Array.from({ length: 60 }, (_, at) => ({
      type: pick([2, 2, 1, 5], at),
      user_id: pick([1, 2, 3], at),
      username: pick(["ann", "Ann", "bob"], at),
      token_name: pick(["t,1", "t2", ""], at >> 1),
      token_id: pick([3, 4, 0], at >> 1),
      model_name: pick(["gpt-4o", "gpt-4o-mini", "o3", "claude.4\n", "gpt_4o"], at),
      channel_id: pick([7, 8], at >> 2),
      group: pick(["vip", "default"], at >> 1),
      request_id: `r${at}`,
      use_time: at % 6,
      is_stream: at % 2,
      created_at: 1_000 + at,
      other: pick(['{"use_channel":["7"]}', '{"use_channel":["7","8"]}', FAILED, "", "{broken"], at >> 1),
      actor: pick(["", "u1", "u17"], at),
      tags: pick(["", "app=shop", "app=shop|env=prod", "env=prod|map=shop", "app=shop2"], at),
      end_user: pick(["", "u_1", "ux1"], at),
    }));
    await insertLogs(kit.database, rows);
    const all = await store.page(EVERYTHING, { offset: 0, limit: 100 });
    for (const filter of FILTERS) {
      const query = { ...EVERYTHING, ...filter };
      const found = (await store.page(query, { offset: 0, limit: 100 })).map(({ id }) => id);
      const matched = all.filter(createMatcher(query)).map(({ id }) => id);
      expect(matched, JSON.stringify(filter)).toEqual(found);
      expect(await store.total(query), JSON.stringify(filter)).toBe(matched.length);
    }
  });
});
