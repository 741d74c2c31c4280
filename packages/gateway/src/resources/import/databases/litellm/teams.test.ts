import { createHash } from "node:crypto";
import { createDatabase, eachDatabase } from "@fairway/testkit/databases";
import { readStoredTagLimits, readTeamSettings } from "@fairway/wire";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { SourceDatabase, LITELLM } from "../../../../../test/import/source-database.ts";
import { quietLog } from "../../../../../test/kit/support.ts";
import { openStoreKit, type StoreKit } from "../../../../../test/kit/store-kit.ts";
import { checkBalances } from "../../../../billing/audit/balances.ts";
import { checkLedgerSums } from "../../../../billing/audit/sums.ts";
import { accountRow } from "../../../../identity/accounts/accounts.ts";
import { openForeign, type ForeignDatabase } from "../../../../storage/foreign.ts";
import { GroupNames } from "../../groups.ts";
import { ImportReport } from "../../report.ts";
import { importDatabase } from "./database.ts";

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
const KEYS = "LiteLLM_VerificationToken";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

eachDatabase("import of teams of LiteLLM", (open) => {
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

  const run = async () => {
    source = openForeign(litellm.url, quietLog);
    const { database, clock, vault } = kit;
    const report = new ImportReport();
    const progress = { onProgress: () => {}, credit: 100, report, groups: new GroupNames() };
    await importDatabase({ source, target: database, vault, clock, isDry: false, ...progress });
    return report;
  };
  const rows = (sql: string) => kit.database.raw.rows<Record<string, string | number | null>>(sql, []);

  test("teams have their members, caps and keys, and a second run changes nothing", async () => {
    const root = accountRow({ username: "root", passwordHash: "x", createdAt: 1, role: 100 });
    await kit.database.db.insertInto("users").values(root).execute();
    await litellm.create(LITELLM);
    const people = ["ann", "bob", "eve"].map((name) => ({ user_id: name, user_alias: name }));
    await litellm.insert("LiteLLM_UserTable", ...people);
    await litellm.insert("LiteLLM_OrganizationTable", {
      organization_id: "o",
      organization_alias: "Lab",
      budget_id: "b",
    });
    await litellm.insert("LiteLLM_ProjectTable", { project_id: "p", project_alias: "Shop" });
    await litellm.insert("LiteLLM_BudgetTable", { budget_id: "b", max_budget: 3, budget_duration: "90m" });
    const members = [
      { role: "user", user_id: "bob" },
      { role: "admin", user_id: "ann" },
      { role: "admin", user_id: "gone" },
    ];
    await litellm.insert(
      "LiteLLM_TeamTable",
      {
        team_id: "t-1",
        team_alias: "Data Lab",
        organization_id: "o",
        members_with_roles: JSON.stringify(members),
        model_max_budget: '{"gpt-4o":{"budget_limit":"2","time_period":"1d"},"o3":1.5,"none":"x"}',
        max_budget: 10,
        soft_budget: 6,
        budget_duration: "48h",
        rpm_limit: 60,
      },
      { team_id: "t-2", team_alias: "data lab", blocked: true, max_budget: 4, spend: 1 },
    );
    await litellm.insert("LiteLLM_TeamMembership", { user_id: "bob", team_id: "t-1", spend: 0.5, budget_id: "b" });
    const plain = { aliases: "{}", models: [] as string[] };
    await litellm.insert(
      KEYS,
      { ...plain, token: sha256("sk-1"), key_alias: "bobs", team_id: "t-1", user_id: "bob", project_id: "p" },
      {
        ...plain,
        token: sha256("sk-2"),
        key_alias: "job",
        team_id: "t-1",
        auto_rotate: true,
        rotation_interval: "30d",
      },
      { ...plain, token: sha256("sk-3"), key_alias: "eves", team_id: "t-1", user_id: "eve" },
      { ...plain, token: sha256("sk-4"), key_alias: "lost", team_id: "t-9", models: ["gpt-*"] },
    );
    const first = await run();
    await source.close();
    const seen = (await rows("select name, slug, labels, settings, status from teams order by id")).map((team) => ({
      ...team,
      slug: String(team["slug"]).replace(/-[0-9a-f]{6}$/, "-MARK"),
    }));
    expect(seen).toEqual([
      {
        name: "Data Lab",
        slug: "data-lab",
        labels: '{"organization":"Lab"}',
        settings: '{"limits":{"rpm":60}}',
        status: 1,
      },
      { name: "data lab", slug: "data-lab-MARK", labels: "", settings: "", status: 2 },
      { name: "t-9", slug: "t-9", labels: "", settings: "", status: 1 },
    ]);
    const roles =
      "select t.name, u.username, m.role from team_members m join teams t on t.id = m.team_id join users u on u.id = m.user_id order by t.id, u.username";
    expect((await rows(roles)).map((row) => Object.values(row).join(" "))).toEqual([
      "Data Lab ann owner",
      "Data Lab bob member",
      "data lab root owner",
    ]);
    const budgets =
      "select scope, period, length, filter_model, quota_limit, soft_percent, used from budgets order by scope, filter_model";
    expect((await rows(budgets)).map((row) => Object.values(row).join(" "))).toEqual([
      "member hours 1  1500000 80 0",
      "team hours 48  5000000 60 0",
      "team day 0 gpt-4o 1000000 80 0",
      "team hours 48 o3 750000 80 0",
    ]);
    const holders =
      "select k.name, u.username, s.name as service, k.fixed_tags, k.rotate_days from tokens k left join users u on u.id = k.member_id left join service_accounts s on s.id = k.service_account_id order by k.name";
    expect(
      (await rows(holders)).map((row) =>
        Object.values(row)
          .map((value) => value ?? "-")
          .join(" "),
      ),
    ).toEqual(['bobs bob - {"project":"Shop"} 0', "eves - imported - 0", "job - imported - 30", "lost - imported - 0"]);
    expect(await rows("select quota, used_quota from users where kind = 1 order by id")).toMatchObject([
      { quota: 50_000_000, used_quota: 0 },
      { quota: 1_500_000, used_quota: 500_000 },
      { quota: 50_000_000 },
    ]);
    const lines = first.lines().join("\n");
    for (const text of [
      "(gone of t-1)",
      "organizations have budgets",
      "last 90m: here 1 hours",
      "no amount that can be read",
      "name models by patterns",
    ])
      expect(lines).toContain(text);
    expect([...(await checkLedgerSums(kit.database.raw)), ...(await checkBalances(kit.database.raw, false))]).toEqual(
      [],
    );
    const readState = async () =>
      JSON.stringify(await Promise.all(TABLES.map((table) => rows(`select * from ${table}`))));
    const before = await readState();
    const second = await run();
    expect(await readState()).toBe(before);
    expect(second.of("teams")).toMatchObject({ created: 0, unchanged: 3 });
  });

  test("end users who are blocked there are blocked for each account and team that is imported", async () => {
    const root = accountRow({ username: "root", passwordHash: "x", createdAt: 1, role: 100 });
    await kit.database.db.insertInto("users").values(root).execute();
    await litellm.create(LITELLM);
    await litellm.insert("LiteLLM_UserTable", { user_id: "ann", user_alias: "ann" });
    await litellm.insert("LiteLLM_TeamTable", { team_id: "t-1", team_alias: "Lab", members_with_roles: "[]" });
    const long = "x".repeat(65);
    await litellm.insert("LiteLLM_BudgetTable", { budget_id: "b", max_budget: 1 });
    await litellm.insert(
      "LiteLLM_EndUserTable",
      { user_id: "42", blocked: true },
      { user_id: "free", blocked: false, budget_id: "b" },
      { user_id: long, blocked: true },
    );
    const report = await run();
    const hash = `sha256:${sha256(long).slice(0, 32)}`;
    const blocked = { end_user: { "42": { blocked: true }, [hash]: { blocked: true } } };
    const people = await rows("select username, tag_limits from users where kind = 0 order by id");
    expect(people.map((row) => [row["username"], readStoredTagLimits(String(row["tag_limits"] ?? ""))])).toEqual([
      ["root", undefined],
      ["ann", blocked],
    ]);
    const [team] = await rows("select settings from teams");
    expect(readTeamSettings(String(team?.["settings"]))?.tag_limits).toEqual(blocked);
    const lines = report.lines().join("\n");
    expect(lines).toContain("2 end users are blocked");
    expect(lines).toContain("end users have budgets, and no account that is known to use them");
  });

  test("budgets of end users and tags belong to the accounts and teams whose keys used them", async () => {
    const root = accountRow({ username: "root", passwordHash: "x", createdAt: 1, role: 100 });
    await kit.database.db.insertInto("users").values(root).execute();
    await litellm.create(LITELLM);
    const [ofAnn, ofTeam] = [sha256("ann's"), sha256("the lab's")];
    await litellm.insert("LiteLLM_UserTable", { user_id: "ann", user_alias: "ann" });
    await litellm.insert("LiteLLM_TeamTable", { team_id: "t-1", team_alias: "Lab", members_with_roles: "[]" });
    await litellm.insert(
      "LiteLLM_VerificationToken",
      { token: ofAnn, key_alias: "own", user_id: "ann", metadata: '{"tags":["shop","spare"]}' },
      { token: ofTeam, key_alias: "lab", team_id: "t-1", metadata: '{"tags":[]}' },
    );
    await litellm.insert(
      "LiteLLM_BudgetTable",
      { budget_id: "month", max_budget: 10, budget_duration: "30d" },
      { budget_id: "ever", max_budget: 2, rpm_limit: 5 },
      { budget_id: "nothing", max_budget: 0 },
      { budget_id: "no call", max_budget: 5, rpm_limit: 0 },
    );
    await litellm.insert(
      "LiteLLM_EndUserTable",
      { user_id: "42", spend: 3, budget_id: "month" },
      { user_id: "both", spend: 7, budget_id: "month" },
      { user_id: "idle", budget_id: "month" },
      { user_id: "broke", budget_id: "nothing" },
      { user_id: "stopped", budget_id: "no call" },
    );
    await litellm.insert("LiteLLM_TagTable", { tag_name: "shop", spend: 0.5, budget_id: "ever" });
    const now = new Date(kit.clock.now());
    const today = now.toISOString().slice(0, 10);
    const before = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0)).toISOString().slice(0, 10);
    const day = (id: string, user: string, rest: object) => ({ id, end_user_id: user, date: today, ...rest });
    await litellm.insert(
      "LiteLLM_DailyEndUserSpend",
      day("a", "42", { api_key: ofTeam, spend: 1 }),
      day("b", "both", { api_key: ofAnn, spend: 1.25 }),
      day("c", "both", { api_key: ofAnn, spend: 2, date: before }),
      day("d", "both", { api_key: ofTeam, spend: 4 }),
      day("e", "both", { api_key: "of nobody", spend: 4 }),
    );
    await litellm.insert("LiteLLM_DailyTagSpend", { id: "f", tag: "shop", date: before, api_key: ofAnn, spend: 0.5 });
    const report = await run();
    const shown =
      "select b.scope, u.username, b.subject, b.period, b.quota_limit, b.used from budgets b join users u on b.subject like concat(u.id, '/%') order by b.subject";
    const ofPayers = (await rows(shown)).map(({ scope, username, subject, period, quota_limit, used }) => [
      scope,
      username,
      String(subject).replace(/^\d+/, ""),
      `${period} ${used} of ${quota_limit}`,
    ]);
    expect(ofPayers.toSorted((a, b) => a.join(" ").localeCompare(b.join(" ")))).toEqual([
      ["end_user", "ann", "/both", "month 625000 of 5000000"],
      ["end_user", "Lab", "/42", "month 1500000 of 5000000"],
      ["end_user", "Lab", "/both", "month 2000000 of 5000000"],
      ["tag", "ann", "/tag=shop", "total 250000 of 1000000"],
    ]);
    expect(await rows("select name, fixed_tags from tokens order by name")).toEqual([
      { name: "lab", fixed_tags: null },
      { name: "own", fixed_tags: '{"tag":"shop"}' },
    ]);
    const lines = report.lines().join("\n");
    for (const text of [
      "budgets of end users: 3 created",
      "several accounts share the budget of end users: here each has the whole amount (both)",
      "no account that is known to use them: none is made (idle)",
      "set tag_limits of the accounts and teams (shop)",
      "keys have several tags: here they have the first (own)",
      "once the option TagPolicy names it",
      "a budget or a limit of 0: block them in tag_limits of the accounts and teams (broke, stopped)",
    ])
      expect(lines).toContain(text);
    expect(lines).not.toContain("they are disabled");
    const again = await run();
    expect(again.of("budgets of end users")).toMatchObject({ created: 0, unchanged: 3 });
    expect(again.of("budgets of tags")).toMatchObject({ created: 0, unchanged: 1 });
  });
});
