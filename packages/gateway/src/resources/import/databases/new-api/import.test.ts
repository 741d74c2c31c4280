import { createDatabase, eachDatabase } from "@fairway/testkit/databases";
import type { Selectable } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { DIRECT } from "../../../../lib/net/network.ts";
import { SourceDatabase, NEW_API, ONE_API } from "../../../../../test/import/source-database.ts";
import { channel, HASH, KEYS, token, user } from "../../../../../test/import/rows.ts";
import { quietLog } from "../../../../../test/kit/support.ts";
import { openStoreKit, type StoreKit } from "../../../../../test/kit/store-kit.ts";
import { checkBalances } from "../../../../billing/audit/balances.ts";
import { checkLedgerSums } from "../../../../billing/audit/sums.ts";
import { createPasswords } from "../../../../identity/passwords/passwords.ts";
import { hashRandomId } from "../../../../identity/sessions/sessions.ts";
import { openForeign, type ForeignDatabase } from "../../../../storage/foreign.ts";
import type { Schema } from "../../../../storage/tables/schema.ts";
import { GroupNames } from "../../groups.ts";
import { importCompatible } from "./import.ts";
import type { SourceGateway } from "@fairway/wire";
import { channelKey, optionValue, tokenKey } from "../../../../storage/secrets/sealed-locations.ts";

eachDatabase("import of a database of a compatible gateway", (open) => {
  let kit: StoreKit;
  let sourceDatabase: SourceDatabase;
  let source: ForeignDatabase;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    sourceDatabase = new SourceDatabase(await createDatabase(open.kind), open.kind);
    for (const table of [
      "users",
      "tokens",
      "channels",
      "abilities",
      "options",
      "redemptions",
      "logs",
      "ledger",
      "balance_outbox",
      "access_tokens",
    ] as const)
      await kit.database.db.deleteFrom(table).execute();
  });
  afterEach(() => source.close());

  interface Choices {
    readonly isDry?: boolean;
    readonly logOrigin?: string;
    readonly groups?: GroupNames;
    readonly former?: string;
  }
  const run = (kind: SourceGateway, { isDry = false, logOrigin, groups = new GroupNames(), former }: Choices = {}) => {
    source = openForeign(sourceDatabase.url, quietLog);
    const { database } = kit;
    const target = { target: database, logTarget: database };
    const logs = { logSource: source, withLogs: logOrigin !== undefined, origin: logOrigin ?? "here" };
    const named = { groups, prices: { areChannelsAsked: false, former, network: DIRECT } };
    return importCompatible({ ...kit, ...target, ...logs, ...named, kind, source, isDry, onProgress: () => {} });
  };
  type Shown = "users" | "tokens" | "channels" | "redemptions" | "logs" | "options" | "ledger" | "abilities";
  const all = async <T extends Shown>(table: T): Promise<Selectable<Schema[T]>[]> => {
    const order = table === "options" ? "key" : table === "abilities" ? "channel_id" : "id";
    return kit.database.raw.rows(`select * from ${table} order by "${order}"`, []);
  };
  const balances = async () =>
    Object.fromEntries(
      (await kit.database.db.selectFrom("users").select(["username", "quota"]).execute()).map((it) => [
        it.username,
        it.quota,
      ]),
    );

  async function newApi(): Promise<void> {
    await sourceDatabase.create(NEW_API);
    await sourceDatabase.insert(
      "users",
      user(1, "root", { role: 100, quota: 100_000_000, access_token: "t".repeat(32) }),
      user(2, "ann", {
        email: "Ann@Example.com",
        group: "vip",
        wechat_id: "wx",
        github_id: "annhub",
        aff_quota: 9,
        aff_count: 1,
      }),
      user(3, "Ann", { inviter_id: 2, quota: -50, status: 2, email: "ann@example.com" }),
      user(4, "gone", { deleted_at: "2024-05-05 10:00:00" }),
    );
    await sourceDatabase.insert(
      "tokens",
      token(1, 2, { model_limits_enabled: true, model_limits: "gpt-4o", allow_ips: "10.0.0.0/8", group: "vip" }),
      token(2, 3, { unlimited_quota: true, status: 3 }),
      token(3, 4),
      token(4, 2, { deleted_at: "2024-05-05 10:00:00" }),
    );
    await sourceDatabase.insert(
      "channels",
      channel(7, 1, { tag: "t", auto_ban: 0 }),
      channel(8, 24, { status: 3, model_mapping: "" }),
      channel(9, 555),
    );
    await sourceDatabase.insert(
      "options",
      { key: "QuotaForNewUser", value: "123" },
      { key: "Price", value: "cheap" },
      { key: "Unheard", value: "1" },
      { key: "SMTPToken", value: "mail secret" },
    );
    await sourceDatabase.insert(
      "redemptions",
      {
        id: 1,
        user_id: 1,
        key: "r".repeat(32),
        status: 1,
        name: "gift",
        quota: 500,
        created_time: 4,
        redeemed_time: 0,
        used_user_id: 0,
      },
      {
        id: 2,
        user_id: 1,
        key: "s".repeat(32),
        status: 3,
        name: "gift",
        quota: 500,
        created_time: 4,
        redeemed_time: 9,
        used_user_id: 2,
      },
    );
    await sourceDatabase.insert("logs", {
      id: 11,
      user_id: 2,
      created_at: 100,
      type: 2,
      content: "c",
      username: "ann",
      token_name: "token 1",
      model_name: "gpt-4o",
      quota: 5,
      prompt_tokens: 1,
      completion_tokens: 2,
      use_time: 1,
      is_stream: true,
      channel_id: 7,
      token_id: 1,
      group: "vip",
      other: '{"model_ratio":1}',
    });
  }

  test("groups get the names of here, in accounts, keys, channels and the tables of options", async () => {
    await newApi();
    await sourceDatabase.insert(
      "options",
      { key: "GroupRatio", value: '{"default":1,"vip":0.5}' },
      { key: "UserUsableGroups", value: '{"default":"All","vip":"Friends"}' },
    );
    const report = await run("new-api", { groups: new GroupNames({ vip: "staff", lost: "x" }), logOrigin: "g" });
    expect((await all("users")).map(({ group }) => group)).toContain("staff");
    expect(await all("tokens").then(([first]) => first?.group)).toBe("staff");
    const options = Object.fromEntries((await all("options")).map(({ key, value }) => [key, value]));
    expect(JSON.parse(options["GroupRatio"] ?? "")).toEqual({ default: 1, staff: 0.5 });
    expect(JSON.parse(options["UserUsableGroups"] ?? "")).toEqual({ default: "All", staff: "Friends" });
    const groups = new Set((await all("abilities")).map(({ group }) => group));
    expect(groups).toEqual(new Set(["default", "staff"]));
    expect(report.notes).toContain("there is no group lost to be named x");
    expect(JSON.stringify([await all("users"), await all("tokens"), await all("channels")])).not.toContain('"vip');
  });

  test("keeps every balance, every password and every key of New API", async () => {
    await newApi();
    const report = await run("new-api", { logOrigin: "here" });
    expect(await balances()).toEqual({ root: 100_000_000, ann: 2000, "Ann-3": -50 });
    const [root, ann, other] = await all("users");
    expect(ann).toMatchObject({
      id: 2,
      email: "ann@example.com",
      wechat_id: "wx",
      group: "vip",
      aff_quota: 9,
      used_quota: 2,
      aff_code: "a2",
    });
    expect(other).toMatchObject({ id: 3, status: 2, email: null, inviter_id: 2, display_name: "Ann" });
    expect(await createPasswords().verify(ann?.password, "password of ann")).toEqual({
      isMatch: true,
      needsRehash: true,
    });
    expect((await all("ledger")).map(({ kind, user_id, quota }) => [kind, user_id, quota])).toEqual([
      ["consume", 1, -1],
      ["adjust", 1, 100_000_001],
      ["consume", 2, -2],
      ["adjust", 2, 2002],
      ["consume", 3, -3],
      ["adjust", 3, -47],
    ]);
    expect([...(await checkLedgerSums(kit.database.raw)), ...(await checkBalances(kit.database.raw, false))]).toEqual(
      [],
    );
    const access = await kit.database.db.selectFrom("access_tokens").selectAll().execute();
    expect(access).toMatchObject([{ user_id: root?.id, name: "", token_hash: hashRandomId("t".repeat(32)) }]);
    const tokens = await all("tokens");
    expect(tokens.map(({ id, key_sealed }) => kit.vault.open(key_sealed, tokenKey(id)))).toEqual([KEYS[0], KEYS[1]]);
    expect(tokens).toMatchObject([
      {
        id: 1,
        user_id: 2,
        key_hash: kit.vault.hashKey(KEYS[0] ?? ""),
        remain_quota: 10,
        used_quota: 3,
        model_limits_enabled: 1,
        model_limits: "gpt-4o",
        allow_ips: "10.0.0.0/8",
        group: "vip",
      },
      { id: 2, user_id: 3, unlimited_quota: 1, status: 3, expired_time: -1 },
    ]);
    expect(report.notes.join("\n")).toContain("the user Ann (3) becomes Ann-3");
    expect(report.notes.join("\n")).toContain("bind GitHub again");
  });

  test("takes channels with their routes, checked options, codes and logs", async () => {
    await newApi();
    const report = await run("new-api", { logOrigin: "here" });
    const channels = await all("channels");
    expect(channels).toMatchObject([
      {
        id: 7,
        type: 1,
        status: 1,
        base_url: "https://up.example",
        models: "gpt-4o,claude-3",
        tag: "t",
        auto_ban: 0,
        balance: 1.5,
        priority: -2,
        model_mapping: '{"a":"b"}',
        used_quota: 77,
      },
      { id: 8, type: 24, status: 3, model_mapping: "" },
    ]);
    expect(channels.map(({ id, key_sealed }) => kit.vault.open(key_sealed, channelKey(id)))).toEqual([
      "sk-upstream-7",
      "sk-upstream-8",
    ]);
    expect((await all("abilities")).filter(({ channel_id }) => channel_id === 7)).toHaveLength(4);
    const options = Object.fromEntries((await all("options")).map(({ key, value }) => [key, value]));
    expect(options["QuotaForNewUser"]).toBe("123");
    expect(Object.keys(options).sort()).toEqual(["QuotaForNewUser", "SMTPToken"]);
    expect(kit.vault.open(options["SMTPToken"] ?? "", optionValue("SMTPToken"))).toBe("mail secret");
    expect(report.notes.join("\n")).toContain("the option Price has a value that cannot be used");
    expect(report.notes).toContain("options that this gateway does not have: Unheard");
    expect(report.notes.join("\n")).toContain("the channel channel 9 has the type 555");
    expect(await all("redemptions")).toMatchObject([
      { key: "r".repeat(32), status: 1, quota: 500 },
      { key: "s".repeat(32), status: 3, used_user_id: 2, redeemed_time: 9 },
    ]);
    expect(await all("logs").then((rows) => rows.filter(({ type }) => type === 2))).toMatchObject([
      {
        user_id: 2,
        channel_id: 7,
        token_id: 1,
        is_stream: 1,
        quota: 5,
        request_id: "import-here-11",
        other: '{"model_ratio":1}',
      },
    ]);
  });

  test("changes nothing when it runs again, or dry", async () => {
    await newApi();
    const dry = await run("new-api", { isDry: true, logOrigin: "here" });
    await source.close();
    for (const table of ["users", "tokens", "channels", "options", "redemptions", "logs", "ledger"] as const)
      expect(await all(table)).toEqual([]);
    const first = await run("new-api", { logOrigin: "here" });
    await source.close();
    expect(dry.lines()).toEqual(first.lines());
    const state = async () =>
      JSON.stringify([
        await all("users"),
        await all("tokens"),
        await all("channels"),
        await all("options"),
        await all("redemptions"),
        await all("logs"),
        await all("ledger"),
      ]);
    const before = await state();
    await kit.database.db.updateTable("users").set({ quota: 1 }).where("username", "=", "ann").execute();
    const second = await run("new-api", { logOrigin: "here" });
    await kit.database.db.updateTable("users").set({ quota: 2000 }).where("username", "=", "ann").execute();
    expect(await state()).toBe(before);
    for (const what of ["users", "tokens", "channels", "options", "redemption codes", "logs"])
      expect(second.of(what)).toMatchObject({ created: 0, updated: 0 });
  });

  test("gives an untouched root its balance and password, and leaves a used account alone", async () => {
    const { db } = kit.database;
    const row = {
      password: "x",
      display_name: "",
      role: 100,
      status: 1,
      email: null,
      github_id: null,
      github_uid: null,
      wechat_id: null,
      telegram_id: null,
      linux_do_id: null,
      oidc_id: null,
      group: "default",
      setting: null,
      totp_secret: null,
      created_at: 1,
      deleted_at: null,
    };
    await db
      .insertInto("users")
      .values({ ...row, id: 1, username: "root", username_key: "root", quota: 100_000_000, aff_code: "r" })
      .execute();
    await db
      .insertInto("users")
      .values({
        ...row,
        id: 2,
        role: 1,
        username: "ann",
        username_key: "ann",
        quota: 5,
        aff_code: "x",
        request_count: 3,
      })
      .execute();
    await newApi();
    await sourceDatabase.insert("users", user(20, "zoe"));
    const report = await run("new-api");
    expect(report.of("users")).toMatchObject({ created: 2, updated: 1, unchanged: 1 });
    expect(await balances()).toEqual({ root: 100_000_000, ann: 5, "Ann-3": -50, zoe: 20_000 });
    const [root] = await db.selectFrom("users").selectAll().where("id", "=", 1).execute();
    expect(root).toMatchObject({ password: HASH, role: 100 });
    const next = await db
      .insertInto("users")
      .values({ ...row, username: "new", username_key: "new", quota: 0, aff_code: "n" })
      .execute();
    expect(next).toBeDefined();
  });

  test("reads the tables of One API, with its numbers of channel types", async () => {
    await sourceDatabase.create(ONE_API);
    await sourceDatabase.insert("users", user(1, "root", { role: 100 }), user(2, "bob"));
    await sourceDatabase.insert(
      "tokens",
      token(1, 2, { models: "gpt-4o,gpt-4", subnet: "10.0.0.0/8,192.168.0.0/16" }),
      token(2, 2, { models: null, subnet: null }),
    );
    await sourceDatabase.insert(
      "channels",
      channel(1, 30, { base_url: "http://ollama:11434" }),
      channel(2, 7, { base_url: "" }),
      channel(3, 3, { config: '{"api_version":"2024-06-01"}' }),
      channel(4, 38),
      channel(5, 42, { config: '{"region":"us-east5","vertex_ai_adc":"{\\"type\\":\\"service_account\\"}"}' }),
      channel(6, 36),
    );
    const report = await run("one-api");
    expect(await all("channels")).toMatchObject([
      { type: 4, base_url: "http://ollama:11434" },
      { type: 1, base_url: "https://api.ohmygpt.com" },
      { type: 3, other: "2024-06-01" },
      { type: 41, other: "us-east5" },
      { type: 43 },
    ]);
    expect(report.of("channels")).toMatchObject({ created: 5, skipped: 1 });
    const vertex = (await all("channels")).find(({ type }) => type === 41);
    expect(kit.vault.open(vertex?.key_sealed ?? "", channelKey(vertex?.id ?? 0))).toBe('{"type":"service_account"}');
    expect(await all("tokens")).toMatchObject([
      { model_limits_enabled: 1, model_limits: "gpt-4o,gpt-4", allow_ips: "10.0.0.0/8\n192.168.0.0/16" },
      { model_limits_enabled: 0, model_limits: "", allow_ips: "" },
    ]);
    expect(await balances()).toEqual({ root: 1000, bob: 2000 });
  });

  test("refuses a database of something else", async () => {
    await sourceDatabase.create({ things: { id: "id" } });
    await expect(run("new-api")).rejects.toThrow("this is no database of new-api: it has no table users");
  });
});
