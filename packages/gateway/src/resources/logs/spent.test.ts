import { eachLogDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../test/kit/store-kit.ts";
import { rollUpUsage } from "../usage-data/rollup.ts";
import { EVERYTHING, type LogQuery } from "./filter.ts";
import { createLogStore, type LogStore } from "./store.ts";

const HOUR = 3_600;
/** The first second of an hour, two days before the clock of the test. */
const BEGIN = START_SECONDS - (START_SECONDS % HOUR) - 48 * HOUR;

eachLogDatabase("what was spent", (open) => {
  let kit: StoreKit;
  let store: LogStore;
  let isEnabled = true;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    store = createLogStore({ ...kit, database: kit.logs, sums: kit.database });
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    isEnabled = true;
    await kit.logs.db.deleteFrom("logs").execute();
    for (const table of ["quota_data", "revisions"] as const) await kit.database.db.deleteFrom(table).execute();
  });

  const rollUp = () =>
    rollUpUsage(
      { database: kit.database, logs: kit.logs, isEnabled: () => isEnabled, settleMs: 0 },
      new AbortController().signal,
    );

  /**
   * Inserts one row in each half hour for a user and a model, with its number as quota, and one that is not
   * consumption.
   */
  async function insertHours(from: number, to: number): Promise<void> {
    const rows = Array.from({ length: (to - from) * 2 }, (_, half) => ({
      user_id: 1 + (half % 3),
      username: ["ann", "bob", "eve"][half % 3] ?? "",
      model_name: ["gpt-4o", "gpt-4o-mini", "claude", "o3"][half % 4] ?? "",
      token_name: half % 5 === 0 ? "t" : "u",
      token_id: half % 5,
      quota: 1 + half,
      created_at: BEGIN + from * HOUR + half * (HOUR / 2) + (half % 7),
    }));
    await insertLogs(kit.logs, [...rows, { type: 1, quota: 1_000_000, created_at: BEGIN + from * HOUR + 5 }]);
  }

  async function fromRows({ start_timestamp: from, end_timestamp: to, ...query }: LogQuery): Promise<number> {
    const rows = await kit.logs.db.selectFrom("logs").selectAll().where("type", "=", 2).execute();
    return rows
      .filter((row) => row.created_at >= from && (to === 0 || row.created_at <= to))
      .filter((row) => query.username === "" || row.username === query.username)
      .filter((row) => query.ownerId === undefined || row.user_id === query.ownerId)
      .filter((row) => query.token_name === "" || row.token_name === query.token_name)
      .filter((row) => query.token_id === 0 || row.token_id === query.token_id)
      .filter((row) => query.model_name === "" || row.model_name.startsWith(query.model_name.replace("%", "")))
      .reduce((sum, { quota }) => sum + quota, 0);
  }

  async function checkAll(): Promise<void> {
    const periods = [
      [0, 0],
      [BEGIN, BEGIN + 24 * HOUR - 1],
      [BEGIN + 100, BEGIN + 5 * HOUR + 1_800],
      [BEGIN + 100, BEGIN + 200],
      [BEGIN + 30 * HOUR + 1, 0],
      [0, BEGIN + 20 * HOUR],
    ] as const;
    const filters: Partial<LogQuery>[] = [
      {},
      { username: "bob" },
      { ownerId: 3 },
      { model_name: "gpt-4%" },
      { token_name: "t" },
      { token_id: 2, ownerId: 3 },
      { model_name: "nothing%" },
    ];
    for (const [start_timestamp, end_timestamp] of periods) {
      for (const filter of filters) {
        const query = { ...EVERYTHING, ...filter, start_timestamp, end_timestamp };
        expect(await store.spent(query), JSON.stringify(query)).toBe(await fromRows(query));
      }
    }
  }

  test("is the same with sums, without them, and with sums that lack the newest rows", async () => {
    await insertHours(0, 30);
    await checkAll();
    await rollUp();
    await checkAll();
    await insertHours(10, 48);
    await checkAll();
    await rollUp();
    await checkAll();
  });

  test("comes from the sums where they can answer", async () => {
    await insertHours(0, 30);
    await rollUp();
    await kit.database.db.updateTable("quota_data").set({ quota: 7 }).execute();
    const day = { ...EVERYTHING, start_timestamp: BEGIN + HOUR, end_timestamp: BEGIN + 25 * HOUR - 1 };
    expect(await store.spent(day)).toBe(48 * 7);
    expect(await store.spent({ ...day, token_name: "t" })).toBe(await fromRows({ ...day, token_name: "t" }));
  });

  test("counts neither hours that were not summed up nor deleted rows", async () => {
    await insertHours(0, 12);
    isEnabled = false;
    await rollUp();
    isEnabled = true;
    await insertHours(6, 40);
    await rollUp();
    await checkAll();
    await kit.logs.db
      .deleteFrom("logs")
      .where("created_at", "<", BEGIN + 20 * HOUR + 600)
      .execute();
    await checkAll();
  });
});
