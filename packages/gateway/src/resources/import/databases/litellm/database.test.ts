import { createHash } from "node:crypto";
import { createDatabase, eachDatabase } from "@fairway/testkit/databases";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { SourceDatabase, LITELLM } from "../../../../../test/import/source-database.ts";
import { quietLog } from "../../../../../test/kit/support.ts";
import { openStoreKit, type StoreKit } from "../../../../../test/kit/store-kit.ts";
import { checkBalances } from "../../../../billing/audit/balances.ts";
import { checkLedgerSums } from "../../../../billing/audit/sums.ts";
import { importedKey } from "../../../../storage/secrets/token-key-forms.ts";
import { accountRow } from "../../../../identity/accounts/accounts.ts";
import { openForeign, type ForeignDatabase } from "../../../../storage/foreign.ts";
import { GroupNames } from "../../groups.ts";
import { ImportReport } from "../../report.ts";
import { importDatabase } from "./database.ts";
import { tokenKey } from "../../../../storage/secrets/sealed-locations.ts";

const TABLES = [
  "users",
  "tokens",
  "budgets",
  "options",
  "abilities",
  "ledger",
  "ledger_state",
  "balance_outbox",
  "teams",
  "team_members",
  "service_accounts",
] as const;
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

eachDatabase("import of a database of LiteLLM", (open) => {
  let kit: StoreKit;
  let litellm: SourceDatabase;
  let source: ForeignDatabase;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    litellm = new SourceDatabase(await createDatabase(open.kind), open.kind);
    for (const table of TABLES) await kit.database.db.deleteFrom(table).execute();
  });
  afterEach(() => source.close());

  const run = async (isDry = false, groups = new GroupNames()) => {
    source = openForeign(litellm.url, quietLog);
    const { database, clock, vault } = kit;
    const report = new ImportReport();
    const progress = { onProgress: () => {}, credit: 100, report, groups };
    await importDatabase({ source, target: database, vault, clock, isDry, ...progress });
    return report;
  };
  const rows = (sql: string) => kit.database.raw.rows<Record<string, string | number | null>>(sql, []);

  async function fill(): Promise<void> {
    await litellm.create(LITELLM);
    await litellm.insert("LiteLLM_BudgetTable", {
      budget_id: "b1",
      max_budget: 2,
      budget_duration: "30d",
      rpm_limit: 7,
    });
    await litellm.insert(
      "LiteLLM_UserTable",
      {
        user_id: "u-1",
        user_alias: "Ann Lee",
        user_email: "Ann@Example.com",
        user_role: "internal_user",
        max_budget: 10,
        spend: 2.5,
        tpm_limit: 1000,
        models: ["gpt-4o"],
      },
      { user_id: "u-2", user_email: "boss@example.com", user_role: "proxy_admin", spend: 0.25, models: [] },
    );
    await litellm.insert("LiteLLM_TeamTable", {
      team_id: "t-1",
      team_alias: "research",
      blocked: false,
      max_budget: 5,
      spend: 1,
      budget_duration: "7d",
      models: ["gpt-*", "o3"],
    });
    const key = { blocked: null, aliases: "{}", models: [] as string[], created_at: "2025-10-01 10:00:00" };
    await litellm.insert(
      "LiteLLM_VerificationToken",
      {
        ...key,
        token: sha256("sk-9aXh_2-Zz04jKq5LmN8ouw"),
        key_name: "sk-...8ouw",
        key_alias: "laptop",
        user_id: "u-1",
        max_budget: 4,
        spend: 1.5,
        rpm_limit: 60,
        max_parallel_requests: 3,
        expires: "2030-01-02 03:04:05",
      },
      {
        ...key,
        token: sha256("sk-team"),
        key_name: "sk-...team",
        user_id: "u-1",
        team_id: "t-1",
        models: ["all-team-models"],
      },
      { ...key, token: sha256("sk-shared"), key_name: "sk-...ared", budget_id: "b1", spend: 0.5, blocked: true },
      { ...key, token: "sk-in-the-clear", key_name: "sk-...lear", user_id: "u-9", models: ["no-default-models"] },
      { ...key, token: "nonsense", key_name: "sk-...ense" },
    );
    await litellm.insert("LiteLLM_ProxyModelTable", { model_id: "m", model_name: "gpt-4o", litellm_params: "{}" });
    const ability = { group: "default", channel_id: 1, enabled: 1, priority: 0, weight: 0, tag: null };
    await kit.database.db
      .insertInto("abilities")
      .values(["gpt-4o", "gpt-5", "claude"].map((model) => ({ ...ability, model })))
      .execute();
  }

  test("accounts are in the group that their default group is named", async () => {
    await fill();
    await run(false, new GroupNames({ default: "staff" }));
    expect(await rows('select distinct "group" from users')).toEqual([{ group: "staff" }]);
  });

  test("users, teams and keys with what is left of their money", async () => {
    await fill();
    const report = await run();
    expect(
      await rows(
        "select username, display_name, email, role, quota, used_quota, limits, password from users order by id",
      ),
    ).toEqual([
      {
        username: "Ann-Lee",
        display_name: "Ann Lee",
        email: "ann@example.com",
        role: 1,
        quota: 3_750_000,
        used_quota: 1_250_000,
        limits: '{"tpm":1000}',
        password: "!",
      },
      {
        username: "boss",
        display_name: "boss",
        email: "boss@example.com",
        role: 10,
        quota: 50_000_000,
        used_quota: 125_000,
        limits: null,
        password: "!",
      },
      {
        username: "research",
        display_name: "research",
        email: null,
        role: 1,
        quota: 50_000_000,
        used_quota: 500_000,
        limits: null,
        password: "!",
      },
      expect.objectContaining({ quota: 50_000_000 }),
      expect.objectContaining({ quota: 50_000_000 }),
    ]);
    expect([...(await checkLedgerSums(kit.database.raw)), ...(await checkBalances(kit.database.raw, false))]).toEqual(
      [],
    );
    const tokens = await rows("select t.*, u.username from tokens t join users u on u.id = t.user_id order by t.name");
    const findToken = (name: string) => tokens.find((token) => token["name"] === name);
    expect(findToken("laptop")).toMatchObject({
      username: "Ann-Lee",
      key_hash: kit.vault.hashKey(importedKey("sk-9aXh_2-Zz04jKq5LmN8ouw")),
      remain_quota: 1_250_000,
      unlimited_quota: 0,
      used_quota: 750_000,
      limits: '{"rpm":60,"concurrency":3}',
      expired_time: Date.UTC(2030, 0, 2, 3, 4, 5) / 1000,
      created_time: Date.UTC(2025, 9, 1, 10) / 1000,
      model_limits: "gpt-4o",
      model_limits_enabled: 1,
      status: 1,
    });
    expect(
      kit.vault.open(String(findToken("laptop")?.["key_sealed"]), tokenKey(Number(findToken("laptop")?.["id"]))),
    ).toBe("...8ouw");
    expect(findToken("sk-...team")).toMatchObject({
      username: "research",
      unlimited_quota: 1,
      model_limits: "",
      model_limits_enabled: 0,
    });
    expect(await rows("select name, slug, settings, status from teams")).toEqual([
      { name: "research", slug: "research", settings: '{"models":["gpt-*","o3"]}', status: 1 },
    ]);
    expect(findToken("sk-...ared")).toMatchObject({
      username: "litellm",
      unlimited_quota: 1,
      status: 2,
      model_limits_enabled: 0,
      limits: '{"rpm":7}',
    });
    expect(findToken("sk-...lear")).toMatchObject({
      username: "u-9",
      key_hash: kit.vault.hashKey(importedKey("sk-in-the-clear")),
      model_limits: "",
      model_limits_enabled: 1,
    });
    expect(await rows("select scope, period, quota_limit, used, is_hard from budgets order by scope desc")).toEqual([
      { scope: "token", period: "month", quota_limit: 1_000_000, used: 250_000, is_hard: 1 },
      { scope: "team", period: "week", quota_limit: 2_500_000, used: 500_000, is_hard: 1 },
    ]);
    expect(await rows("select value from options")).toEqual([{ value: "true" }]);
    expect(report.of("keys")).toMatchObject({ created: 4, skipped: 1 });
    const seen = report.lines().join("\n");
    for (const text of ["1 models stand in the database", "begin with $100", "sk-...ense is stored in a form"])
      expect(seen).toContain(text);
  });

  test("times without a zone are UTC, wherever this process runs", async () => {
    const { TZ } = process.env;
    process.env["TZ"] = "Asia/Shanghai";
    try {
      await fill();
      await run();
    } finally {
      if (TZ === undefined) delete process.env["TZ"];
      else process.env["TZ"] = TZ;
    }
    expect(await rows("select expired_time from tokens where name = 'laptop'")).toEqual([
      { expired_time: Date.UTC(2030, 0, 2, 3, 4, 5) / 1000 },
    ]);
  });

  test("a name that is taken gets another, an address that is taken is left out", async () => {
    const taken = accountRow({ username: "ann-lee", passwordHash: "x", createdAt: 1, email: "ann@example.com" });
    await kit.database.db.insertInto("users").values(taken).execute();
    await fill();
    await run();
    const [own, imported] = await rows("select username, email, quota from users order by id");
    expect(own).toEqual({ username: "ann-lee", email: "ann@example.com", quota: 0 });
    expect(imported).toMatchObject({ email: null, quota: 3_750_000 });
    expect(imported?.["username"]).toMatch(/^Ann-Lee-[0-9a-f]{6}$/);
  });

  test("a dry run reports the same and writes nothing; a second run adds nothing", async () => {
    await fill();
    const dry = await run(true);
    await source.close();
    expect(await rows("select id from users")).toEqual([]);
    expect(await rows("select id from tokens")).toEqual([]);
    const first = await run();
    await source.close();
    expect(dry.lines()).toEqual(first.lines());
    const state = async () =>
      JSON.stringify([
        await rows("select * from users order by id"),
        await rows("select * from tokens order by id"),
        await rows("select * from budgets order by id"),
      ]);
    const before = await state();
    const second = await run();
    expect(await state()).toBe(before);
    for (const what of ["users", "teams", "keys"]) expect(second.of(what)).toMatchObject({ created: 0 });
  });

  const key = { aliases: "{}", models: [] as string[], token: sha256("sk-a"), key_name: "sk-...aaaa" };
  const KEYS = "LiteLLM_VerificationToken";
  const BIG = 2 ** 53;

  // @weakness Money: The dry run of an import from LiteLLM passes where the real run stops half way
  test.each([
    ["LiteLLM_UserTable", { user_id: "u-7", spend: BIG }, "u-7, column spend: $9007199254740992 is more than"],
    ["LiteLLM_UserTable", { user_id: "u-7", spend: -1 }, "u-7, column spend: it is below 0"],
    ["LiteLLM_UserTable", { user_id: "u-7", spend: 18_014_398_509 }, "u-7, column spend: it and the balance together"],
    ["LiteLLM_TeamTable", { team_id: "t-7", rpm_limit: BIG }, "t-7, column rpm_limit: a limit is a whole number"],
    ["LiteLLM_BudgetTable", { budget_id: "b-7", max_budget: BIG }, "b-7, column max_budget: $9007199254740992 is"],
    [KEYS, { ...key, key_alias: "laptop", max_budget: BIG }, "laptop, column max_budget: $9007199254740992 is"],
    [KEYS, { ...key, tpm_limit: BIG }, "sk-...aaaa, column tpm_limit: a limit is a whole number"],
  ] as const)("%s %j is refused with its table, row and column, by the dry run too", async (table, row, place) => {
    await litellm.create(LITELLM);
    await litellm.insert(table, row);
    if (table === "LiteLLM_BudgetTable") await litellm.insert(KEYS, { ...key, budget_id: "b-7" });
    for (const isDry of [true, false]) {
      await expect(run(isDry)).rejects.toThrow(`${table}, row ${place}`);
      await source.close();
    }
    source = openForeign(litellm.url, quietLog);
    expect(await rows("select id from tokens")).toEqual([]);
  });

  test("an end that is no time is refused, not taken for none", async () => {
    await litellm.create({ ...LITELLM, [KEYS]: { ...LITELLM[KEYS], expires: "text" } });
    await litellm.insert(KEYS, { ...key, expires: "next year" });
    for (const isDry of [true, false]) {
      await expect(run(isDry)).rejects.toThrow(`${KEYS}, row sk-...aaaa, column expires: next year is not a time`);
      await source.close();
    }
    source = openForeign(litellm.url, quietLog);
  });

  test("a limit or budget of nothing lets nothing pass, and names that change are said", async () => {
    await litellm.create(LITELLM);
    await litellm.insert(
      "LiteLLM_UserTable",
      { user_id: "u-1", user_alias: "Ann Lee", user_email: "no address", rpm_limit: 0 },
      { user_id: "u-2", user_alias: "bob", max_budget: 0, budget_duration: "30d" },
    );
    await litellm.insert(KEYS, { ...key, key_alias: "laptop", max_parallel_requests: 0, max_budget: 0 });
    const lines = (await run()).lines().join("\n");
    expect(await rows("select username, status, quota from users order by id")).toEqual([
      { username: "Ann-Lee", status: 2, quota: 50_000_000 },
      { username: "bob", status: 1, quota: 0 },
      { username: "litellm", status: 1, quota: 50_000_000 },
    ]);
    expect(await rows("select status, remain_quota, unlimited_quota from tokens")).toEqual([
      { status: 2, remain_quota: 0, unlimited_quota: 0 },
    ]);
    for (const text of [
      "let nothing pass: they are disabled (u-1, laptop)",
      "(Ann Lee: Ann-Lee)",
      "it is left out (Ann Lee)",
    ])
      expect(lines).toContain(text);
  });

  test("one list of budget_fallbacks becomes the key's own, and lists that differ by model do not", async () => {
    await litellm.create({ ...LITELLM, [KEYS]: { ...LITELLM[KEYS], budget_fallbacks: "json" } });
    const [one, two] = [["small", "tiny"], ["tiny"]];
    await litellm.insert(
      KEYS,
      { ...key, key_alias: "a", budget_fallbacks: JSON.stringify({ large: one, huge: one }) },
      { ...key, key_alias: "b", token: sha256("sk-b"), budget_fallbacks: JSON.stringify({ large: one, huge: two }) },
      { ...key, key_alias: "c", token: sha256("sk-c"), budget_fallbacks: "{}" },
    );
    const lines = (await run()).lines().join("\n");
    const own = JSON.stringify(one.map((model) => ({ model, on: ["budget"] })));
    expect(await rows("select name, fallbacks from tokens order by name")).toEqual([
      { name: "a", fallbacks: own },
      { name: "b", fallbacks: null },
      { name: "c", fallbacks: null },
    ]);
    expect(lines).toContain("in place of ModelFallbacks (a)");
    expect(lines).toContain("they are not imported (b)");
  });

  test("refuses a database of something else", async () => {
    await litellm.create({ things: { id: "id" } });
    await expect(run()).rejects.toThrow("this is not a database of LiteLLM: it has no table LiteLLM_VerificationToken");
  });
});
