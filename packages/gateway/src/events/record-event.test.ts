import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openStoreKit, type StoreKit } from "../../test/kit/store-kit.ts";
import { transact } from "../storage/transaction.ts";
import { EVENT_TYPE_NAMES } from "./catalogue.ts";
import { buildSlotKey, recordEvent, recordRawEvent, type NewEvent } from "./record-event.ts";

const AT = 1_700_000_000_123;

eachDatabase("events", (open) => {
  let kit: StoreKit;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    await kit.database.db.deleteFrom("events").execute();
  });

  const build = (more: Partial<NewEvent> = {}): NewEvent => ({
    type: "balance.low",
    atMs: AT,
    accountId: 5,
    userId: 5,
    dedupKey: "balance.low:5:req-1",
    data: { balance: 10, name: "Zoë 林 🚀" },
    ...more,
  });

  const ways: readonly [string, (event: NewEvent) => Promise<void>][] = [
    ["the query builder", (event) => transact(kit.database.db, (trx) => recordEvent(trx, event))],
    [
      "prepared statements",
      (event) => kit.database.raw.transaction((tx) => recordRawEvent(tx, kit.database.kind, event)),
    ],
  ];

  test.each(ways)("%s: one row for a key, with the severity of the type", async (_, record) => {
    await record(build());
    await record(build({ data: { balance: 0 } }));
    const rows = await kit.database.db.selectFrom("events").selectAll().execute();
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      type: "balance.low",
      at_ms: AT,
      account_id: 5,
      team_id: 0,
      user_id: 5,
      severity: "warning",
    });
    expect(JSON.parse(rows[0]?.data ?? "")).toEqual({ balance: 10, name: "Zoë 林 🚀" });
  });

  test.each(ways)("%s: twenty at once with one key make one row and no error", async (_, record) => {
    await Promise.all(Array.from({ length: 20 }, () => record(build())));
    expect(await kit.database.db.selectFrom("events").select("id").execute()).toHaveLength(1);
  });

  test("a cause that fails takes its event with it", async () => {
    const cause = transact(kit.database.db, async (trx) => {
      await recordEvent(trx, build());
      throw new Error("the cause failed");
    });
    await expect(cause).rejects.toThrow("the cause failed");
    expect(await kit.database.db.selectFrom("events").select("id").execute()).toEqual([]);
  });

  test.each(EVENT_TYPE_NAMES)("%s can be stored", async (type) => {
    await recordEvent(kit.database.db, build({ type, dedupKey: type }));
    expect(await kit.database.db.selectFrom("events").select("type").execute()).toEqual([{ type }]);
  });

  test("an event for the operator reaches no other person, whatever ids it has", async () => {
    await recordEvent(kit.database.db, build({ type: "channel.disabled", teamId: 4 }));
    const row = await kit.database.db.selectFrom("events").selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({ account_id: 5, team_id: 0, user_id: 0, severity: "critical" });
  });

  test.each([
    ["no key", { dedupKey: "" }],
    ["a long key", { dedupKey: "x".repeat(192) }],
    ["a key with other letters", { dedupKey: "名" }],
    ["too much data", { data: { text: "林".repeat(6000) } }],
  ])("%s is refused before the database sees it", async (_, more) => {
    await expect(recordEvent(kit.database.db, build(more))).rejects.toThrow(TypeError);
  });
});

test("replicas that see the same in one slot share a key", () => {
  const slot = { atMs: AT, ms: 60_000 };
  expect(buildSlotKey("channel.disabled", 12, slot)).toBe("channel.disabled:12:28333333");
  expect(buildSlotKey("channel.disabled", 12, { ...slot, atMs: AT + 60_000 })).toBe("channel.disabled:12:28333334");
});
