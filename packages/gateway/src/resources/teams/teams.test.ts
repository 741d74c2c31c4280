import { createDatabase } from "@fairway/testkit/databases";
import { keyHint, type RotatedKey, type TeamToken, type TeamView } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, setOptions } from "../../../test/kit/members.ts";
import { UserAccounts, ACCOUNT_PASSWORD } from "../../../test/kit/user-accounts.ts";

let app: ManagementApp;
let accounts: UserAccounts;
let root: ApiCaller;
const people = new Map<string, ApiCaller>();
let team: TeamView;

const NAMES = ["olga", "adam", "mia", "vera", "stan"] as const;
const person = (name: (typeof NAMES)[number] | "alice"): ApiCaller => people.get(name) as ApiCaller;
const path = (rest = "") => `/api/team/${team.id}${rest}`;
const join = async (who: ApiCaller, role: string) => {
  const { code } = await root.data<{ code: string }>(root.post(path("/invitations"), { role }));
  return who.data(who.post("/api/team/join", { code }));
};

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite"), publicUrl: "https://ai.example.com" });
  accounts = new UserAccounts(app);
  root = await app.signIn("root");
  await accounts.add("alice", { role: 10 });
  for (const name of NAMES) await accounts.add(name, { email: `${name}@example.com` });
  for (const name of [...NAMES, "alice"]) people.set(name, await app.signIn(name, ACCOUNT_PASSWORD));
}, 60_000);
afterAll(() => app.close());

let made = 0;
beforeEach(async () => {
  made += 1;
  team = await root.data<TeamView>(
    root.post("/api/team/", { name: `Research ${made}`, owner_id: accounts.findId("olga"), labels: { cost: "47" } }),
  );
  await join(person("adam"), "admin");
  await join(person("mia"), "member");
  await join(person("vera"), "viewer");
});

describe("a team", () => {
  test("has a wallet, a short name from its name, and is listed for its members", async () => {
    expect(team).toMatchObject({ slug: `research-${made}`, quota: 0, members: 1, role: "", group: "default" });
    const mia = person("mia");
    const [listed] = await mia.data<unknown[]>(mia.get("/api/team/"));
    expect(listed).toMatchObject({ id: team.id, role: "member", members: 4, keys: 0, labels: { cost: "47" } });
    const stan = person("stan");
    expect(await stan.data(stan.get("/api/team/"))).toEqual([]);
    const alice = person("alice");
    expect(await alice.data<unknown[]>(alice.get("/api/team/?label=cost=47"))).toHaveLength(made);
    expect(await alice.data<unknown[]>(alice.get("/api/team/?label=cost=4"))).toHaveLength(0);
    expect(await alice.data<unknown[]>(alice.get("/api/team/?mine=1"))).toHaveLength(0);
  });

  test("is created by administrators, or by everyone if the option says so", async () => {
    const stan = person("stan");
    expect(await readCode(stan.post("/api/team/", { name: "Own" }))).toBe("TM13");
    await setOptions(root, { TeamCreation: "user" });
    const own = await stan.data<TeamView>(stan.post("/api/team/", { name: "Own", slug: "own" }));
    expect(own).toMatchObject({ role: "owner", group: "default" });
    expect(await readCode(stan.post("/api/team/", { name: "Other", slug: "own" }))).toBe("TM6");
    const wider = { name: "More", settings: { groups: ["vip"] } };
    expect(await readCode(stan.post("/api/team/", wider))).toBe("TM20");
    await stan.data(stan.delete(`/api/team/${own.id}?confirm=own`));
    await setOptions(root, { TeamCreation: "admin" });
  });

  test("is changed with If-Match", async () => {
    const olga = person("olga");
    const { headers } = await olga.get(path());
    const tag = { "if-match": String(headers["etag"]) };
    const first = await olga.call("PUT", path(), { body: { description: "one" }, headers: tag });
    expect(first.body["success"]).toBe(true);
    const second = await olga.call("PUT", path(), { body: { description: "two" }, headers: tag });
    expect(second.body["code"]).toBe("G8");
    expect(await olga.data(olga.get(path()))).toMatchObject({ description: "one" });
  });

  test("lets its admins narrow what it may use, and administrators of the installation widen it", async () => {
    const [adam, alice] = [person("adam"), person("alice")];
    const set = (who: ApiCaller, settings: object) => who.put(path(), { settings });
    await alice.data(set(alice, { groups: ["default", "vip"], channels: [1, 2], limits: { rpm: 10 } }));
    await adam.data(set(adam, { groups: ["vip"], channels: [2], limits: { rpm: 5 }, models: ["gpt-*"] }));
    for (const more of [{ groups: ["vip", "default"] }, { channels: [] }, { channels: [3] }, { limits: { rpm: 6 } }])
      expect([more, await readCode(set(adam, more))]).toEqual([more, "TM20"]);
    expect(await readCode(adam.put(path(), { group: "vip" }))).toBe("TM20");
    expect(await readCode(set(alice, { channels: [4, 4] }))).toBe("G2");
    expect((await adam.data<TeamView>(adam.get(path()))).settings).toMatchObject({ channels: [2], models: ["gpt-*"] });
  });

  test("is deleted with its short name, keeps its money, and is restored within the days of the option", async () => {
    const [olga, alice] = [person("olga"), person("alice")];
    await alice.data(alice.post(path("/adjust"), { quota: 70, note: "start" }));
    expect(await readCode(olga.delete(path("?confirm=other")))).toBe("TM12");
    expect(await olga.data(olga.delete(path(`?confirm=${team.slug}`)))).toEqual({ quota: 70 });
    expect(await readCode(olga.get(path()))).toBe("TM1");
    expect(await readCode(olga.post(path("/restore"), {}))).toBe("TM1");
    expect(await readCode(alice.put(path(), { name: "x" }))).toBe("TM1");
    expect(await alice.data(alice.post(path("/restore"), {}))).toMatchObject({ deleted_at: 0, quota: 70, members: 4 });
    expect(await readCode(alice.post(path("/restore"), {}))).toBe("TM14");
    await olga.data(olga.delete(path(`?confirm=${team.slug}`)));
    app.clock.move(31 * 86_400_000);
    for (const name of NAMES) people.set(name, await app.signIn(name, ACCOUNT_PASSWORD));
    people.set("alice", await app.signIn("alice", ACCOUNT_PASSWORD));
    root = await app.signIn("root");
    expect(await readCode(person("alice").post(path("/restore"), {}))).toBe("TM14");
  });
});

describe("members", () => {
  test("are found by all members, and changed by admins within their own rights", async () => {
    const [olga, adam, mia] = [person("olga"), person("adam"), person("mia")];
    const rows = await mia.data<{ username: string; role: string }[]>(mia.get(path("/members")));
    expect(rows.map(({ username, role }) => [username, role])).toEqual([
      ["olga", "owner"],
      ["adam", "admin"],
      ["mia", "member"],
      ["vera", "viewer"],
    ]);
    const of = (name: string) => path(`/members/${accounts.findId(name)}`);
    await adam.data(adam.put(of("mia"), { role: "admin" }));
    expect(await readCode(adam.put(of("mia"), { role: "owner" }))).toBe("TM2");
    expect(await readCode(adam.put(of("olga"), { role: "viewer" }))).toBe("TM2");
    expect(await readCode(adam.delete(of("olga")))).toBe("TM2");
    expect(await readCode(olga.put(of("olga"), { role: "admin" }))).toBe("TM5");
    expect(await readCode(olga.post(path("/leave"), {}))).toBe("TM5");
    expect(await readCode(olga.put(of("stan"), { role: "admin" }))).toBe("TM11");
    await olga.data(olga.put(of("adam"), { role: "owner" }));
    await olga.data(olga.post(path("/leave"), {}));
    expect(await readCode(olga.get(path()))).toBe("TM1");
  });

  test("belong to at most 100 teams", async () => {
    const { db } = app.database;
    const ids = Array.from({ length: 100 }, (_, at) => 100_000 + at);
    const row = { user_id: accounts.findId("stan"), role: "member", source: "manual", added_by: 1, created_at: 1 };
    await db
      .insertInto("team_members")
      .values(ids.map((id) => ({ ...row, team_id: id })))
      .execute();
    const add = root.post(path("/members"), { username: "stan", role: "member" });
    expect(await readCode(add)).toBe("TM9");
    await db.deleteFrom("team_members").where("team_id", "in", ids).execute();
  });

  test("are added by administrators alone, who also end the last owner", async () => {
    const alice = person("alice");
    expect(await readCode(person("olga").post(path("/members"), { username: "stan", role: "member" }))).toBe("TM2");
    await alice.data(alice.post(path("/members"), { username: "stan", role: "member" }));
    expect(await readCode(alice.post(path("/members"), { username: "stan", role: "member" }))).toBe("TM10");
    expect((await alice.post(path("/members"), { username: "unknown", role: "member" })).body["success"]).toBe(false);
    await alice.data(alice.delete(path(`/members/${accounts.findId("olga")}`)));
    const { rows } = {
      rows: await app.database.raw.rows<{ type: string }>("select type from events where team_id = ?", [team.id]),
    };
    expect(rows.map(({ type }) => type)).toContain("team.ownerless");
  });

  test("take away no key that works: it is disabled, or given to the team and replaced", async () => {
    const [olga, mia] = [person("olga"), person("mia")];
    const key = await mia.data<TeamToken>(mia.post(path("/token/"), { name: "mine", unlimited_quota: true }));
    await olga.data(olga.delete(path(`/members/${accounts.findId("mia")}`)));
    const off = await olga.data<TeamToken>(olga.get(path(`/token/${key.id}`)));
    expect(off).toMatchObject({ status: 2, member: accounts.findId("mia"), key: "" });
    expect(await readTokenEvents(key.id)).toEqual(["token.created", "token.disabled its maker left the team"]);
    // The admin who enables it holds it.
    await olga.data(olga.put(path(`/token/${key.id}/status`), { status: 1 }));
    expect(await olga.data(olga.get(path(`/token/${key.id}`)))).toMatchObject({ member: accounts.findId("olga") });

    await olga.data(olga.put(path(), { settings: { on_leave: "transfer" } }));
    await join(mia, "member");
    const given = await mia.data<TeamToken>(mia.post(path("/token/"), { name: "given", unlimited_quota: true }));
    await olga.data(olga.delete(path(`/members/${accounts.findId("mia")}`)));
    const hash = app.vault.hashKey(given.key);
    expect(await app.database.raw.rows("select id from tokens where key_hash = ?", [hash])).toEqual([]);
    expect(await olga.data(olga.get(path(`/token/${given.id}`)))).toMatchObject({ member: 0, status: 1 });
    expect((await readTokenEvents(given.id)).at(-1)).toMatch(/^token.rotated /);
    await join(mia, "member");
    const left = await mia.data<TeamToken>(mia.post(path("/token/"), { name: "left", unlimited_quota: true }));
    await mia.data(mia.post(path("/leave"), {}));
    expect((await readTokenEvents(left.id)).at(-1)).toBe("token.rotation_due its maker left the team");
  });

  /** Returns what the team hears about one of its tokens, oldest first. */
  async function readTokenEvents(id: number): Promise<string[]> {
    const rows = await app.database.raw.rows<{ type: string; data: string }>(
      "select type, data from events where team_id = ? order by id",
      [team.id],
    );
    const all = rows.map(({ type, data }) => ({ type, data: JSON.parse(data) as Record<string, string | number> }));
    const own = all.filter(({ type, data }) => data["id"] === id && type.startsWith("token."));
    return own.map(({ type, data }) => `${type} ${data["reason"] ?? data["by"] ?? ""}`.trim());
  }
});

describe("invitations", () => {
  const invite = (more: object) =>
    root.data<{ id: number; code: string; link: string }>(root.post(path("/invitations"), { role: "member", ...more }));

  test("are used once, raced by two, revoked, expired or for another address", async () => {
    const stan = person("stan");
    const { code, link } = await invite({});
    expect(link).toBe(`https://ai.example.com/team/join?code=${code}`);
    const invited = "select data from events where type = 'team.invited' and team_id = ? order by id desc";
    const [event] = await app.database.raw.rows<{ data: string }>(invited, [team.id]);
    expect(JSON.parse(event?.data ?? "{}")).toMatchObject({ id: team.id, role: "member", by: "root" });
    expect(event?.data).not.toContain(code);
    const vera = person("vera");
    const answers = await Promise.all([stan, vera].map((who) => readCode(who.post("/api/team/join", { code }))));
    expect(answers).toEqual(expect.arrayContaining([expect.stringMatching(/TM3|TM10/)]));
    const { code: second, id } = await invite({});
    await root.data(root.delete(path(`/invitations/${id}`)));
    expect(await readCode(stan.post("/api/team/join", { code: second }))).toBe("TM3");
    expect(await readCode(stan.post("/api/team/join", { code: "unknown" }))).toBe("TM3");
    const { code: mail } = await invite({ email: "someone@else.example" });
    expect(await readCode(stan.post("/api/team/join", { code: mail }))).toMatch(/TM4|TM10/);
    const ulla = app.anonymous();
    await accounts.add("ulla", { email: "ulla@example.com" }).catch(() => undefined);
    await ulla.signIn("ulla", ACCOUNT_PASSWORD);
    const { code: foreign } = await invite({ email: "other@example.com" });
    expect(await readCode(ulla.post("/api/team/join", { code: foreign }))).toBe("TM4");
    const { code: own } = await invite({ email: "Ulla@example.com" });
    expect((await ulla.post("/api/team/join", { code: own })).body["success"]).toBe(true);
    const { code: late } = await invite({ expires_in: 60 });
    app.clock.move(61_000);
    expect(await readCode(stan.post("/api/team/join", { code: late }))).toBe("TM3");
    const stored = await app.database.raw.rows<{ secret_hash: string }>("select secret_hash from team_invitations", []);
    expect(stored.every(({ secret_hash }) => secret_hash !== code)).toBe(true);
  });

  test("never make an owner", async () => {
    expect((await root.post(path("/invitations"), { role: "owner" })).body["success"]).toBe(false);
  });
});

describe("keys", () => {
  test("are made by members, seen by admins without the key, and by no one else", async () => {
    const [adam, mia] = [person("adam"), person("mia")];
    const key = await mia.data<TeamToken>(mia.post(path("/token/"), { name: "app", unlimited_quota: true }));
    expect(key).toMatchObject({ user_id: team.account_id, member: accounts.findId("mia"), member_name: "mia" });
    expect(key.key).toHaveLength(48);
    expect(await mia.data(mia.post(path(`/token/${key.id}/key`), {}))).toEqual({ key: key.key });
    expect(await adam.data(adam.get(path(`/token/${key.id}`)))).toMatchObject({ key: "", name: "app" });
    expect(await readCode(adam.post(path(`/token/${key.id}/key`), {}))).toBe("TM2");
    expect(await readCode(adam.put(path(`/token/${key.id}`), { name: "x" }))).toBe("TM2");
    const alice = person("alice");
    expect(await alice.data(alice.get(path(`/token/${key.id}`)))).toMatchObject({ key: "" });
    expect(await readCode(alice.post(path("/token/"), { name: "x" }))).toBe("TM2");
    await adam.data(adam.put(path(), { settings: { keys_visible: "admins" } }));
    expect(await adam.data(adam.post(path(`/token/${key.id}/key`), {}))).toEqual({ key: key.key });
    expect(await readCode(alice.post(path(`/token/${key.id}/key`), {}))).toBe("TM2");
    // The personal list of the maker does not have it.
    expect(await mia.data(mia.get("/api/token/"))).toEqual([]);
    expect(await readCode(mia.get(`/api/token/${key.id}`))).toBe(await readCode(mia.get("/api/token/999999")));
  });

  test("are replaced by their maker and by admins, who see the new one only where they may read keys", async () => {
    const [adam, mia, vera] = [person("adam"), person("mia"), person("vera")];
    const made = await mia.data<TeamToken>(mia.post(path("/token/"), { name: "app", unlimited_quota: true }));
    const rotate = (who: ApiCaller, grace?: number) =>
      who.post(path(`/token/${made.id}/rotate`), grace === undefined ? {} : { grace_seconds: grace });
    const own = await mia.data<RotatedKey>(rotate(mia));
    expect(own.key).not.toBe(made.key);
    expect(own.old).toHaveLength(1);
    const byAdmin = await adam.data<RotatedKey>(rotate(adam, 0));
    expect(byAdmin).toMatchObject({ key: "", old: [{ hint: keyHint(made.key) }] });
    const { key } = await mia.data<{ key: string }>(mia.post(path(`/token/${made.id}/key`), {}));
    expect(keyHint(key)).toBe(byAdmin.hint);
    expect(await readCode(rotate(vera))).toBe("K2");
    await adam.data(adam.put(path(), { settings: { keys_visible: "admins" } }));
    expect((await adam.data<RotatedKey>(rotate(adam, 0))).key).toHaveLength(48);
  });

  test("lose nothing that calls spent while a form was open", async () => {
    const mia = person("mia");
    const made = await mia.data<TeamToken>(mia.post(path("/token/"), { name: "app", remain_quota: 100 }));
    await app.database.raw.run("update tokens set remain_quota = 70 where id = ?", [made.id]);
    const form = { name: "shop", remain_quota: 150, original_remain_quota: 100 };
    expect(await mia.data(mia.put(path(`/token/${made.id}`), form))).toMatchObject({ name: "shop", remain_quota: 120 });
  });

  test("follow the settings of the team", async () => {
    const [adam, mia] = [person("adam"), person("mia")];
    await adam.data(adam.put(path(), { settings: { max_keys_per_member: 1, max_key_days: 2 } }));
    const now = Math.floor(app.clock.now() / 1000);
    expect(await readCode(mia.post(path("/token/"), { name: "long" }))).toBe("TM16");
    const soon = { name: "soon", expired_time: now + 86_400, unlimited_quota: true };
    await mia.data(mia.post(path("/token/"), soon));
    expect(await readCode(mia.post(path("/token/"), soon))).toBe("TM15");
    await adam.data(adam.put(path(), { settings: { who_makes_keys: "admins" } }));
    expect(await readCode(mia.post(path("/token/"), soon))).toBe("TM2");
    const other = { ...soon, service_account_id: 99 };
    expect(await readCode(adam.post(path("/token/"), other))).toBe("TM17");
  });
});

describe("money", () => {
  const transfer = (who: ApiCaller, quota: number, key?: string) =>
    who.call("POST", path("/transfer"), { body: { quota }, ...(key && { headers: { "idempotency-key": key } }) });

  test("is moved from an owner in two rows, once for a key", async () => {
    const olga = person("olga");
    await app.database.raw.run("update users set quota = 1000 where username = 'olga'", []);
    expect((await transfer(olga, 300, "k1")).body).toMatchObject({ success: true, data: { quota: 300 } });
    expect((await transfer(olga, 300, "k1")).body).toMatchObject({ success: true, data: { quota: 300 } });
    expect((await transfer(olga, 301, "k1")).body["code"]).toBe("G12");
    expect((await transfer(olga, 701)).body["code"]).toBe("TM19");
    expect((await transfer(person("adam"), 1)).body["code"]).toBe("TM2");
    const rows = await app.database.raw.rows(
      "select user_id, kind, quota from ledger where user_id in (?, ?) and kind = 'transfer' order by quota",
      [team.account_id, accounts.findId("olga")],
    );
    expect(rows).toEqual([
      { user_id: accounts.findId("olga"), kind: "transfer", quota: -300 },
      { user_id: team.account_id, kind: "transfer", quota: 300 },
    ]);
    const held = await app.database.raw.rows("select held from users where id = ?", [accounts.findId("olga")]);
    expect(held).toEqual([{ held: 0 }]);
  });

  test("is adjusted by administrators, and not through the calls for users", async () => {
    const alice = person("alice");
    expect(await alice.data(alice.post(path("/adjust"), { quota: 50, note: "gift" }))).toEqual({ quota: 50 });
    expect((await alice.post(path("/adjust"), { quota: -51 })).body["success"]).toBe(false);
    expect(await readCode(person("olga").post(path("/adjust"), { quota: 5 }))).toBe("TM2");
    const body = { id: team.account_id, action: "add_quota", value: 5 };
    expect(await readCode(root.post("/api/user/manage", body))).toBe("TM8");
    const log = await alice.data<{ items: { content: string }[] }>(alice.get(path("/log")));
    expect(log.items.map(({ content }) => content)).toEqual([
      expect.stringMatching(/^The administrator changed the balance of the team from .*: gift$/),
    ]);
  });
});

describe("budgets", () => {
  test("of the team, its wallet, members and keys are listed for members, and no others", async () => {
    const mia = person("mia");
    const key = await mia.data<TeamToken>(mia.post(path("/token/"), { name: "app", unlimited_quota: true }));
    const other = await root.data<TeamView>(root.post("/api/team/", { name: `Other ${made}` }));
    const subjects = [
      ["team", String(team.id)],
      ["user", String(team.account_id)],
      ["member", `${team.id}:${accounts.findId("mia")}`],
      ["token", String(key.id)],
    ];
    for (const [scope, subject] of [...subjects, ["team", String(other.id)], ["user", String(accounts.findId("mia"))]])
      await root.data(root.post("/api/budget/", { scope, subject, period: "month", quota_limit: 500 }));
    const listed = await mia.data<{ scope: string; subject: string }[]>(mia.get(path("/budget/")));
    expect(listed.map(({ scope, subject }) => [scope, subject])).toEqual(subjects);
  });
});

describe("what was done", () => {
  test("is in the audit of the team for its admins, without addresses", async () => {
    const adam = person("adam");
    await adam.data(adam.put(path(), { description: "new" }));
    const rows = await adam.data<{ action: string; ip: string; username: string }[]>(adam.get(path("/audit")));
    expect(rows[0]).toMatchObject({ action: "teamUpdate", username: "adam", ip: "" });
    expect(rows.some(({ action }) => action === "teamCreate")).toBe(true);
    expect(await readCode(person("vera").get(path("/audit")))).toBe("TM2");
  });
});
