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

  test("windows of hours, fiscal quarters and totals are made, and say when they begin and end", async () => {
    const now = Math.floor(app.clock.now() / 1000);
    const hours = await create({ ...good, period: "hours", length: 5 });
    expect(hours).toMatchObject({ length: 5, window_start: 0, window_end: 0, counts_since: 0, used: 0 });
    await app.database.db
      .updateTable("budgets")
      .set({ window_start: now, used: 7 })
      .where("id", "=", hours.id)
      .execute();
    const opened = await members.root.data<Budget>(members.root.get(`/api/budget/${hours.id}`));
    expect(opened).toMatchObject({ window_start: now, window_end: now + 5 * 3_600, used: 7 });
    const quarter = { ...good, period: "quarter", anchor: "04-06", time_zone: "Europe/London" };
    const { window_start: start, anchor } = await create(quarter);
    expect([new Date(start * 1000).toISOString().slice(5, 10), anchor]).toEqual([
      expect.stringMatching(/-0[56]$/),
      "04-06",
    ]);
    expect(await create({ ...good, period: "month", anchor: 31 })).toMatchObject({ anchor: "31" });
    const total = await create({ ...good, period: "total", ends_at: now + 60 });
    expect(total).toMatchObject({ window_start: now, window_end: now + 60, ends_at: now + 60 });
    expect(await create({ ...good, subject: "b", period: "total" })).toMatchObject({ window_end: 0, ends_at: 0 });
  });

  test("several budgets of one subject differ in period, length or model, and there are sixteen at most", async () => {
    for (let length = 1; length <= 13; length += 1) await create({ ...good, period: "hours", length });
    expect(await refused({ ...good, period: "hours", length: 5 })).toBe("BU2");
    for (const filter_model of ["", "gpt-*", "gpt-4o"]) await create({ ...good, filter_model });
    expect(await refused({ ...good, filter_model: "claude-*" })).toBe("BU8");
    const [first] = await members.root.data<Budget[]>(members.root.get("/api/budget/"));
    expect(await readCode(members.admin.put("/api/budget/", { id: first?.id, length: 2 }))).toBe("BU2");
    expect(await members.admin.data(members.admin.put("/api/budget/", { id: first?.id, length: 20 }))).toMatchObject({
      length: 20,
    });
  });

  test.each([
    [{ period: "hours" }, "BU5"],
    [{ period: "hours", length: 0 }, "BU5"],
    [{ period: "hours", length: 721 }, "G"],
    [{ period: "hours", length: 1.5 }, "G"],
    [{ period: "day", length: 5 }, "BU5"],
    [{ period: "day", anchor: "1" }, "BU6"],
    [{ period: "hour", anchor: 1 }, "BU6"],
    [{ period: "week", anchor: 8 }, "BU6"],
    [{ period: "week", anchor: "0" }, "BU6"],
    [{ period: "week", anchor: "01" }, "BU6"],
    [{ period: "month", anchor: 32 }, "BU6"],
    [{ period: "month", anchor: "04-06" }, "BU6"],
    [{ period: "quarter", anchor: "4-6" }, "BU6"],
    [{ period: "quarter", anchor: "04-31" }, "BU6"],
    [{ period: "year", anchor: "02-30" }, "BU6"],
    [{ period: "year", anchor: "00-01" }, "BU6"],
    [{ period: "total", anchor: "1" }, "BU6"],
    [{ period: "month", ends_at: 4_000_000_000 }, "BU7"],
    [{ period: "total", ends_at: 5 }, "BU7"],
    [{ period: "total", ends_at: -1 }, "G"],
    [{ thresholds: [0] }, "G"],
    [{ thresholds: [201] }, "G"],
    [{ thresholds: [50.5] }, "G"],
    [{ thresholds: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] }, "G"],
    [{ thresholds: "80" }, "G"],
    [{ filter_model: "a*b" }, "G"],
    [{ filter_model: "*" }, "G"],
    [{ filter_model: " gpt" }, "G"],
    [{ filter_model: "m".repeat(192) }, "G"],
    [{ forecast: 1 }, "G"],
    [{ managed_by: "self" }, "G"],
    [{ used: 5 }, "G"],
  ])("refuses %j", async (wrong, code) => {
    expect(await refused({ ...good, ...wrong })).toMatch(new RegExp(`^${code}`));
    expect(await members.root.data(members.root.get("/api/budget/"))).toEqual([]);
  });

  test("thresholds and the single percentage of old clients are two views of one list", async () => {
    const made = await create({ ...good, thresholds: [95, 50, 80, 80] });
    expect(made).toMatchObject({ thresholds: [50, 80, 95], soft_percent: 50 });
    const set = (change: object) => members.admin.data(members.admin.put("/api/budget/", { id: made.id, ...change }));
    expect(await set({ soft_percent: 70 })).toMatchObject({ thresholds: [70], soft_percent: 70 });
    expect(await set({ soft_percent: 0 })).toMatchObject({ thresholds: [100], soft_percent: 0 });
    expect(await set({ thresholds: [90, 120] })).toMatchObject({ thresholds: [90, 120], soft_percent: 90 });
    expect(await set({ soft_percent: 60 })).toMatchObject({ thresholds: [60, 120], soft_percent: 60 });
    expect(await set({ thresholds: [] })).toMatchObject({ thresholds: [], soft_percent: 0 });
    const old = { scope: "group", subject: "old", period: "day", time_zone: "UTC", quota_limit: 5, is_hard: 1 };
    await app.database.db
      .insertInto("budgets")
      .values({ ...old, soft_percent: 75, window_start: 1 })
      .execute();
    const listed = await members.root.data<Budget[]>(members.root.get("/api/budget/"));
    expect(listed.at(-1)).toMatchObject({ thresholds: [75, 100], soft_percent: 75, length: 0 });
  });

  test("a reset begins again, and a new first day keeps what is used until its next boundary", async () => {
    const now = Math.floor(app.clock.now() / 1000);
    const { db } = app.database;
    const spend = (id: number, window_start: number) =>
      db.updateTable("budgets").set({ used: 900, noted: 80, window_start }).where("id", "=", id).execute();
    const reset = (id: number) => members.admin.data<Budget>(members.admin.post(`/api/budget/${id}/reset`, {}));
    const total = await create({ ...good, period: "total" });
    await spend(total.id, now - 1_000);
    expect(await reset(total.id)).toMatchObject({ used: 0, window_start: now, counts_since: now });
    const hours = await create({ ...good, period: "hours", length: 3 });
    await spend(hours.id, now);
    expect(await reset(hours.id)).toMatchObject({ used: 0, window_start: 0 });
    const month = await create(good);
    await spend(month.id, month.window_start);
    expect(await reset(month.id)).toMatchObject({ used: 0, window_start: month.window_start, counts_since: now });
    await spend(month.id, month.window_start);
    const anchor = new Date(app.clock.now()).getUTCDate();
    const moved = await members.admin.data<Budget>(members.admin.put("/api/budget/", { id: month.id, anchor }));
    expect(moved).toMatchObject({ used: 900, anchor: String(anchor) });
    expect(moved.window_start).toBeGreaterThanOrEqual(month.window_start);
    const row = await db.selectFrom("budgets").selectAll().where("id", "=", month.id).executeTakeFirstOrThrow();
    expect(row).toMatchObject({ used: 900, noted: 80, window_start: moved.window_start, revision: 2 });
    expect(await readCode(members.admin.post("/api/budget/999999/reset", {}))).toBe("BU1");
    expect(await readCode(members.user.post(`/api/budget/${month.id}/reset`, {}))).toBe("AU7");
  });

  test("teams and members are named by their short names, and see their budgets", async () => {
    const { db } = app.database;
    const team = { account_id: 900, name: "Research", slug: "research", description: "", labels: "{}", settings: "{}" };
    await db
      .insertInto("teams")
      .values({ ...team, status: 1, created_by: 1, created_at: 1, version: 1 })
      .execute();
    const { id } = await db.selectFrom("teams").select("id").executeTakeFirstOrThrow();
    const member = { team_id: id, user_id: members.user.userId, role: "member", source: "manual" };
    await db
      .insertInto("team_members")
      .values({ ...member, added_by: 1, created_at: 1 })
      .execute();
    const ofTeam = await create({ ...good, scope: "team", subject: "research" });
    expect(ofTeam).toMatchObject({ subject: String(id), subject_name: "Research" });
    const ofMember = await create({ ...good, scope: "member", subject: "research:ann" });
    expect(ofMember).toMatchObject({ subject: `${id}:${members.user.userId}`, subject_name: "ann of team Research" });
    expect(await refused({ ...good, scope: "member", subject: ofMember.subject })).toBe("BU2");
    for (const subject of ["nothing", "research:ann", "0"])
      expect(await refused({ ...good, scope: "team", subject })).toBe("BU4");
    for (const subject of ["research", "research:root", "research:", "research:ann:x", ":ann", "none:ann"])
      expect(await refused({ ...good, scope: "member", subject })).toBe("BU4");
    expect(await refused({ ...good, scope: "service_account", subject: "9" })).toBe("BU4");
    const own = await members.user.data<Budget[]>(members.user.get("/api/budget/self"));
    expect(own.map(({ scope }) => scope)).toEqual(["team", "member"]);
    expect(await members.user.data(members.user.get(`/api/budget/self/${ofMember.id}/history`))).toMatchObject({
      points: [],
    });
    expect(await members.admin.data(members.admin.get("/api/budget/self"))).toEqual([]);
    for (const table of ["teams", "team_members"] as const) await db.deleteFrom(table).execute();
  });

  test("tags and end users belong to an account, which sees their budgets", async () => {
    const { userId } = members.user;
    const ofTag = await create({ ...good, scope: "tag", subject: "ANN/app= shop " });
    expect(ofTag).toMatchObject({ subject: `${userId}/app=shop`, subject_name: "app=shop of ann" });
    const ofUser = await create({ ...good, scope: "end_user", subject: `${userId}/a/b=ü` });
    expect(ofUser).toMatchObject({ subject: `${userId}/a/b=ü`, subject_name: "a/b=ü of ann" });
    expect(await refused({ ...good, scope: "tag", subject: ofTag.subject })).toBe("BU2");
    for (const subject of ["app=shop", "ann/app", "ann/App=x", "ann/app=", "ann/app=a|b", "absent/app=shop", "/app=x"])
      expect(await refused({ ...good, scope: "tag", subject })).toBe("BU4");
    for (const subject of ["42", "ann/", "ann/ ", `ann/${"x".repeat(65)}`, "absent/42"])
      expect(await refused({ ...good, scope: "end_user", subject })).toBe("BU4");
    const own = await members.user.data<Budget[]>(members.user.get("/api/budget/self"));
    expect(own.map(({ id }) => id)).toEqual([ofTag.id, ofUser.id]);
    expect(await members.admin.data(members.admin.get("/api/budget/self"))).toEqual([]);
    const other = await refused({ ...good, scope: "tag", subject: "root/app=shop" });
    expect(other).toBe(await refused({ ...good, scope: "user", subject: "1" }));
  });

  test("only administrators", async () => {
    expect(await readCode(members.user.get("/api/budget/"))).toBe("AU7");
    expect(await readCode(members.user.post("/api/budget/", good))).toBe("AU7");
  });
});
