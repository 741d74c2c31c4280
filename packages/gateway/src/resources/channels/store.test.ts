import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../test/kit/store-kit.ts";
import { Refusal } from "../../lib/refusal.ts";
import { readRevisions } from "../../storage/revisions.ts";
import { newFields, type ChannelFields } from "./input.ts";
import { NO_FILTER, buildOrder } from "./query.ts";
import { endDisables } from "./status-info.ts";
import { createChannelStore, type ChannelStore } from "./store.ts";

const isType = () => true;
const BY_PRIORITY = buildOrder({ sort: "", order: "", id_sort: false });

eachDatabase("channel store", (open) => {
  let kit: StoreKit;
  let store: ChannelStore;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    store = createChannelStore(kit);
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    await kit.database.db.deleteFrom("channels").execute();
    await kit.database.db.deleteFrom("abilities").execute();
  });

  const fields = (more: Partial<ChannelFields> = {}): ChannelFields => ({
    ...newFields({ name: "one", models: "a,b" }, isType),
    ...more,
  });
  const create = async (more: Partial<ChannelFields> = {}, key = "sk-1") =>
    (await store.create(fields(more), [key]))[0] ?? 0;
  const abilities = async () => {
    const rows = await kit.database.db
      .selectFrom("abilities")
      .selectAll()
      .orderBy("channel_id")
      .orderBy("group")
      .orderBy("model")
      .execute();
    return rows.map(
      (row) =>
        `${row.channel_id}:${row.group}:${row.model}:${row.enabled}:${row.priority}:${row.weight}:${row.tag ?? "-"}`,
    );
  };
  const page = (filter: Partial<typeof NO_FILTER> = {}, limit = 100, offset = 0) =>
    store.page({ filter: { ...NO_FILTER, ...filter }, order: BY_PRIORITY, offset, limit });
  const names = async (filter: Partial<typeof NO_FILTER> = {}) => (await page(filter)).rows.map((row) => row.name);

  test("creates one channel per key with its routing rows, sealed, and raises the revision", async () => {
    const before = (await readRevisions(kit.database)).channels;
    const [first, second] = await store.create(fields({ group: "default,vip", priority: 5, weight: 2, tag: "t" }), [
      "sk-1",
      "sk-2",
    ]);
    expect(await abilities()).toEqual([
      ...["default:a", "default:b", "vip:a", "vip:b"].map((pair) => `${first}:${pair}:1:5:2:t`),
      ...["default:a", "default:b", "vip:a", "vip:b"].map((pair) => `${second}:${pair}:1:5:2:t`),
    ]);
    expect(await store.findKey(second ?? 0)).toBe("sk-2");
    const rows = await kit.database.db.selectFrom("channels").select("key_sealed").execute();
    expect(rows.every((row) => !row.key_sealed.includes("sk-"))).toBe(true);
    expect((await readRevisions(kit.database)).channels).toBe(before + 1);
    expect(kit.announced.at(-1)).toBe("channels");
  });

  test("changes at once leave the routing rows that their channels ask for, and lose none of each other", async () => {
    const ids: number[] = [];
    for (const name of ["a", "b", "c", "d"]) ids.push(await create({ name, tag: "t" }));
    const [first = 0, second = 0, , last = 0] = ids;
    const startWrites = (n: number) => [
      store.rebuildAll(),
      store.update(first, { models: `x${n}` }),
      store.updateTag("t", { priority: n }),
      store.updateEach([first, second], () => ({ weight: n })),
    ];
    const outcomes = await Promise.allSettled([...[1, 2, 3, 4].flatMap(startWrites), store.remove([last])]);
    expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
    const { rows } = await page();
    const wanted = rows.flatMap(({ id, models, priority, weight }) =>
      models.split(",").map((model) => `${id}:default:${model}:1:${priority}:${weight}:t`),
    );
    expect(await abilities()).toEqual(wanted.sort());
    // Four edits of its own, four of its tag and four of its number.
    expect((await store.get(first))?.version).toBe(13);
  });

  test("stores models that differ in case only, and 255 characters of them", async () => {
    const long = "模".repeat(255);
    await create({ models: `GPT-4,gpt-4,${long}` });
    expect(await store.enabledModels()).toEqual(["GPT-4", "gpt-4", long]);
  });

  // @weakness Injection and parsing: Some of many channels are made before one fails
  test("creates all channels of a call or none", async () => {
    await expect(store.create(fields(), ["sk-1", undefined as never])).rejects.toThrow();
    expect((await page()).total).toBe(0);
    expect(await abilities()).toEqual([]);
  });

  test("lists by priority, then newest first; the total counts all pages", async () => {
    await create({ name: "low", priority: -1 });
    await create({ name: "old", priority: 3 });
    await create({ name: "new", priority: 3 });
    expect(await names()).toEqual(["new", "old", "low"]);
    const second = await page({}, 2, 2);
    expect([second.rows.map((row) => row.name), second.total]).toEqual([["low"], 3]);
  });

  test("finds by id, part of the name, whole key, part of the models, and group", async () => {
    const id = await create({ name: "Alpha 100%_x", models: "gpt-4o,o1", group: "vip" }, "sk-alpha");
    await create({ name: "Beta 100 yx", models: "claude", group: "vip2,default" }, "sk-beta");
    expect(await names({ keyword: String(id) })).toEqual(["Alpha 100%_x"]);
    expect(await names({ keyword: "alpha" })).toEqual(["Alpha 100%_x"]);
    expect(await names({ keyword: "100%_" })).toEqual(["Alpha 100%_x"]);
    expect(await names({ keyword: "sk-beta" })).toEqual(["Beta 100 yx"]);
    expect(await names({ keyword: "sk-bet" })).toEqual([]);
    expect(await names({ model: "4O" })).toEqual(["Alpha 100%_x"]);
    expect(await names({ group: "vip" })).toEqual(["Alpha 100%_x"]);
    expect(await names({ group: "null", keyword: "a" })).toHaveLength(2);
    expect(await names({ keyword: "' or 1=1 --" })).toEqual([]);
  });

  test("filters by status, type and tag together", async () => {
    await create({ name: "a", status: 2, type: 1, tag: "x" });
    await create({ name: "b", status: 1, type: 14, tag: "x" });
    await create({ name: "c", status: 3, type: 14, tag: null });
    expect(await names({ status: [2, 3] })).toEqual(["c", "a"]);
    expect(await names({ type: [14], tag: "x" })).toEqual(["b"]);
  });

  test("pages over tags and answers every channel of theirs", async () => {
    for (const tag of ["b", "a", "c", "a", null, ""]) await create({ name: tag ?? "none", tag });
    const tags = async (offset: number) => {
      const answer = await store.listTagPage({ filter: NO_FILTER, order: BY_PRIORITY, offset, limit: 2 });
      return [answer.rows.map((row) => row.tag), answer.total];
    };
    expect(await tags(0)).toEqual([["a", "a", "b"], 3]);
    expect(await tags(2)).toEqual([["c"], 3]);
    expect(await tags(4)).toEqual([[], 3]);
  });

  test("a change moves the routing rows, the version and, by hand, the state's reason", async () => {
    const id = await create();
    const outcome = await store.update(id, { models: "b,c", status: 2 }, { key: "sk-new" });
    expect(outcome).toMatchObject({
      row: { version: 2, status: 2, other_info: JSON.stringify({ status_reason: "", status_time: START_SECONDS }) },
    });
    expect(await abilities()).toEqual([`${id}:default:b:0:0:0:-`, `${id}:default:c:0:0:0:-`]);
    expect(await store.findKey(id)).toBe("sk-new");
    expect(await store.update(id, { name: "two" }, { versions: ["1"] })).toMatchObject({ refused: "stale" });
    expect(await store.update(id, { name: "two" }, { versions: ["2"] })).toMatchObject({
      row: { name: "two", version: 3 },
    });
    expect(await store.update(id + 1, {})).toMatchObject({ refused: "missing" });
  });

  // @weakness Sessions and permissions: Deleted channels leave routes
  test("deletes channels with their routing rows", async () => {
    const left = await create();
    const gone = await create();
    const disabled = await create({ status: 3 });
    expect(await store.remove([gone, 999])).toBe(1);
    expect(await store.removeDisabled()).toBe(1);
    expect((await page()).rows.map((row) => row.id)).toEqual([left]);
    expect((await abilities()).every((row) => row.startsWith(`${left}:`))).toBe(true);
    expect(disabled).toBeGreaterThan(gone);
  });

  test("changes all channels of a tag, and reports refusals one by one", async () => {
    const startWrites = await create({ tag: "t" });
    const two = await create({ tag: "t" });
    expect(await store.updateTag("t", { status: 2, tag: "u" })).toBe(2);
    expect((await abilities()).map((row) => row.endsWith(":0:0:0:u"))).toEqual([true, true, true, true]);
    const refusal = new Refusal("status_not_settable");
    const outcomes = await store.updateEach([startWrites, two, 999], (row) => {
      if (row.id === startWrites) throw refusal;
      return { priority: 9 };
    });
    expect([...outcomes]).toEqual([
      [startWrites, refusal],
      [two, undefined],
    ]);
    expect((await store.get(startWrites))?.priority).toBe(0);
    expect((await store.get(two))?.priority).toBe(9);
  });

  test("rebuilds routing rows that were lost or left behind", async () => {
    const id = await create();
    await kit.database.db.deleteFrom("abilities").execute();
    const orphan = { group: "g", model: "m", channel_id: 4711, enabled: 1, priority: 0, weight: 0, tag: null };
    await kit.database.db.insertInto("abilities").values(orphan).execute();
    expect(await store.rebuildAll()).toBe(1);
    expect(await abilities()).toEqual([`${id}:default:a:1:0:0:-`, `${id}:default:b:1:0:0:-`]);
  });

  test("the system switches a channel only from the state it expects", async () => {
    const id = await create();
    expect(await store.switchBySystem(id, 1, 3, "bad key")).toBe(true);
    expect(await store.switchBySystem(id, 1, 3, "again")).toBe(false);
    const row = await store.get(id);
    expect([row?.status, row?.other_info]).toEqual([
      3,
      JSON.stringify({ status_reason: "bad key", status_time: START_SECONDS }),
    ]);
    expect((await abilities())[0]).toBe(`${id}:default:a:0:0:0:-`);
    expect(await store.switchBySystem(id, 3, 1, "")).toBe(true);
    expect((await abilities())[0]).toBe(`${id}:default:a:1:0:0:-`);
  });

  test("enables a channel when the time of its disable has passed, and only then", async () => {
    const [timed, plain, extended] = [await create(), await create(), await create()];
    const disable = (id: number, seconds: number) =>
      store.update(id, { status: 2 }, { cause: { reason: "maintenance", span: seconds } });
    await disable(timed, 0);
    await disable(extended, 0);
    await disable(extended, 60);
    await store.update(plain, { status: 2 });
    expect(await endDisables({ ...kit, store })).toEqual([timed]);
    const statuses = async () => Promise.all([timed, plain, extended].map(async (id) => (await store.get(id))?.status));
    expect(await statuses()).toEqual([1, 2, 2]);
    expect((await abilities())[0]).toBe(`${timed}:default:a:1:0:0:-`);
    expect(JSON.parse((await store.get(extended))?.other_info ?? "")).toEqual({
      status_reason: "maintenance",
      status_time: START_SECONDS,
      status_until: START_SECONDS + 60,
    });
    const { db } = kit.database;
    const audited = db.selectFrom("audit_log").selectAll().where("target", "=", `channel ${timed}`);
    const [row, ...others] = await audited.execute();
    expect(others).toEqual([]);
    expect(row).toMatchObject({ user_id: 0, username: "system", action: "channelSetStatus" });
    expect(JSON.parse(row?.old_value ?? "")).toMatchObject({ status: 2 });
    const reason = expect.stringContaining("The time of its disable has passed.") as string;
    expect(JSON.parse(row?.new_value ?? "")).toEqual({ name: "one", status: 1, other_info: reason });
    const before = await readRevisions(kit.database);
    expect(await endDisables({ ...kit, store })).toEqual([]);
    expect(await readRevisions(kit.database)).toEqual(before);
  });

  test("a balance that several replicas see fall makes one event", async () => {
    await kit.database.db.deleteFrom("events").execute();
    const id = await create();
    await store.recordBalance(id, 12, 5);
    await Promise.all(Array.from({ length: 8 }, () => store.recordBalance(id, 4.5, 5)));
    const events = await kit.database.db.selectFrom("events").select(["type", "severity", "data"]).execute();
    expect(events).toMatchObject([{ type: "channel.balance_low", severity: "warning" }]);
    expect(JSON.parse(events[0]?.data ?? "")).toEqual({ id, name: "one", balance_usd: 4.5, threshold_usd: 5 });
    expect(await store.get(id)).toMatchObject({ balance: 4.5 });
  });

  test("records findings without a revision", async () => {
    const id = await create();
    const before = await readRevisions(kit.database);
    await store.recordTest(id, 1234.6, "no such model");
    await store.recordBalance(id, 12.345);
    expect(await store.get(id)).toMatchObject({
      response_time: 1235,
      test_error: "no such model",
      test_time: START_SECONDS,
      balance: 12.345,
      balance_updated_time: START_SECONDS,
    });
    expect(await readRevisions(kit.database)).toEqual(before);
  });
});
