// Imports that are started in the console: an upload, a configuration, a running gateway.
import { readFile } from "node:fs/promises";
import type { ImportRun } from "@fairway/wire";
import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startFamily, startPlain } from "../../../../test/import/recorded-gateway.ts";
import { channel, KEYS, token, user } from "../../../../test/import/rows.ts";
import { NEW_API, SourceDatabase } from "../../../../test/import/source-database.ts";
import { startManagementApp, type ManagementApp } from "../../../../test/kit/management-app.ts";
import { readCode, signInMembers, type Members } from "../../../../test/kit/members.ts";
import { checkBalances } from "../../../billing/audit/balances.ts";
import { checkLedgerSums } from "../../../billing/audit/sums.ts";

const CANARY = "canary-77d1";

let app: ManagementApp;
let members: Members;
beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
});
afterAll(() => app.close());

/** Sends a body of bytes, which the usual caller does not. */
async function upload(bytes: Uint8Array, query: string, who = members.root): Promise<Record<string, unknown>> {
  const response = await fetch(`${app.baseUrl}/api/import/database?${query}`, {
    method: "POST",
    headers: {
      cookie: who.cookie,
      "new-api-user": String(who.userId),
      "content-type": "application/octet-stream",
    },
    body: Buffer.from(bytes),
  });
  return (await response.json()) as Record<string, unknown>;
}

async function ended(started: Promise<Record<string, unknown>>): Promise<ImportRun> {
  const answer = await started;
  if (answer["success"] !== true) throw new Error(`refused: ${JSON.stringify(answer)}`);
  const { id } = answer["data"] as { id: number };
  let run: ImportRun | undefined;
  await expect
    .poll(async () => (run = await members.root.data<ImportRun>(members.root.get(`/api/import/run/${id}`))).status, {
      timeout: 15_000,
    })
    .not.toBe("running");
  return run as ImportRun;
}

const start = async (path: string, body: object) => (await members.root.post(path, body)).body;
const countOf = (run: ImportRun, what: string) => run.counts.find((count) => count.what === what);
const all = (sql: string) => app.database.raw.rows<Record<string, unknown>>(sql, []);

const listDifferences = async () => {
  const { raw } = app.database;
  return [...(await checkLedgerSums(raw)), ...(await checkBalances(raw, false))];
};

async function makeDatabase(): Promise<Buffer> {
  const url = await createDatabase("sqlite");
  const source = new SourceDatabase(url, "sqlite");
  await source.create(NEW_API);
  await source.insert("users", user(7, "ada", { quota: 5_000_000, used_quota: 40 }), user(8, "bob"));
  await source.insert("tokens", token(1, 7), token(2, 8));
  await source.insert("channels", channel(4, 1, { key: `sk-${CANARY}`, name: "harbour" }), channel(5, 999));
  await source.insert("options", { key: "QuotaForNewUser", value: "77" }, { key: "Theme", value: "berry" });
  return readFile(url.replace(/^sqlite:(?:\/\/)?/, ""));
}

test("a database is tried, imported with its money and its keys, and imported again without a change", async () => {
  const file = await makeDatabase();
  const before = await all("select * from users");
  const query = `name=one-api.db&bytes=${file.length}`;
  const dry = await ended(upload(file, `${query}&dry_run=true`));
  expect(dry).toMatchObject({ status: "done", dry_run: true, source: "database", place: "one-api.db", reason: "" });
  expect(countOf(dry, "users")).toEqual({ what: "users", created: 2, updated: 0, unchanged: 0, skipped: 0 });
  expect(countOf(dry, "channels")).toMatchObject({ created: 1, skipped: 1 });
  expect(dry.notes).toContain("options that this gateway does not have: Theme");
  expect(dry.notes.join("\n")).toMatch(/the channel channel 5 has the type 999/);
  expect(await all("select * from users")).toEqual(before);

  const made = await ended(upload(file, query));
  expect(made).toMatchObject({ status: "done", dry_run: false });
  expect(made.counts).toEqual(dry.counts);
  expect(made.notes).toEqual(dry.notes);
  const [ada] = await all("select quota, used_quota from users where username = 'ada'");
  expect(ada).toEqual({ quota: 5_000_000, used_quota: 40 });
  const ledger = await all("select kind, quota from ledger where request_id = 'import-user-7' order by kind");
  expect(ledger).toEqual([
    { kind: "adjust", quota: 5_000_040 },
    { kind: "consume", quota: -40 },
  ]);
  const key = await app.database.db
    .selectFrom("tokens")
    .select("name")
    .where("key_hash", "=", app.vault.hashKey(KEYS[0] ?? ""))
    .execute();
  expect(key).toEqual([{ name: "token 1" }]);
  expect(app.snapshots.current().options).toMatchObject({ QuotaForNewUser: 77 });

  const again = await ended(upload(file, query));
  expect(countOf(again, "users")).toMatchObject({ created: 0, updated: 0, unchanged: 2 });
  expect(countOf(again, "tokens")).toMatchObject({ created: 0, unchanged: 2 });
  expect(countOf(again, "channels")).toMatchObject({ created: 0, unchanged: 1, skipped: 1 });
  expect(await all("select kind, quota from ledger where request_id = 'import-user-7' order by kind")).toEqual(ledger);
  expect(await listDifferences()).toEqual([]);
});

test("a file that is too large, cut or something else is refused or fails with the reason", async () => {
  expect(await upload(Buffer.alloc(9 * 1_048_576), "name=big.db")).toMatchObject({ success: false, code: "IM3" });
  expect(await upload(Buffer.from("half"), "name=cut.db&bytes=8")).toMatchObject({ success: false, code: "IM4" });
  expect(await upload(Buffer.alloc(0), "name=empty.db")).toMatchObject({ success: false, code: "IM4" });
  const run = await ended(upload(Buffer.from("hello"), "name=hello.txt"));
  expect(run).toMatchObject({ status: "failed", reason: expect.stringContaining("it is no SQLite file") as string });
});

test("only a super administrator with a recent proof may import; tokens of the API may not", async () => {
  const body = { config: "model_list: []" };
  expect(await readCode(members.admin.post("/api/import/config", body))).toBe("AU7");
  expect(await readCode(members.admin.get("/api/import/run/"))).toBe("AU7");
  expect(await upload(Buffer.from("x"), "name=x", members.admin)).toMatchObject({ success: false, code: "AU7" });
  expect(await readCode(members.root.get("/api/import/run/999999"))).toBe("IM2");
  app.clock.move(6 * 60);
  expect(await readCode(members.root.post("/api/import/config", body))).toBe("AU10");
  expect(await upload(Buffer.from("x"), "name=x")).toMatchObject({ success: false, code: "AU10" });
  members = { ...members, root: await app.signIn("root") };
});

test("a configuration is imported with its losses; its keys are in no row of the audit log and no report", async () => {
  const config = `model_list:\n  - model_name: fast\n    litellm_params: { model: openai/gpt-4o-mini, api_key: sk-${CANARY}-file, region: here }\n`;
  const run = await ended(start("/api/import/config", { config, name: "litellm.yaml" }));
  expect(run).toMatchObject({ status: "done", source: "config", place: "litellm.yaml" });
  expect(countOf(run, "channels")).toMatchObject({ created: 1 });
  expect(run.notes).toContain("region of fast is not imported");
  const none = await ended(start("/api/import/config", { config: `key: sk-${CANARY}` }));
  expect(none).toMatchObject({ status: "failed", reason: expect.stringContaining("not a configuration") as string });
  const rows = await all("select * from audit_log where action like 'import%'");
  expect(rows.map(({ action }) => action)).toContain("importConfigStart");
  const runs = await members.root.data<ImportRun[]>(members.root.get("/api/import/run/"));
  expect(runs[0]?.id).toBe(none.id);
  for (const stored of [rows, runs, await all("select * from events"), await all("select * from jobs")])
    expect(JSON.stringify(stored)).not.toContain(CANARY);
});

const CHANNEL = { ...channel(3, 1), key: "", name: "upstream", proxy: "" };
const lists = {
  "/api/channel/": [
    ...Array.from({ length: 23 }, (_, at) => ({ ...CHANNEL, id: at + 100, name: `pier ${at}` })),
    { ...CHANNEL, id: 200, name: "special", type: 36 },
  ],
  "/api/user/": [
    { ...user(1, "root"), role: 100, password: "" },
    { ...user(2, "eve", { quota: 4_000_000, used_quota: 0 }), password: "", DeletedAt: null },
  ],
  "/api/token/": [
    { ...token(1, 1), key: "z".repeat(48), name: "shown" },
    { ...token(2, 1), key: "abcd**********wxyz", name: "starred" },
  ],
  "/api/redemption/": [
    { id: 1, user_id: 1, key: "r".repeat(32), status: 1, name: "code", quota: 1000, created_time: 1, redeemed_time: 0 },
  ],
};
const answers = {
  "/api/user/self": { ...user(1, "root"), role: 100 },
  "/api/status": { quota_per_unit: 1_000_000 },
  "/api/option/": [{ key: "RetryTimes", value: "4" }],
};

test.each(["one-api", "new-api", "one-hub"] as const)(
  "a running %s is read whole and imported once",
  async (family) => {
    await app.database.raw.run("delete from channels where name like 'pier%' or name = 'special'", []);
    await app.database.raw.run("delete from tokens where name in ('shown', 'starred')", []);
    const { address, seen } = await startFamily(family, { token: CANARY, lists, answers });
    const body = { from: family, address: `${address}/`, token: CANARY };
    const before = await all("select id from channels");
    const dry = await ended(start("/api/import/server", { ...body, dry_run: true }));
    expect(dry).toMatchObject({ status: "done", source: family, place: new URL(address).host });
    expect(await all("select id from channels")).toEqual(before);
    expect(seen.every((one) => one.startsWith("GET "))).toBe(true);
    const run = await ended(start("/api/import/server", body));
    expect(run.counts).toEqual(dry.counts);
    expect(run.notes).toContain("amounts are converted: a dollar is 1000000 units there, 500000 here");
    const [eve] = await all("select quota, password from users where username = 'eve'");
    expect(eve).toEqual({ quota: 2_000_000, password: "!" });
    const [root] = await all("select id, role, password from users where username = 'root'");
    expect(root?.["password"]).not.toBe("!");
    const names = (await all("select name from channels where name like 'pier%'")).map(({ name }) => name);
    expect(new Set(names).size).toBe(23);
    const [special] = await all("select type, status from channels where name = 'special'");
    expect(special).toMatchObject({ type: { "one-api": 43, "new-api": 36, "one-hub": 34 }[family], status: 2 });
    const tokens = await all("select name from tokens where name in ('shown', 'starred') order by name");
    expect(tokens).toEqual([{ name: "shown" }, { name: "starred" }]);
    const shown = await all(`select user_id from tokens where key_hash = '${app.vault.hashKey("z".repeat(48))}'`);
    expect(shown).toEqual([{ user_id: root?.["id"] }]);
    await app.database.raw.run("update channels set key_hash = 'set here' where name = 'pier 1'", []);
    const again = await ended(start("/api/import/server", body));
    for (const what of ["channels", "users", "tokens", "redemption codes"])
      expect(countOf(again, what), what).toMatchObject({ created: 0, updated: 0 });
    expect(JSON.stringify([await all("select * from audit_log"), run])).not.toContain(CANARY);
    expect(await listDifferences()).toEqual([]);
  },
);

test("a running LiteLLM shows its models, and its keys still work", async () => {
  const hash = "c".repeat(64);
  const { address } = await startPlain((path, query, key) => {
    if (key !== `Bearer ${CANARY}`) return undefined;
    const isFirst = (query.get("page") ?? "1") === "1";
    switch (path) {
      case "/model/info":
        return {
          data: [
            {
              model_name: "quick",
              litellm_params: { model: "openai/gpt-4o-mini", use_in_pass_through: false },
              model_info: { input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 },
            },
          ],
        };
      case "/user/list":
        return { users: isFirst ? [{ user_id: "u-1", user_email: "eve@example.com", spend: 1, models: [] }] : [] };
      case "/key/list":
        return {
          keys: isFirst ? [{ token: hash, key_name: "sk-...end1", key_alias: "ci", user_id: "u-1", models: [] }] : [],
          total_pages: 1,
        };
      case "/team/list":
      case "/budget/list":
        return [];
      default:
        return undefined;
    }
  });
  const body = { from: "litellm", address, token: CANARY };
  const run = await ended(start("/api/import/server", body));
  expect(run).toMatchObject({ status: "done", reason: "" });
  expect(countOf(run, "channels")).toMatchObject({ created: 1 });
  expect(countOf(run, "keys")).toMatchObject({ created: 1 });
  expect(run.notes).toContain("its organizations could not be read: they need its database");
  expect(await all("select name from tokens where name = 'ci'")).toHaveLength(1);
  const again = await ended(start("/api/import/server", body));
  expect(countOf(again, "channels")).toMatchObject({ unchanged: 1, created: 0 });
  expect(countOf(again, "keys")).toMatchObject({ unchanged: 1, created: 0 });
});

test("addresses of the cloud's own services are not called, and refusals are said without the token", async () => {
  for (const address of ["http://169.254.169.254", "http://metadata.google.internal"]) {
    const run = await ended(start("/api/import/server", { from: "new-api", address, token: CANARY }));
    expect(run).toMatchObject({ status: "failed", reason: expect.stringContaining("is not allowed") as string });
  }
  const { address } = await startFamily("new-api", { token: "another", lists, answers });
  const run = await ended(start("/api/import/server", { from: "new-api", address, token: CANARY }));
  expect(run.reason).toContain("refused: no such token");
  const plain = await startFamily("new-api", {
    token: CANARY,
    lists,
    answers: { ...answers, "/api/user/self": { ...user(5, "eve"), role: 10 } },
  });
  const weak = await ended(start("/api/import/server", { from: "new-api", address: plain.address, token: CANARY }));
  expect(weak.reason).toContain("not that of a super administrator");
  for (const bad of ["ftp://x", "https://u:p@x.example", "https://x.example/path"])
    expect(await start("/api/import/server", { from: "new-api", address: bad, token: "t" })).toMatchObject({
      success: false,
    });
});

test("one import runs at a time", async () => {
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  await app.operations.jobs.run({ name: "import", startedBy: 1, run: () => gate });
  expect(await start("/api/import/config", { config: "model_list: []" })).toMatchObject({
    success: false,
    code: "IM1",
  });
  release();
});
