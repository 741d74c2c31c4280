import { createDatabase } from "@fairway/testkit/databases";
import type { UsageStatistics } from "@fairway/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, signInMembers, type Members } from "../../../test/kit/members.ts";
import { DIMENSION, HOUR } from "./dimensions.ts";

describe("usage statistics over HTTP", () => {
  let app: ManagementApp;
  let members: Members;

  beforeAll(async () => {
    app = await startManagementApp({ url: await createDatabase("sqlite") });
    members = await signInMembers(app);
    const now = Math.floor(app.clock.now() / 1000);
    const sums = {
      span: HOUR,
      start: now - (now % HOUR),
      calls: 3,
      errors: 1,
      refused: 1,
      quota: 7,
      input_tokens: 5,
      output_tokens: 6,
      latency: "100:1",
      first_token: "",
    };
    const { userId } = members.user;
    const rows = [
      { ...sums, dimension: DIMENSION.all, owner_id: 0, subject: "" },
      { ...sums, dimension: DIMENSION.user, owner_id: userId, subject: String(userId) },
      { ...sums, dimension: DIMENSION.user, owner_id: 999, subject: "999", quota: 1_000 },
      { ...sums, dimension: DIMENSION.userModel, owner_id: userId, subject: "gpt-4o" },
      { ...sums, dimension: DIMENSION.userModel, owner_id: 999, subject: "secret-model" },
    ];
    await app.database.db.insertInto("usage_statistics").values(rows).execute();
  });
  afterAll(() => app.close());

  const all = (query: string) =>
    members.admin.data<UsageStatistics>(members.admin.get(`/api/statistics/usage?${query}`));
  const readOwnUsage = (query: string) =>
    members.user.data<UsageStatistics>(members.user.get(`/api/statistics/self/usage?${query}`));

  test("name users, the dearest first, for administrators", async () => {
    const { subjects, total } = await all("by=user&interval=3600");
    expect(subjects.map(({ subject, quota }) => [subject, quota])).toEqual([
      ["999", 1_000],
      [String(members.user.userId), 7],
    ]);
    expect(subjects[1]).toMatchObject({ name: "ann", calls: 3, errors: 1, refused: 1 });
    expect(subjects[1]?.points).toHaveLength(1);
    expect(total).toMatchObject({ quota: 7, latency: { count: 1 } });
  });

  // @weakness Sessions and permissions: A user reads the usage of another one through the statistics
  test("show users their own numbers only", async () => {
    const { subjects, total } = await readOwnUsage("by=model");
    expect(subjects.map(({ subject }) => subject)).toEqual(["gpt-4o"]);
    expect(total.quota).toBe(7);
    expect((await readOwnUsage("subject=999")).total.quota).toBe(7);
    expect((await readOwnUsage("by=model&subject=secret-model")).subjects).toEqual([]);
    for (const by of ["user", "channel", "group"])
      expect(await readCode(members.user.get(`/api/statistics/self/usage?by=${by}`))).toBe("G1");
  });

  test("show administrators one user alone", async () => {
    const { userId } = members.user;
    expect((await all("by=model&username=ann")).subjects.map(({ subject }) => subject)).toEqual(["gpt-4o"]);
    expect(await all("by=model&username=nobody")).toMatchObject({ subjects: [], total: { calls: 0 } });
    expect((await all(`by=model&user_id=${userId}`)).subjects.map(({ subject }) => subject)).toEqual(["gpt-4o"]);
    expect((await all(`user_id=${userId}`)).total.quota).toBe(7);
    expect(await readCode(members.admin.get(`/api/statistics/usage?by=channel&user_id=${userId}`))).toBe("G1");
  });

  test("show administrators one team alone, by its short name", async () => {
    const { root } = members;
    const team = await root.data<{ account_id: number }>(root.post("/api/team/", { name: "ann", slug: "lab" }));
    const [row] = await app.database.db.selectFrom("usage_statistics").selectAll().limit(1).execute();
    if (!row) throw new Error("there are no sums");
    const ofTeam = { ...row, dimension: DIMENSION.userModel, owner_id: team.account_id, subject: "team-model" };
    await app.database.db.insertInto("usage_statistics").values(ofTeam).execute();
    const list = async (name: string) =>
      (await all(`by=model&username=${name}`)).subjects.map(({ subject }) => subject);
    expect(await list("team:lab")).toEqual(["team-model"]);
    expect(await list("ann")).toEqual(["gpt-4o"]);
    expect(await list("team:nothing")).toEqual([]);
  });

  test("answer the last minutes, users their own alone", async () => {
    const now = Math.floor(app.clock.now() / 1000);
    const { userId } = members.user;
    await insertLogs(app.database, [
      { created_at: now - 30, user_id: userId, channel_id: 4, quota: 3, model_name: "gpt-4o" },
      { created_at: now - 30, user_id: 999, channel_id: 4, quota: 8, model_name: "secret-model" },
      { created_at: now - 200, user_id: 999, channel_id: 5, quota: 8 },
    ]);
    const recent = (query: string) =>
      members.admin.data<UsageStatistics>(members.admin.get(`/api/statistics/recent?${query}`));
    const { subjects, total, start_timestamp, end_timestamp } = await recent("by=channel");
    expect(end_timestamp - start_timestamp).toBe(59);
    expect(subjects).toMatchObject([{ subject: "4", calls: 2, quota: 11 }]);
    expect(total).toMatchObject({ calls: 2, quota: 11 });
    expect((await recent("by=channel&seconds=300&limit=1")).more_subjects).toBe(1);
    const readOwnUsage = members.user.data<UsageStatistics>(members.user.get("/api/statistics/self/recent?by=model"));
    expect(await readOwnUsage).toMatchObject({ total: { calls: 1, quota: 3 }, subjects: [{ subject: "gpt-4o" }] });
    expect((await members.user.get("/api/statistics/recent")).body).toMatchObject({ success: false });
    expect(await readCode(members.admin.get("/api/statistics/recent?seconds=901"))).toBe("G1");
    expect(await readCode(members.user.get("/api/statistics/self/recent?by=channel"))).toBe("G1");
  });

  test("list channels without attempts after the others, on request", async () => {
    await members.admin.data(members.admin.post("/api/channel/", { name: "brand new", key: "k", models: "m" }));
    const channel = await app.database.db.selectFrom("channels").select("id").executeTakeFirstOrThrow();
    expect((await all("by=channel")).subjects).toEqual([]);
    expect((await all("by=model&idle=1")).subjects.map(({ calls }) => calls)).not.toContain(0);
    const { subjects, more_subjects } = await all("by=channel&idle=1&limit=5");
    expect(subjects).toMatchObject([{ subject: String(channel.id), name: "brand new", calls: 0, points: [] }]);
    expect(more_subjects).toBe(0);
  });

  test("forecast what runs out, for administrators", async () => {
    const { userId } = members.user;
    const today = Math.floor(app.clock.now() / 86_400_000) * 86_400;
    const day = { span: 86_400, dimension: DIMENSION.user, owner_id: userId, subject: String(userId), start: today };
    const sums = { calls: 1, errors: 0, refused: 0, input_tokens: 1, output_tokens: 1, latency: "", first_token: "" };
    await app.database.db.updateTable("users").set({ quota: 3_000 }).where("id", "=", userId).execute();
    await app.database.db
      .insertInto("usage_statistics")
      .values({ ...day, ...sums, quota: 1_000 })
      .execute();
    const found = await members.admin.data(members.admin.get("/api/statistics/forecast"));
    const now = Math.floor(app.clock.now() / 1000);
    const wanted = {
      kind: "user",
      id: userId,
      name: "ann",
      left: 3_000,
      per_day: 1_000,
      runs_out_at: now + 3 * 86_400,
    };
    expect(found).toMatchObject([wanted]);
    expect((await members.user.get("/api/statistics/forecast")).body).toMatchObject({ success: false });
  });

  test("refuse unknown dimensions, intervals and periods", async () => {
    const refused = (query: string) => readCode(members.admin.get(`/api/statistics/usage?${query}`));
    expect(await refused("by=planet")).toBe("G1");
    expect(await refused("interval=60")).toBe("G1");
    expect(await refused("interval=18000")).toBe("G1");
    expect(await refused("utc_offset=90000")).toBe("G1");
    expect(await refused("start_timestamp=20&end_timestamp=10")).toBe("G1");
    expect(await refused("start_timestamp=1&end_timestamp=1800000000")).toBe("G1");
  });
});
