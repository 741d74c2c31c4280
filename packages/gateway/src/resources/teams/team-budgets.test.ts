import { createDatabase } from "@fairway/testkit/databases";
import type { Budget, TeamToken, TeamView } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode } from "../../../test/kit/members.ts";
import { ACCOUNT_PASSWORD, UserAccounts } from "../../../test/kit/user-accounts.ts";

/** Budgets that the admins of a team set inside of it. */

let app: ManagementApp;
let accounts: UserAccounts;
let root: ApiCaller;
let adam: ApiCaller;
let mia: ApiCaller;
let team: TeamView;
let made = 0;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  accounts = new UserAccounts(app);
  root = await app.signIn("root");
  for (const name of ["adam", "mia", "stan"]) await accounts.add(name);
  adam = await app.signIn("adam", ACCOUNT_PASSWORD);
  mia = await app.signIn("mia", ACCOUNT_PASSWORD);
}, 60_000);
afterAll(() => app.close());
beforeEach(async () => {
  made += 1;
  team = await root.data<TeamView>(root.post("/api/team/", { name: `Team ${made}` }));
  await root.data(root.post(path("/members"), { username: "adam", role: "admin" }));
  await root.data(root.post(path("/members"), { username: "mia", role: "member" }));
});

const path = (rest = "") => `/api/team/${team.id}${rest}`;
const add = (who: ApiCaller, body: object) =>
  who.post(path("/budget/"), { period: "month", quota_limit: 100, ...body });
const makeKey = (who: ApiCaller) =>
  who.data<TeamToken>(who.post(path("/token/"), { name: "app", unlimited_quota: true }));

describe("a team limits", () => {
  test("itself, its members by name or id, its service accounts and its keys", async () => {
    const service = await adam.data<{ id: number }>(adam.post(path("/service_account/"), { name: "ci" }));
    const key = await makeKey(mia);
    const id = accounts.findId("mia");
    const wanted = [
      [{ scope: "team" }, String(team.id)],
      [{ scope: "member", subject: "MIA" }, `${team.id}:${id}`],
      [{ scope: "member", subject: String(id), period: "day" }, `${team.id}:${id}`],
      [{ scope: "service_account", subject: String(service.id) }, String(service.id)],
      [{ scope: "token", subject: String(key.id), period: "hours", length: 5 }, String(key.id)],
      [{ scope: "tag", subject: "app=shop" }, `${team.account_id}/app=shop`],
      [{ scope: "end_user", subject: "a/b=42" }, `${team.account_id}/a/b=42`],
    ] as const;
    for (const [body, subject] of wanted)
      expect(await adam.data(add(adam, body))).toMatchObject({ ...body, subject, managed_by: "team", is_hard: true });
    expect(await mia.data<Budget[]>(mia.get(path("/budget/")))).toHaveLength(wanted.length);
  });

  test("nothing of another team, no person who is not in it, and no key that was deleted", async () => {
    const other = await root.data<TeamView>(root.post("/api/team/", { name: `Other ${made}` }));
    await root.data(root.post(`/api/team/${other.id}/members`, { username: "mia", role: "admin" }));
    const token = (who: ApiCaller, body: object) =>
      who.data<{ id: number }>(who.post(`/api/team/${other.id}/token/`, body));
    const foreign = await token(mia, { name: "theirs" });
    const service = await mia.data<{ id: number }>(mia.post(`/api/team/${other.id}/service_account/`, { name: "ci" }));
    const gone = await makeKey(mia);
    await mia.data(mia.delete(path(`/token/${gone.id}`)));
    for (const body of [
      { scope: "token", subject: String(foreign.id) },
      { scope: "token", subject: String(gone.id) },
      { scope: "service_account", subject: String(service.id) },
      { scope: "member", subject: "stan" },
      { scope: "member", subject: `${other.id}:mia` },
      { scope: "member" },
      { scope: "tag", subject: "shop" },
      { scope: "tag", subject: `${other.account_id}/app=shop` },
      { scope: "tag" },
      { scope: "end_user" },
      { scope: "team", subject: String(other.id) },
    ])
      expect([body, await readCode(add(adam, body))]).toEqual([body, "BU4"]);
    const theirs = await mia.data<Budget>(
      mia.post(`/api/team/${other.id}/budget/`, { scope: "team", period: "day", quota_limit: 5 }),
    );
    expect(await readCode(adam.put(path(`/budget/${theirs.id}`), { quota_limit: 500 }))).toBe("BU1");
    expect(await readCode(adam.delete(path(`/budget/${theirs.id}`)))).toBe("BU1");
  });

  test("with at most eight budgets of one subject, so that administrators have room for theirs", async () => {
    const all = Array.from({ length: 9 }, (_, at) => add(adam, { scope: "team", period: "hours", length: at + 1 }));
    const codes = (await Promise.all(all)).map(({ body }) => body["code"] ?? "");
    expect(codes.filter((code) => code !== "")).toEqual(["BU8"]);
    expect(await readCode(add(adam, { scope: "team" }))).toBe("BU8");
    expect(await root.data(add(root, { scope: "team" }))).toMatchObject({ managed_by: "admin" });
  });
});

describe("what an administrator set", () => {
  test("stays above what the team sets in such windows, and both count", async () => {
    const above = await root.data<Budget>(add(root, { scope: "member", subject: "mia" }));
    expect(await readCode(add(adam, { scope: "member", subject: "mia", quota_limit: 101 }))).toBe("BU10");
    const own = await adam.data<Budget>(add(adam, { scope: "member", subject: "mia", quota_limit: 60 }));
    expect(own).toMatchObject({ subject: above.subject, managed_by: "team", quota_limit: 60 });
    expect(await readCode(adam.put(path(`/budget/${own.id}`), { quota_limit: 101 }))).toBe("BU10");
    expect(await adam.data(adam.put(path(`/budget/${own.id}`), { quota_limit: 100 }))).toMatchObject({
      quota_limit: 100,
    });
    expect(await readCode(add(adam, { scope: "member", subject: "mia" }))).toBe("BU2");
  });

  test("is not changed, reset or deleted by the team", async () => {
    const { id } = await root.data<Budget>(
      root.post("/api/budget/", { scope: "team", subject: team.slug, period: "total", quota_limit: 9 }),
    );
    for (const sent of [
      adam.put(path(`/budget/${id}`), { quota_limit: 10 }),
      adam.post(path(`/budget/${id}/reset`), {}),
      adam.delete(path(`/budget/${id}`)),
    ])
      expect(await readCode(sent)).toBe("BU9");
    expect(await root.data(root.get(`/api/budget/${id}`))).toMatchObject({ quota_limit: 9 });
  });

  test("includes a budget of the team that an administrator changed: the team cannot take it back", async () => {
    const { id } = await adam.data<Budget>(add(adam, { scope: "team", quota_limit: 1_000 }));
    await root.data(root.put("/api/budget/", { id, quota_limit: 10 }));
    expect(await readCode(adam.put(path(`/budget/${id}`), { quota_limit: 1_000 }))).toBe("BU9");
    expect(await readCode(add(adam, { scope: "team", quota_limit: 11 }))).toBe("BU10");
  });

  test("wins when both change a budget of the team at once", async () => {
    const { id } = await adam.data<Budget>(add(adam, { scope: "team", quota_limit: 50 }));
    const [ours] = await Promise.all([
      root.put("/api/budget/", { id, quota_limit: 10 }),
      ...Array.from({ length: 5 }, (_, at) => adam.put(path(`/budget/${id}`), { quota_limit: 1_000 + at })),
    ]);
    expect(ours.body["success"]).toBe(true);
    expect(await root.data(root.get(`/api/budget/${id}`))).toMatchObject({ quota_limit: 10, managed_by: "admin" });
  });
});

test("a change with an old version is refused, and a reset counts from 0", async () => {
  const { id } = await adam.data<Budget>(add(adam, { scope: "team" }));
  const { headers } = await adam.put(path(`/budget/${id}`), { quota_limit: 90 });
  const tag = { "if-match": String(headers["etag"]) };
  const change = (limit: number) =>
    adam.call("PUT", path(`/budget/${id}`), { body: { quota_limit: limit }, headers: tag });
  expect((await change(80)).body["success"]).toBe(true);
  expect((await change(70)).body["code"]).toBe("G8");
  await app.database.raw.run("update budgets set used = 40 where id = ?", [id]);
  expect(await adam.data(adam.post(path(`/budget/${id}/reset`), {}))).toMatchObject({ used: 0, quota_limit: 80 });
  await adam.data(adam.delete(path(`/budget/${id}`)));
  expect(await mia.data(mia.get(path("/budget/")))).toEqual([]);
});
