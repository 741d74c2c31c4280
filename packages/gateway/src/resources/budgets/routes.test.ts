import { createDatabase } from "@fairway/testkit/databases";
import type { Budget, BudgetHistory } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, signInMembers, type Members } from "../../../test/kit/members.ts";

describe("budgets over HTTP", () => {
  let app: ManagementApp;
  let members: Members;
  const good = { scope: "group", subject: "vip", period: "month", quota_limit: 1_000 };

  beforeAll(async () => {
    app = await startManagementApp({ url: await createDatabase("sqlite") });
    members = await signInMembers(app);
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.database.db.deleteFrom("budgets").execute();
  });
  const create = (body: unknown) => members.root.data<Budget>(members.root.post("/api/budget/", body));
  const refused = (body: unknown) => readCode(members.admin.post("/api/budget/", body));

  test("a budget is made with what is usual, read, changed and deleted", async () => {
    const made = await members.admin.data<Budget>(members.admin.post("/api/budget/", good));
    expect(made).toMatchObject({ ...good, time_zone: "UTC", soft_percent: 80, is_hard: true, used: 0, held: 0 });
    expect(made.window_start * 1000).toBeLessThanOrEqual(app.clock.now());
    expect(made.window_end * 1000).toBeGreaterThan(app.clock.now());
    const change = { id: made.id, quota_limit: 5, is_hard: false, time_zone: "Asia/Shanghai", soft_percent: 0 };
    const changed = await members.admin.data<Budget>(members.admin.put("/api/budget/", change));
    expect(changed).toMatchObject({ ...change, scope: "group" });
    expect(await members.admin.data(members.admin.get("/api/budget/"))).toEqual([changed]);
    await members.admin.data(members.admin.delete(`/api/budget/${made.id}`));
    expect(await readCode(members.admin.get(`/api/budget/${made.id}`))).toBe("BU1");
    expect(await readCode(members.admin.delete(`/api/budget/${made.id}`))).toBe("BU1");
    expect(await readCode(members.admin.put("/api/budget/", { id: made.id }))).toBe("BU1");
  });

  test("a token, user or channel is named until its row is deleted; a group or model is its own name", async () => {
    const { admin } = members;
    const { id: tokenId } = await admin.data<{ id: number }>(admin.post("/api/token/", { name: "build-bot" }));
    const channel = { name: "Harbour", key: "sk-1", models: "gpt-4o", base_url: "http://127.0.0.1:9" };
    await admin.data(admin.post("/api/channel/", channel));
    const { db } = app.database;
    const { id: channelId } = await db.selectFrom("channels").select("id").executeTakeFirstOrThrow();
    const user = await db.selectFrom("users").selectAll().orderBy("id").executeTakeFirstOrThrow();
    const subjects = { token: tokenId, channel: channelId, user: user.id, group: "vip", model: "gpt-4o" };
    const made = await Promise.all(
      Object.entries(subjects).map(([scope, subject]) => create({ ...good, scope, subject: String(subject) })),
    );
    const names = ["build-bot", "Harbour", user.username, "vip", "gpt-4o"];
    expect(made.map(({ subject_name: name }) => name)).toEqual(names);
    const listed = async () => {
      const budgets = await members.root.data<Budget[]>(members.root.get("/api/budget/"));
      return Object.fromEntries(budgets.map(({ scope, subject_name: name }) => [scope, name]));
    };
    expect(Object.values(await listed()).toSorted()).toEqual(names.toSorted());
    await admin.data(admin.delete(`/api/channel/${channelId}`));
    expect(await listed()).toMatchObject({ channel: "", token: "build-bot" });
  });

  test("what requests have in a budget goes with it", async () => {
    const { db } = app.database;
    const { id } = await create(good);
    const row = { request_id: "a", budget_id: id };
    await db
      .insertInto("budget_holds")
      .values({ ...row, amount: 1, lease_until: 1 })
      .execute();
    await db
      .insertInto("budget_reaped")
      .values({ ...row, charged: 1, closed_at: 1, look_at: 1 })
      .execute();
    await members.admin.data(members.admin.delete(`/api/budget/${id}`));
    for (const table of ["budget_holds", "budget_reaped"] as const)
      expect(await db.selectFrom(table).selectAll().execute()).toEqual([]);
  });

  test("impossible zones, periods, scopes, amounts and subjects are refused", async () => {
    expect(await refused({ ...good, time_zone: "Mars/Olympus" })).toBe("BU3");
    expect(await refused({ ...good, time_zone: "" })).toBe("BU3");
    expect(await refused({ ...good, period: "fortnight" })).toBe("G1");
    expect(await refused({ ...good, scope: "planet" })).toBe("G1");
    for (const amount of [0, -1, 1.5, 2 ** 60, "5"])
      expect(await refused({ ...good, quota_limit: amount })).toMatch(/^G[12]$/);
    for (const percent of [-1, 101, 0.5]) expect(await refused({ ...good, soft_percent: percent })).toMatch(/^G[12]$/);
    expect(await refused({ ...good, subject: "" })).toMatch(/^G[12]$/);
    for (const subject of ["0", "x", "-1", "999999"])
      expect(await refused({ ...good, scope: "user", subject })).toBe("BU4");
    await create(good);
    expect(await refused(good)).toBe("BU2");
    expect(await create({ ...good, period: "day" })).toMatchObject({ period: "day" });
  });

  test("show spending over the running window with a forecast", async () => {
    const { id } = await create(good);
    const found = await members.admin.data<BudgetHistory>(members.admin.get(`/api/budget/${id}/history`));
    expect(found).toMatchObject({
      budget: { id },
      interval: 3_600,
      points: [],
      forecast: { per_day: 0, reached_at: 0 },
    });
    expect(await readCode(members.admin.get("/api/budget/999999/history"))).toBe("BU1");
  });

  test("users read the budgets of their account and of their tokens, and no others", async () => {
    const { admin, user } = members;
    const { id: token } = await user.data<{ id: number }>(user.post("/api/token/", { name: "own" }));
    const { id: other } = await admin.data<{ id: number }>(admin.post("/api/token/", { name: "other" }));
    const subjects = [
      { scope: "user", subject: String(user.userId) },
      { scope: "token", subject: String(token) },
      { scope: "token", subject: String(other) },
      { scope: "user", subject: String(admin.userId) },
      { scope: "group", subject: "default" },
    ];
    const made: Budget[] = [];
    for (const subject of subjects) made.push(await create({ ...good, ...subject }));
    const own = await user.data<Budget[]>(user.get("/api/budget/self"));
    expect(own).toEqual(made.slice(0, 2));
    expect(own.map(({ subject_name: name }) => name)).toEqual(["ann", "own"]);
    const [, ofToken, ofOther] = made;
    expect(await user.data(user.get(`/api/budget/self/${ofToken?.id}/history`))).toMatchObject({
      budget: ofToken,
      points: [],
      forecast: { per_day: 0, reached_at: 0 },
    });
    expect(await readCode(user.get(`/api/budget/self/${ofOther?.id}/history`))).toBe("BU1");
    await user.data(user.delete(`/api/token/${token}`));
    expect(await user.data(user.get("/api/budget/self"))).toEqual(made.slice(0, 1));
    expect((await app.anonymous().get("/api/budget/self")).status).toBe(401);
  });

  test("only administrators", async () => {
    expect(await readCode(members.user.get("/api/budget/"))).toBe("AU7");
    expect(await readCode(members.user.post("/api/budget/", good))).toBe("AU7");
  });
});
