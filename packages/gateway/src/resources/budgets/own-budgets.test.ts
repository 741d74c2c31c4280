import { createDatabase, eachDatabase } from "@fairway/testkit/databases";
import { BUDGET_MAKERS, MAX_SELF_BUDGETS, MAX_SELF_TEMPLATES, type Budget, type TeamToken } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ApiCaller, ApiReply } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode } from "../../../test/kit/members.ts";
import { ACCOUNT_PASSWORD, UserAccounts } from "../../../test/kit/user-accounts.ts";

/** Budgets that people make for themselves. */

eachDatabase("budgets of one's own", (open) => {
  let app: ManagementApp;
  let accounts: UserAccounts;
  let root: ApiCaller;
  let mia: ApiCaller;
  let eve: ApiCaller;

  beforeAll(async () => {
    app = await startManagementApp({ url: await createDatabase(open.kind) });
    accounts = new UserAccounts(app);
    root = await app.signIn("root");
    for (const name of ["mia", "eve"]) await accounts.add(name);
    mia = await app.signIn("mia", ACCOUNT_PASSWORD);
    eve = await app.signIn("eve", ACCOUNT_PASSWORD);
  }, 60_000);
  afterAll(() => app.close());
  beforeEach(() => app.database.db.deleteFrom("budgets").execute());

  const add = (who: ApiCaller, body: object) =>
    who.post("/api/budget/self", { period: "month", quota_limit: 100, ...body });
  const makeToken = (who: ApiCaller) => who.data<{ id: number }>(who.post("/api/token/", { name: "own" }));

  test("limit a token, a tag or an end user, and each value of these", async () => {
    const token = await makeToken(mia);
    const id = accounts.findId("mia");
    const wanted = [
      [{ scope: "token", subject: String(token.id), period: "hours", length: 5 }, String(token.id)],
      [{ scope: "tag", subject: "app=shop", is_hard: false }, `${id}/app=shop`],
      [{ scope: "tag", subject: "app=*" }, `${id}/app=*`],
      [{ scope: "end_user", subject: "a/b=42", filter_model: "gpt-*" }, `${id}/a/b=42`],
      [{ scope: "end_user", subject: "*" }, `${id}/*`],
    ] as const;
    for (const [body, subject] of wanted)
      expect(await mia.data(add(mia, body))).toMatchObject({ ...body, subject, managed_by: "self" });
    const listed = await mia.data<Budget[]>(mia.get("/api/budget/self"));
    expect(listed.map(({ subject }) => subject)).toEqual(wanted.map(([, subject]) => subject));
    expect(await eve.data(eve.get("/api/budget/self"))).toEqual([]);
    expect(await mia.data(mia.get(`/api/budget/self/${listed[2]?.id}/values`))).toEqual([]);
  });

  test("limit nothing of others, nothing that was deleted, and no other scope", async () => {
    const foreign = await makeToken(eve);
    const gone = await makeToken(mia);
    await mia.data(mia.delete(`/api/token/${gone.id}`));
    for (const body of [
      { scope: "token", subject: String(foreign.id) },
      { scope: "token", subject: String(gone.id) },
      { scope: "token", subject: "own" },
      { scope: "tag", subject: "shop" },
      { scope: "tag", subject: `${accounts.findId("eve")}/app=shop` },
    ])
      expect([body, await readCode(add(mia, body))]).toEqual([body, "BU4"]);
    for (const scope of ["user", "group", "model", "channel", "team", "member", "service_account"])
      expect((await add(mia, { scope, subject: "1" })).body).toMatchObject({ success: false });
    const hers = await eve.data<Budget>(add(eve, { scope: "token", subject: String(foreign.id) }));
    for (const sent of changes(mia, hers.id)) expect(await readCode(sent())).toBe("BU1");
    expect(await readCode(mia.get(`/api/budget/self/${hers.id}/values`))).toBe("BU1");
    expect((await add(app.anonymous(), { scope: "tag", subject: "app=shop" })).status).toBe(401);
  });

  test("are changed, reset and deleted by their makers, with the tag of what was read", async () => {
    const made = await mia.data<Budget>(add(mia, { scope: "tag", subject: "app=shop" }));
    const path = `/api/budget/self/${made.id}`;
    expect(await mia.data(mia.put(path, { quota_limit: 7, thresholds: [50] }))).toMatchObject({
      quota_limit: 7,
      thresholds: [50],
      managed_by: "self",
    });
    await app.database.db.updateTable("budgets").set({ used: 5 }).execute();
    expect(await mia.data(mia.post(`${path}/reset`, {}))).toMatchObject({ used: 0 });
    expect(await readCode(add(mia, { scope: "tag", subject: "app=shop" }))).toBe("BU2");
    await mia.data(mia.delete(path));
    expect(await readCode(mia.delete(path))).toBe("BU1");
  });

  test("stay within what an administrator set, and are the administrator's once one has changed them", async () => {
    const { id: token } = await makeToken(mia);
    const subject = { scope: "token", subject: String(token) };
    await root.data(root.post("/api/budget/", { ...subject, period: "month", quota_limit: 50 }));
    expect(await readCode(add(mia, { ...subject, quota_limit: 51 }))).toBe("BU10");
    const own = await mia.data<Budget>(add(mia, { ...subject, quota_limit: 20 }));
    expect(await readCode(mia.put(`/api/budget/self/${own.id}`, { quota_limit: 51 }))).toBe("BU10");
    const daily = await mia.data<Budget>(add(mia, { ...subject, period: "day", quota_limit: 60 }));
    await root.data(root.put("/api/budget/", { id: daily.id, quota_limit: 5 }));
    expect(await mia.data<Budget[]>(mia.get("/api/budget/self"))).toMatchObject([
      { managed_by: "admin", quota_limit: 50 },
      { managed_by: "self", quota_limit: 20 },
      { managed_by: "admin", quota_limit: 5 },
    ]);
    for (const sent of changes(mia, daily.id)) expect(await readCode(sent())).toBe("BU9");
  });

  test("are at most fifty of a person, eight of a subject and five for each value, also of many calls at once", async () => {
    const { id: token } = await makeToken(mia);
    const ofToken = { scope: "token", subject: String(token), period: "hours" };
    const all = Array.from({ length: 9 }, (_, at) => add(mia, { ...ofToken, length: at + 1 }));
    expect(await readRefusals(all)).toEqual(["BU8"]);
    const templates = Array.from({ length: MAX_SELF_TEMPLATES + 2 }, (_, at) =>
      add(mia, { scope: "tag", subject: `k${at}=*` }),
    );
    expect(await readRefusals(templates)).toEqual(["BU8", "BU8"]);
    const left = MAX_SELF_BUDGETS - 8 - MAX_SELF_TEMPLATES - 2;
    const terms = { period: "month", time_zone: "UTC", quota_limit: 5, soft_percent: 80, is_hard: 1, window_start: 1 };
    const tag = { ...terms, scope: "tag", managed_by: "self", used: 0, held: 0 } as const;
    const subjects = Array.from({ length: left }, (_, at) => `${accounts.findId("mia")}/app=v${at}`);
    const rows = subjects.map((subject) => ({ ...tag, subject }));
    await app.database.db.insertInto("budgets").values(rows).execute();
    const tags = Array.from({ length: 4 }, (_, at) => add(mia, { scope: "tag", subject: `env=v${at}` }));
    expect(await readRefusals(tags)).toEqual(["BU8", "BU8"]);
    expect(await mia.data<Budget[]>(mia.get("/api/budget/self"))).toHaveLength(MAX_SELF_BUDGETS);
    expect(await eve.data(add(eve, { scope: "tag", subject: "app=v1" }))).toMatchObject({ managed_by: "self" });
  });
});

async function readRefusals(sent: readonly Promise<ApiReply>[]): Promise<unknown[]> {
  return (await Promise.all(sent)).map(({ body }) => body["code"]).filter((code) => code !== undefined);
}

/** What a person may try with a budget of one's own list. */
function changes(who: ApiCaller, id: number): readonly (() => Promise<ApiReply>)[] {
  const path = `/api/budget/self/${id}`;
  return [() => who.put(path, { quota_limit: 1_000 }), () => who.post(`${path}/reset`, {}), () => who.delete(path)];
}

describe("who changes what", () => {
  let app: ManagementApp;
  const people = new Map<string, ApiCaller>();
  let team = 0;
  let account = 0;

  beforeAll(async () => {
    app = await startManagementApp({ url: await createDatabase("sqlite") });
    const accounts = new UserAccounts(app);
    const root = await app.signIn("root");
    people.set("root", root);
    for (const name of ["olga", "adam", "mia", "vera", "eve"]) {
      await accounts.add(name);
      people.set(name, await app.signIn(name, ACCOUNT_PASSWORD));
    }
    const made = await root.data<{ id: number; account_id: number }>(root.post("/api/team/", { name: "Crew" }));
    [team, account] = [made.id, made.account_id];
    for (const [username, role] of [
      ["olga", "owner"],
      ["adam", "admin"],
      ["mia", "member"],
      ["vera", "viewer"],
    ])
      await root.data(root.post(`/api/team/${team}/members`, { username, role }));
  }, 60_000);
  afterAll(() => app.close());

  /** Places in which a budget can be, each with who changes those of each maker. */
  const PLACES = {
    "a token of mia": { admin: ["root"], team: ["root"], self: ["root", "mia"] },
    "a tag of mia": { admin: ["root"], team: ["root"], self: ["root", "mia"] },
    "a key of the team": {
      admin: ["root"],
      team: ["root", "olga", "adam"],
      self: ["root", "olga", "adam"],
    },
    "an end user of the team": {
      admin: ["root"],
      team: ["root", "olga", "adam"],
      self: ["root", "olga", "adam"],
    },
  } as const;

  async function findSubject(place: keyof typeof PLACES): Promise<{ scope: string; subject: string }> {
    const mia = people.get("mia") as ApiCaller;
    if (place === "a tag of mia") return { scope: "tag", subject: `${mia.userId}/app=shop` };
    if (place === "an end user of the team") return { scope: "end_user", subject: `${account}/42` };
    const path = place === "a token of mia" ? "/api/token/" : `/api/team/${team}/token/`;
    const { id } = await mia.data<TeamToken>(mia.post(path, { name: "key" }));
    return { scope: "token", subject: String(id) };
  }

  /** The ways by which someone may change a budget; each is tried. */
  const listWays = (who: ApiCaller, id: number) => [
    () => who.put(`/api/budget/self/${id}`, { quota_limit: 9 }),
    () => who.put(`/api/team/${team}/budget/${id}`, { quota_limit: 9 }),
    () => who.put("/api/budget/", { id, quota_limit: 9 }),
    () => who.post(`/api/budget/self/${id}/reset`, {}),
    () => who.post(`/api/team/${team}/budget/${id}/reset`, {}),
    () => who.post(`/api/budget/${id}/reset`, {}),
    () => who.delete(`/api/budget/self/${id}`),
    () => who.delete(`/api/team/${team}/budget/${id}`),
    () => who.delete(`/api/budget/${id}`),
  ];

  const rows = Object.entries(PLACES).flatMap(([place, makers]) =>
    BUDGET_MAKERS.map((maker) => [place as keyof typeof PLACES, maker, makers[maker] as readonly string[]] as const),
  );

  test.each(rows)("of %s, made by %s", async (place, maker, expected) => {
    const subject = await findSubject(place);
    const { db } = app.database;
    const able: string[] = [];
    for (const [name, who] of people) {
      await db.deleteFrom("budgets").execute();
      const terms = { period: "hours", time_zone: "UTC", quota_limit: 5, soft_percent: 80, is_hard: 1 };
      const state = { window_start: 1, used: 3, held: 0, managed_by: maker };
      const lengths = [...listWays(who, 0).keys()].map((at) => at + 1);
      const rows = lengths.map((length) => ({ ...terms, ...state, ...subject, length }));
      await db
        .insertInto("budgets")
        .values(rows as never)
        .execute();
      const read = () => db.selectFrom("budgets").select(["id", "quota_limit", "revision"]).orderBy("id").execute();
      const before = await read();
      await Promise.all(before.map(async ({ id }, at) => listWays(who, id)[at]?.()));
      if (JSON.stringify(await read()) !== JSON.stringify(before)) able.push(name);
    }
    expect(able).toEqual(expected);
  });
});
