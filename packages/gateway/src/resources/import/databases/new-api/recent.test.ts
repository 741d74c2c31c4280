import { createDatabase, eachDatabase } from "@fairway/testkit/databases";
import type { Selectable } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { DIRECT } from "../../../../lib/net/network.ts";
import { SourceDatabase, ONE_API } from "../../../../../test/import/source-database.ts";
import { fillRecent } from "../../../../../test/import/recent-logs.ts";
import { channel, KEYS, user } from "../../../../../test/import/rows.ts";
import { quietLog } from "../../../../../test/kit/support.ts";
import { openStoreKit, type StoreKit } from "../../../../../test/kit/store-kit.ts";
import { importedKey } from "../../../../storage/secrets/token-key-forms.ts";
import { EVERYTHING } from "../../../logs/filter.ts";
import { createLogStore } from "../../../logs/store.ts";
import { rollUpUsage } from "../../../usage-data/rollup.ts";
import { openForeign, type ForeignDatabase } from "../../../../storage/foreign.ts";
import type { Schema } from "../../../../storage/tables/schema.ts";
import type { SourceGateway } from "@fairway/wire";
import { GroupNames } from "../../groups.ts";
import { importCompatible } from "./import.ts";
import { channelKey, secondFactor, tokenKey } from "../../../../storage/secrets/sealed-locations.ts";

const TABLES = [
  "users",
  "tokens",
  "channels",
  "abilities",
  "options",
  "redemptions",
  "top_ups",
  "midjourneys",
  "tasks",
  "quota_data",
  "passkeys",
  "access_tokens",
  "logs",
  "ledger",
  "balance_outbox",
] as const;

eachDatabase("import of recent revisions", (open) => {
  let kit: StoreKit;
  let sourceDatabase: SourceDatabase;
  let source: ForeignDatabase;
  const seen: string[] = [];

  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    sourceDatabase = new SourceDatabase(await createDatabase(open.kind), open.kind);
    for (const table of TABLES) await kit.database.db.deleteFrom(table).execute();
    await kit.database.db.deleteFrom("revisions").where("topic", "like", "usage-rollup%").execute();
    seen.length = 0;
  });
  afterEach(() => source.close());

  const run = (kind: SourceGateway = "new-api", isDry = false) => {
    source = openForeign(sourceDatabase.url, quietLog);
    const { database } = kit;
    const places = { target: database, logTarget: database, source, logSource: source };
    const onProgress = (what: string, done: number) => void seen.push(`${what} ${done}`);
    const prices = { areChannelsAsked: false, former: undefined, network: DIRECT };
    const named = { groups: new GroupNames(), prices };
    return importCompatible({
      ...kit,
      ...places,
      ...named,
      kind,
      isDry,
      withLogs: true,
      origin: "o",
      onProgress,
    });
  };
  const all = async <T extends (typeof TABLES)[number]>(table: T): Promise<Selectable<Schema[T]>[]> =>
    kit.database.raw.rows(
      `select * from ${table} order by ${table === "options" ? '"key"' : table === "abilities" ? 'channel_id, model, "group"' : "id"}`,
      [],
    );

  test("accounts keep their second factor and their passkeys", async () => {
    await fillRecent(sourceDatabase);
    const report = await run();
    const [root, ann, bob] = await all("users");
    expect(root?.created_at).toBe(77);
    expect(JSON.parse(kit.vault.open(ann?.totp_secret ?? "", secondFactor(ann?.id ?? 0)))).toEqual({
      secret: "JBSWY3DPEHPK3PXP",
      isOn: true,
      lastStep: 0,
      recovery: [],
    });
    expect(bob).toMatchObject({ totp_secret: null, role: 1, status: 1, group: "default", quota: 0 });
    expect(await all("passkeys")).toMatchObject([
      {
        user_id: 2,
        credential_id: "-_8",
        public_key: "pQECAyY",
        counter: 7,
        transports: "internal,hybrid",
        last_used_at: 0,
      },
    ]);
    expect(report.lines().join("\n")).toContain("1 users keep their authenticator");
  });

  test("imports keys of another form", async () => {
    await fillRecent(sourceDatabase);
    const report = await run();
    const tokens = await all("tokens");
    expect(tokens.map(({ key_hash }) => key_hash)).toEqual(
      [KEYS[0], importedKey("sk-short_key"), KEYS[2]].map((key) => kit.vault.hashKey(key ?? "")),
    );
    expect(tokens.map(({ id, key_sealed }) => kit.vault.open(key_sealed, tokenKey(id)))).toEqual([
      KEYS[0],
      "short_key",
      KEYS[2],
    ]);
    expect(tokens[2]).toMatchObject({
      status: 1,
      name: "",
      expired_time: -1,
      model_limits: "",
      model_limits_enabled: 0,
    });
    expect(await all("options")).toEqual([{ key: "CarriedKeysEnabled", value: "true" }]);
    expect(report.lines().join("\n")).toContain("1 keys have another form");
  });

  test("channels: lists as JSON, several keys, numbers of resellers, broken settings", async () => {
    await fillRecent(sourceDatabase);
    const report = await run();
    const channels = await all("channels");
    expect(
      channels.map(({ name, type, group, models, setting, base_url }) => ({
        name,
        type,
        group,
        models,
        setting,
        base_url,
      })),
    ).toEqual(
      [
        {
          name: "channel 7",
          type: 1,
          group: "default,vip",
          models: "gpt-4o",
          setting: '{"proxy":"http://p","multi_key_mode":"polling"}',
          base_url: "https://up.example",
        },
        {
          name: "channel 8",
          type: 41,
          group: "default,vip",
          models: "gpt-4o,claude-3",
          setting: '{"multi_key_mode":"random"}',
          base_url: "https://up.example",
        },
        {
          name: "channel 8 (2)",
          type: 41,
          group: "default,vip",
          models: "gpt-4o,claude-3",
          setting: '{"multi_key_mode":"random"}',
          base_url: "https://up.example",
        },
        {
          name: "channel 9",
          type: 1,
          group: "default,vip",
          models: "gpt-4o,claude-3",
          setting: null,
          base_url: "https://api.ohmygpt.com",
        },
      ].toSorted(
        (a, b) => channels.findIndex(({ name }) => name === a.name) - channels.findIndex(({ name }) => name === b.name),
      ),
    );
    const openChannelKey = (name: string) => {
      const channel = channels.find((it) => it.name === name);
      return kit.vault.open(channel?.key_sealed ?? "", channelKey(channel?.id ?? 0));
    };
    expect([openChannelKey("channel 7"), openChannelKey("channel 8"), openChannelKey("channel 8 (2)")]).toEqual([
      "sk-a\nsk-b",
      '{"client_email":"a"}',
      '{"client_email":"b"}',
    ]);
    const routed = new Set((await all("abilities")).map(({ channel_id }) => channel_id));
    expect(routed).toEqual(new Set(channels.map(({ id }) => id)));
    const notes = report.lines().join("\n");
    expect(notes).toContain("1 channels had some of their keys switched off");
    expect(notes).not.toContain("channels override headers");
  });

  test("orders, drawings, tasks, codes and sums come over, and no balance moves for them", async () => {
    await fillRecent(sourceDatabase);
    const report = await run();
    expect(await all("top_ups")).toMatchObject([
      { trade_no: "paid", status: "success", quota: 5_000_000, money: "73.00", complete_time: 6 },
      { trade_no: "open", status: "pending", quota: 750_000, money: "1.50" },
    ]);
    expect(report.of("top-ups")).toMatchObject({ created: 2, skipped: 1 });
    expect(await all("midjourneys")).toMatchObject([
      { mj_id: "m1", user_id: 2, channel_id: 7, quota: 50, charged: 1, refunded: 0, created_at: 1_700_000_000 },
      { mj_id: "m2", charged: 1, refunded: 1 },
      { mj_id: "m3", progress: "30%", charged: 0, refunded: 0 },
    ]);
    const tasks = await all("tasks");
    expect(tasks).toMatchObject([
      { task_id: "up-1", token_id: 1, charged: 1 },
      { task_id: "task_video", platform: "50" },
    ]);
    expect(JSON.parse(tasks[0]?.data ?? "")).toEqual({ clips: [1] });
    expect((await all("redemptions")).map(({ name, status }) => [name, status])).toEqual([
      ["over", 2],
      ["lasting", 1],
    ]);
    expect(await all("quota_data")).toMatchObject([
      { user_id: 2, model_name: "gpt-4o", created_at: 7200, token_used: 11, count: 3, quota: 31 },
    ]);
    expect((await all("ledger")).map(({ kind, user_id, quota }) => [kind, user_id, quota])).toEqual([
      ["consume", 1, -1],
      ["adjust", 1, 1001],
      ["consume", 2, -2],
      ["adjust", 2, 2002],
      ["consume", 3, -3],
      ["adjust", 3, 3],
    ]);
  });

  test("rows of hours that came as sums are not summed up again", async () => {
    await fillRecent(sourceDatabase);
    await run();
    expect((await all("logs")).filter(({ type }) => type === 2)).toMatchObject([
      { request_id: "imported-o-11", ip: "10.0.0.1", other: "" },
    ]);
    await rollUpUsage(
      { database: kit.database, logs: kit.database, isEnabled: () => true, settleMs: 0 },
      new AbortController().signal,
    );
    expect(await all("quota_data")).toMatchObject([{ count: 3, quota: 31 }]);
    // The rows count, even if the sums of the other gateway differ.
    const { database, clock } = kit;
    const rows = (await all("logs")).filter(({ type }) => type === 2);
    const spent = createLogStore({ database, sums: database, clock }).spent(EVERYTHING);
    expect(await spent).toBe(rows.reduce((sum, { quota }) => sum + quota, 0));
  });

  test("a dry run reports the same and writes nothing; a second run adds nothing", async () => {
    await fillRecent(sourceDatabase);
    const dry = await run("new-api", true);
    await source.close();
    for (const table of TABLES) expect(await all(table), table).toEqual([]);
    const first = await run();
    await source.close();
    expect(dry.lines()).toEqual(first.lines());
    expect(seen).toContain("logs 1");
    const state = async () => JSON.stringify(await Promise.all(TABLES.map((table) => all(table))));
    const before = await state();
    const second = await run();
    expect(await state()).toBe(before);
    for (const line of second.lines()) expect(line).not.toMatch(/created|updated/);
  });

  test("One API: milliseconds, its test rows, and protocols that it tells apart otherwise", async () => {
    await sourceDatabase.create(ONE_API);
    await sourceDatabase.insert("users", user(1, "root", { role: 100 }));
    await sourceDatabase.insert(
      "channels",
      channel(1, 8, { base_url: "https://mine.example" }),
      channel(2, 16, { models: "glm-4" }),
      channel(3, 33, { key: "", config: '{"ak":"A","sk":"S","region":"us-east-1"}' }),
      channel(4, 60),
    );
    const log = {
      user_id: 1,
      created_at: 5,
      content: "",
      username: "root",
      token_name: "",
      model_name: "m",
      quota: 1,
      prompt_tokens: 1,
      completion_tokens: 1,
      channel_id: 1,
      is_stream: false,
      request_id: "r",
    };
    await sourceDatabase.insert(
      "logs",
      { ...log, id: 1, type: 2, elapsed_time: 1500 },
      { ...log, id: 2, type: 5, elapsed_time: 10 },
    );
    await run("one-api");
    const channels = await all("channels");
    expect(channels.map(({ type }) => type)).toEqual([1, 26, 33]);
    expect(kit.vault.open(channels[2]?.key_sealed ?? "", channelKey(channels[2]?.id ?? 0))).toBe("A|S|us-east-1");
    expect((await all("logs")).filter(({ request_id }) => request_id.startsWith("import-o-"))).toMatchObject([
      { type: 2, use_time: 2 },
      { type: 4, use_time: 1 },
    ]);
  });
});
