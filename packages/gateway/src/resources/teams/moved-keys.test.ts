import { createDatabase } from "@fairway/testkit/databases";
import type { Budget, Output, TeamToken, TeamView, Token, tokenMove } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode } from "../../../test/kit/members.ts";
import { ACCOUNT_PASSWORD, UserAccounts } from "../../../test/kit/user-accounts.ts";

/** Keys that move between people and teams. */

type Moved = Output<typeof tokenMove.data>;

let app: ManagementApp;
let accounts: UserAccounts;
let root: ApiCaller;
const people = new Map<string, ApiCaller>();
let team: TeamView;
let made = 0;

const NAMES = ["olga", "mia", "vera", "stan"] as const;
const person = (name: (typeof NAMES)[number] | "alice"): ApiCaller => people.get(name) as ApiCaller;
const idOf = (name: string) => accounts.findId(name);

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  accounts = new UserAccounts(app);
  root = await app.signIn("root");
  await accounts.add("alice", { role: 10 });
  for (const name of NAMES) await accounts.add(name);
  for (const name of [...NAMES, "alice"]) people.set(name, await app.signIn(name, ACCOUNT_PASSWORD));
}, 60_000);
afterAll(() => app.close());
beforeEach(async () => {
  made += 1;
  team = await makeTeam(`Team ${made}`);
});

async function makeTeam(name: string, settings: object = {}): Promise<TeamView> {
  const view = await root.data<TeamView>(root.post("/api/team/", { name, owner_id: idOf("olga"), settings }));
  await root.data(root.post(`/api/team/${view.id}/members`, { username: "mia", role: "member" }));
  await root.data(root.post(`/api/team/${view.id}/members`, { username: "vera", role: "viewer" }));
  return view;
}

const makeOwn = (who: ApiCaller, more: object = {}) =>
  who.data<Token>(who.post("/api/token/", { name: "app", unlimited_quota: true, ...more }));
const makeInTeam = (who: ApiCaller, { id }: TeamView, more: object = {}) =>
  who.data<TeamToken>(who.post(`/api/team/${id}/token/`, { name: "app", unlimited_quota: true, ...more }));
const move = (who: ApiCaller, id: number, to: object) => who.post(`/api/token/${id}/move`, to);
const moved = (who: ApiCaller, id: number, to: object) => who.data<Moved>(move(who, id, to));

describe("a moved key", () => {
  test("keeps its text, name, limits, replaced keys and budgets, and has another id", async () => {
    const mia = person("mia");
    const expires = Math.floor(app.clock.now() / 1000) + 86_400;
    const more = { allow_ips: "10.0.0.1", model_limits_enabled: true, model_limits: "gpt-4o", expired_time: expires };
    const own = await makeOwn(mia, { ...more, limits: { rpm: 5 } });
    await mia.data(mia.post(`/api/token/${own.id}/rotate`, { grace_seconds: 3_600 }));
    const { key } = await mia.data<Token>(mia.get(`/api/token/${own.id}`));
    const budget = { scope: "token", subject: String(own.id), period: "month", quota_limit: 500 };
    const { id: budgetId } = await root.data<Budget>(root.post("/api/budget/", budget));
    await app.database.raw.run("update budgets set used = 70 where id = ?", [budgetId]);
    const { id, ...rest } = await moved(mia, own.id, { team_id: team.id });
    expect(rest).toEqual({ team_id: team.id, user_id: team.account_id, remain_quota: 0, held: 0 });
    const found = await mia.data<TeamToken>(mia.get(`/api/team/${team.id}/token/${id}`));
    expect(found).toMatchObject({ ...more, key, name: "app", member: idOf("mia"), used_quota: 0, limits: { rpm: 5 } });
    expect(await readCode(mia.get(`/api/token/${own.id}`))).toBe("K2");
    const inside = await mia.data<Budget[]>(mia.get(`/api/team/${team.id}/budget/`));
    expect(inside).toMatchObject([{ id: budgetId, subject: String(id), used: 70 }]);
    const old = await app.database.raw.rows("select token_id from token_keys where token_id = ?", [id]);
    expect(old).toHaveLength(1);
    const [row] = await app.database.raw.rows("select key_hash, deleted_at from tokens where id = ?", [own.id]);
    expect(row).toEqual({ key_hash: `moved-${own.id}`, deleted_at: Math.floor(app.clock.now() / 1000) });
    const events = await app.database.raw.rows<{ user_id: number; team_id: number; data: string }>(
      "select user_id, team_id, data from events where type = 'token.moved' order by id",
      [],
    );
    const data = { name: "app", hint: expect.stringContaining("…") as string, from: "mia", to: team.name, by: "mia" };
    expect(events.map((event) => ({ ...event, data: JSON.parse(event.data) as object }))).toEqual([
      { user_id: idOf("mia"), team_id: 0, data: { id: own.id, ...data } },
      { user_id: idOf("mia"), team_id: team.id, data: { id, ...data } },
    ]);
  });

  test("takes along what is free of its limit; what running calls hold stays", async () => {
    const mia = person("mia");
    const { id } = await makeOwn(mia, { unlimited_quota: false, remain_quota: 1_000 });
    await app.database.raw.run("update tokens set held = 300, used_quota = 50 where id = ?", [id]);
    const answer = await moved(mia, id, { team_id: team.id });
    expect(answer).toMatchObject({ remain_quota: 700, held: 300 });
    const [old] = await app.database.raw.rows("select remain_quota, held, used_quota from tokens where id = ?", [id]);
    expect(old).toEqual({ remain_quota: 300, held: 300, used_quota: 50 });
    const back = await moved(person("olga"), answer.id, { user_id: idOf("olga") });
    expect(back).toMatchObject({ team_id: 0, user_id: idOf("olga"), remain_quota: 700, held: 0 });
  });

  test("leaves no budget behind that is made while it moves", async () => {
    const mia = person("mia");
    for (let round = 0; round < 8; round += 1) {
      const own = await makeOwn(mia);
      const budget = { scope: "token", subject: String(own.id), period: "month", quota_limit: 500 };
      const [answer] = await Promise.all([moved(mia, own.id, { team_id: team.id }), root.post("/api/budget/", budget)]);
      const left = await app.database.raw.rows("select id from budgets where subject = ?", [String(own.id)]);
      expect(left).toEqual([]);
      await root.data(root.call("DELETE", `/api/team/${team.id}/token/${answer.id}`, {}));
    }
    const made = await makeOwn(mia);
    await moved(mia, made.id, { team_id: team.id });
    const late = { scope: "token", subject: String(made.id), period: "month", quota_limit: 500 };
    expect(await readCode(root.post("/api/budget/", late))).toBe("BU4");
  });

  test("is moved once by two calls at the same time", async () => {
    const mia = person("mia");
    const { id } = await makeOwn(mia);
    const other = await makeTeam(`Other ${made}`);
    const answers = await Promise.all([team, other].map((to) => move(mia, id, { team_id: to.id })));
    const outcomes = answers.map(({ body }) => body["code"] ?? "moved");
    expect(new Set(outcomes)).toEqual(new Set(["K2", "moved"]));
  });
});

describe("a key is moved", () => {
  test("by the person to a team where the person may make keys, and to no other", async () => {
    const to = { team_id: team.id };
    expect(await readCode(move(person("stan"), (await makeOwn(person("stan"))).id, to))).toBe("TM1");
    expect(await readCode(move(person("vera"), (await makeOwn(person("vera"))).id, to))).toBe("TM2");
    const mia = person("mia");
    const { id } = await makeOwn(mia);
    expect(await readCode(move(person("olga"), id, to))).toBe("K2");
    expect(await readCode(move(mia, id, { user_id: idOf("olga") }))).toBe("U1");
    for (const wrong of [{}, { ...to, user_id: idOf("mia") }, { user_id: idOf("mia") }])
      expect([wrong, await readCode(move(mia, id, wrong))]).toEqual([wrong, "G2"]);
    await root.data(root.put(`/api/team/${team.id}`, { settings: { who_makes_keys: "admins" } }));
    expect(await readCode(move(mia, id, to))).toBe("TM2");
  });

  test("out of a team by its owners, to themselves and to other teams", async () => {
    const [olga, mia] = [person("olga"), person("mia")];
    const key = await makeInTeam(mia, team);
    const other = await makeTeam(`Other ${made}`);
    expect(await readCode(move(mia, key.id, { user_id: idOf("mia") }))).toBe("TM2");
    expect(await readCode(move(person("stan"), key.id, { user_id: idOf("stan") }))).toBe("K2");
    const there = await moved(olga, key.id, { team_id: other.id });
    const found = await mia.data<TeamToken>(mia.get(`/api/team/${other.id}/token/${there.id}`));
    expect(found).toMatchObject({ member: idOf("mia"), key: key.key });
    const own = await moved(olga, there.id, { user_id: idOf("olga") });
    expect(await olga.data<Token>(olga.get(`/api/token/${own.id}`))).toMatchObject({ key: key.key });
  });

  test("by administrators in any direction, as far as they may change both", async () => {
    const alice = person("alice");
    const { id } = await makeOwn(person("stan"));
    const inTeam = await moved(alice, id, { team_id: team.id });
    const [row] = await app.database.raw.rows("select member_id from tokens where id = ?", [inTeam.id]);
    expect(row).toEqual({ member_id: 0 });
    const ofMia = await moved(alice, inTeam.id, { user_id: idOf("mia") });
    expect(ofMia).toMatchObject({ user_id: idOf("mia") });
    expect(await readCode(move(alice, ofMia.id, { user_id: 1 }))).toBe("U3");
  });

  test("within the settings of the team: groups, number and life of keys", async () => {
    const mia = person("mia");
    const strict = await makeTeam(`Strict ${made}`, { max_keys_per_member: 1, max_key_days: 30 });
    const expires = Math.floor(app.clock.now() / 1000) + 86_400;
    expect(await readCode(move(mia, (await makeOwn(mia)).id, { team_id: strict.id }))).toBe("TM16");
    await moved(mia, (await makeOwn(mia, { expired_time: expires })).id, { team_id: strict.id });
    const second = await makeOwn(mia, { expired_time: expires });
    expect(await readCode(move(mia, second.id, { team_id: strict.id }))).toBe("TM15");
    const vip = await makeTeam(`Vip ${made}`, { groups: ["vip"] });
    expect(await readCode(move(mia, (await makeOwn(mia, { group: "default" })).id, { team_id: vip.id }))).toBe("K5");
  });

  test("not to where it could use more, unless an administrator moves it", async () => {
    const olga = person("olga");
    const narrow = await makeTeam(`Narrow ${made}`, { models: ["gpt-4o*"], channels: [1] });
    const wide = await makeInTeam(olga, narrow);
    for (const to of [{ user_id: idOf("olga") }, { team_id: team.id }])
      expect(await readCode(move(olga, wide.id, to))).toBe("TM7");
    await root.data(root.put(`/api/team/${narrow.id}`, { settings: { channels: [] } }));
    const limited = await makeInTeam(olga, narrow, { model_limits_enabled: true, model_limits: "gpt-4o-mini" });
    await moved(olga, limited.id, { user_id: idOf("olga") });
    await moved(person("alice"), wide.id, { team_id: team.id });
  });
});
