import { eachDatabase } from "@fairway/testkit/databases";
import type { Insertable } from "kysely";
import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { Secret } from "../lib/secret.ts";
import { createLog } from "../observability/log.ts";
import { openDatabase, type Database } from "../storage/database.ts";
import { migrate } from "../storage/schema/migrate.ts";
import { bump, type Topic } from "../storage/revisions.ts";
import type { Schema } from "../storage/tables/schema.ts";
import { createVault } from "../storage/secrets/secrets.ts";
import { createSnapshotStore, type SnapshotStoreDeps } from "./refresh.ts";
import { channelKey, optionValue } from "../storage/secrets/sealed-locations.ts";

const vault = createVault({ keys: [{ id: "k", key: new Secret(randomBytes(32).toString("base64")) }] });
const FAST_MS = 5;

eachDatabase("the snapshot", (open) => {
  let database: Database;
  let lines: string;
  let stop: (() => Promise<void> | void)[];

  beforeEach(async () => {
    lines = "";
    stop = [];
    database = openDatabase({ url: await open(), log: logger() });
    await migrate(database, { log: logger(), mode: "auto" });
  });
  afterEach(async () => {
    for (const end of stop) await end();
    await database.close();
  });

  const logger = () => {
    const out = new PassThrough();
    out.on("data", (chunk: Buffer) => (lines += chunk.toString()));
    return createLog({ level: "warn", format: "json", out });
  };

  const store = async (settings: Partial<SnapshotStoreDeps> = {}) => {
    const live = createSnapshotStore({
      database,
      vault,
      clock: systemClock,
      log: logger(),
      pollMs: FAST_MS,
      ...settings,
    });
    stop.push(() => live.stop());
    await live.start();
    return live;
  };

  let lastId = 0;
  const addChannel = async (change: Partial<Channel> = {}) => {
    await database.db.insertInto("channels").values(channelRow(++lastId, change)).execute();
  };
  const bumped = (topic: Topic) => database.raw.transaction((tx) => bump(tx, database.kind, topic));

  test("names the revision of channels and options that is in use", async () => {
    const live = createSnapshotStore({ database, vault, clock: systemClock, log: logger(), pollMs: FAST_MS });
    expect(live.revision()).toBe(0);
    stop.push(() => live.stop());
    await live.start();
    const before = live.revision();
    await bumped("tokens");
    await bumped("channels");
    await bumped("options");
    await expect.poll(() => live.revision()).toBe(before + 2);
  });

  test("orders enabled channels by group, model and priority", async () => {
    await addChannel({ name: "low", priority: 0, models: "a,b", group: "default,vip" });
    await addChannel({ name: "high", priority: 5, models: "a", weight: 7 });
    await addChannel({ name: "high too", priority: 5, models: "a" });
    await addChannel({ name: "off", status: 2, models: "c" });
    const { index, listed, channels } = (await store()).current();
    const levels = index.get("default")?.get("a");
    expect(levels?.map((level) => [level.priority, level.channels.map((channel) => channel.name)])).toEqual([
      [5, ["high", "high too"]],
      [0, ["low"]],
    ]);
    expect([...(index.get("vip")?.keys() ?? [])]).toEqual(["a", "b"]);
    expect(index.get("default")?.has("c")).toBe(false);
    expect(listed.get("default")?.has("c")).toBe(true);
    expect([...channels.values()].map((channel) => channel.name)).toEqual(["low", "high", "high too", "off"]);
    expect(channels.get(1)?.keys).toEqual(["sk-test"]);
  });

  test("skips unreadable channels with a warning, and still knows their models", async () => {
    await addChannel({ name: "good" });
    await addChannel({ name: "broken", model_mapping: "{", models: "only-here" });
    await addChannel({ name: "sealed elsewhere", key_sealed: "v1:other:AAAA" });
    await database.db
      .insertInto("options")
      .values([
        { key: "RetryTimes", value: "many" },
        { key: "NoSuchOption", value: "x" },
      ])
      .execute();
    const snapshot = (await store()).current();
    expect([...snapshot.channels.values()].map((channel) => channel.name)).toEqual(["good"]);
    expect(snapshot.listed.get("default")?.has("only-here")).toBe(true);
    expect(snapshot.options.RetryTimes).toBe(0);
    expect(lines).toContain('"channelName":"broken"');
    expect(lines).toContain('"channelName":"sealed elsewhere"');
    expect(lines).toContain('"key":"RetryTimes"');
  });

  test("skips unreadable plans of prices with a warning", async () => {
    const plan = { created_at: 1, user_id: 1, username: "root", starts_at: 2, ended_at: 0, ended_how: "" };
    const readable = JSON.stringify([{ model: "planned", input: "4" }]);
    await database.db
      .insertInto("price_plans")
      .values([
        { ...plan, prices: "{" },
        { ...plan, prices: readable },
      ])
      .execute();
    const { prices } = (await store()).current();
    expect(prices.find("planned")).toMatchObject({ modelRatio: 2 });
    expect(lines).toContain("planned prices are unreadable");
  });

  test("has options, decrypted where sealed, and the prices that result from them", async () => {
    const before = (await store()).current();
    expect(before.prices.find("my-model")).toBeUndefined();
    expect(before.prices.find("gpt-4o")).toBeDefined();
    await database.db
      .insertInto("options")
      .values([
        { key: "SMTPToken", value: vault.seal("mail secret", optionValue("SMTPToken")) },
        { key: "ModelRatio", value: '{"my-model":2}' },
        { key: "GroupRatio", value: '{"default":1,"cheap":0.5}' },
      ])
      .execute();
    const { options, prices } = (await store()).current();
    expect(options.SMTPToken).toBe("mail secret");
    expect(prices.find("my-model")).toBeDefined();
    expect(prices.groupRatio("cheap")).toBe("0.5");
  });

  test("applies an announced change at once and notifies the other replicas", async () => {
    const reported: Topic[] = [];
    const live = await store({ pollMs: 60_000, publish: async (topic) => void reported.push(topic) });
    const seen: number[] = [];
    const unsubscribe = live.subscribe((snapshot) => seen.push(snapshot.channels.size));
    await addChannel();
    await bumped("channels");
    await live.announce("channels");
    expect(live.current().channels.size).toBe(1);
    expect(live.current().revision).toBe(1);
    await live.announce("tokens");
    expect(reported).toEqual(["channels", "tokens"]);
    unsubscribe();
    await live.refresh();
    expect(seen).toEqual([1]);
  });

  test("finds unreported changes by polling", async () => {
    const onAccountsChanged = vi.fn<() => void>();
    const live = await store({ onAccountsChanged });
    await addChannel();
    await bumped("channels");
    await vi.waitFor(() => expect(live.current().channels.size).toBe(1));
    expect(onAccountsChanged).not.toHaveBeenCalled();
    await bumped("users");
    await vi.waitFor(() => expect(onAccountsChanged).toHaveBeenCalledTimes(1));
    await live.changed("tokens");
    expect(onAccountsChanged).toHaveBeenCalledTimes(2);
  });

  test("a refresh requested during another sees everything written before", async () => {
    const live = await store({ pollMs: 60_000 });
    const first = live.refresh();
    await addChannel();
    await Promise.all([live.refresh(), live.refresh(), first]);
    expect(live.current().channels.size).toBe(1);
  });

  test("keeps the last state while the database is unavailable", async () => {
    const live = await store();
    const rows = vi.spyOn(database.raw, "rows").mockRejectedValue(new Error("connection lost"));
    await vi.waitFor(() => expect(lines).toContain("changes cannot be read"));
    expect(live.current().channels.size).toBe(0);
    rows.mockRestore();
    await addChannel();
    await bumped("channels");
    await vi.waitFor(() => expect(live.current().channels.size).toBe(1));
  });
});

test("throws when the snapshot was never loaded", () => {
  const log = createLog({ level: "off", format: "text", out: new PassThrough() });
  const database = openDatabase({ url: "sqlite::memory:", log });
  expect(() => createSnapshotStore({ database, vault, clock: systemClock, log }).current()).toThrow(
    "before it was loaded",
  );
});

type Channel = Insertable<Schema["channels"]>;

function channelRow(id: number, change: Partial<Channel>): Channel {
  return {
    id,
    type: 1,
    key_sealed: vault.seal("sk-test", channelKey(id)),
    key_hash: vault.hashKey("sk-test"),
    openai_organization: "",
    test_model: "",
    status: 1,
    name: "channel",
    weight: 0,
    created_time: 0,
    base_url: "",
    other: "",
    models: "gpt-4o",
    group: "default",
    model_mapping: "",
    status_code_mapping: "",
    tag: null,
    setting: null,
    param_override: null,
    ...change,
  };
}
