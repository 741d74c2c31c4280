import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiCaller, ApiReply } from "../kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../kit/management-app.ts";
import { setOptions, signInMembers, type Members } from "../kit/members.ts";

/** Calls of several people at the same moment: none fails inside, and what they leave adds up. */

const PASSWORD = "a good password";

eachDatabase("calls at the same moment", (open) => {
  let app: ManagementApp;
  let members: Members;
  let root: ApiCaller;
  let admin: ApiCaller;

  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
    members = await signInMembers(app);
    ({ root, admin } = members);
  }, 60_000);
  afterAll(() => app.close());

  const times = <T>(count: number, work: (at: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, at) => work(at)));
  const outcomes = (replies: readonly ApiReply[]) =>
    replies.map(({ status, body }) => (body["success"] === true ? "done" : `${status} ${String(body["code"])}`));
  const count = (texts: readonly string[], text: string) => texts.filter((one) => one === text).length;
  const readUserRow = (username: string) =>
    app.database.db.selectFrom("users").selectAll().where("username", "=", username).executeTakeFirstOrThrow();
  const booked = async (userId: number) => {
    const rows = await app.database.db.selectFrom("ledger").select("quota").where("user_id", "=", userId).execute();
    return rows.reduce((sum, row) => sum + Number(row.quota), 0);
  };
  async function someone(username: string): Promise<ApiCaller> {
    await root.data(root.post("/api/user/", { username, password: PASSWORD }));
    return app.signIn(username, PASSWORD);
  }

  test("a name is assigned once", async () => {
    const register = () => app.anonymous().post("/api/user/register", { username: "twin", password: PASSWORD });
    const replies = outcomes(await times(8, register));
    expect([count(replies, "done"), count(replies, "200 R7")]).toEqual([1, 7]);
  });

  test("two administrators and a spender move one balance", async () => {
    const user = await someone("moved");
    const { id } = await readUserRow("moved");
    await root.data(root.post("/api/user/manage", { id, action: "add_quota", value: 1_000_000 }));
    const codes = await admin.data<string[]>(admin.post("/api/redemption/", { name: "gift", quota: 1_000, count: 6 }));
    const replies = await Promise.all([
      times(6, () => root.post("/api/user/manage", { id, action: "add_quota", value: 7 })),
      times(6, () => admin.put("/api/user/", { id, quota: 100, original_quota: 111 })),
      times(6, (at) => user.post("/api/user/topup", { key: codes[at] })),
      times(6, () => admin.put("/api/user/", { id, display_name: "Moved" })),
    ]);
    expect(new Set(outcomes(replies.flat()))).toEqual(new Set(["done"]));
    const row = await readUserRow("moved");
    expect([row.quota, row.display_name]).toEqual([1_000_000 + 42 - 66 + 6_000, "Moved"]);
    expect(await booked(id)).toBe(row.quota);
  });

  test("a code and invitation rewards are granted once", async () => {
    const [one, two] = [await someone("first"), await someone("second")];
    const [key] = await admin.data<string[]>(admin.post("/api/redemption/", { name: "one", quota: 500 }));
    const redeemed = outcomes(await times(10, (at) => (at % 2 ? one : two).post("/api/user/topup", { key })));
    expect([count(redeemed, "done"), count(redeemed, "200 D8")]).toEqual([1, 9]);
    await app.database.db.updateTable("users").set({ aff_quota: 1_600_000 }).where("username", "=", "first").execute();
    const moved = outcomes(await times(8, () => one.post("/api/user/aff_transfer", { quota: 500_000 })));
    expect([count(moved, "done"), count(moved, "200 U18")]).toEqual([3, 5]);
    const row = await readUserRow("first");
    expect([row.aff_quota, row.quota - (await booked(row.id))]).toEqual([100_000, 0]);
  });

  test("a token is changed, switched and deleted from several tabs", async () => {
    const user = await someone("tabs");
    const { id } = await user.data<{ id: number }>(user.post("/api/token/", { name: "t", remain_quota: 5 }));
    const replies = await Promise.all([
      times(25, (at) => user.put("/api/token/", { id, name: `t${at}`, remain_quota: at })),
      times(25, (at) => user.put("/api/token/?status_only=true", { id, status: 1 + (at % 2) })),
      times(6, () => user.delete(`/api/token/${id}`)),
      times(12, () => user.post("/api/token/batch", { ids: [id] })),
    ]);
    expect(outcomes(replies.flat()).filter((text) => text !== "done" && text !== "200 K2")).toEqual([]);
    const deletions = replies[2].filter(({ body }) => body["success"] === true).length;
    const batches = replies[3].map(({ body }) => Number(body["data"]));
    expect(batches.reduce((sum, one) => sum + one, 0) + Math.min(deletions, 1)).toBeGreaterThanOrEqual(1);
    expect((await user.get(`/api/token/${id}`)).body["code"]).toBe("K2");
  });

  test("access tokens are replaced, and the last one is valid", async () => {
    const user = await someone("rotator");
    const tokens = await times(8, () => user.data<string>(user.get("/api/user/token")));
    const states = await Promise.all(
      tokens.map(async (authorization) => (await app.anonymous().get("/api/user/self", { authorization })).status),
    );
    expect(states.filter((status) => status === 200)).toHaveLength(1);
  });

  test("channels are created, tagged, repaired and deleted", async () => {
    const form = { type: 1, key: "sk-x", models: "gpt-4o,gpt-4", group: "default,vip", tag: "t" };
    const replies = await Promise.all([
      times(6, (at) => admin.post("/api/channel/", { ...form, name: `c${at}` })),
      times(3, () => admin.post("/api/channel/fix", {})),
      times(3, (at) => admin.put("/api/channel/tag", { tag: "t", priority: at })),
      times(2, () => root.post("/api/channel/tag/disabled", { tag: "t" })),
      times(2, () => root.post("/api/channel/tag/enabled", { tag: "t" })),
      times(2, () => root.delete("/api/channel/disabled")),
      times(2, (at) => admin.put("/api/option/", { key: "x", value: String(at) })),
    ]);
    expect(new Set(outcomes(replies.slice(0, 6).flat()))).toEqual(new Set(["done"]));
    const { db } = app.database;
    const channels = await db.selectFrom("channels").select(["id", "status", "priority"]).execute();
    const abilities = await db.selectFrom("abilities").select(["channel_id", "enabled", "priority"]).execute();
    expect(abilities).toHaveLength(channels.length * 4);
    for (const { channel_id: id, enabled, priority } of abilities) {
      const channel = channels.find((one) => one.id === id);
      expect([Boolean(enabled), priority]).toEqual([channel?.status === 1, channel?.priority]);
    }
  });

  test("options are changed concurrently and none is lost", async () => {
    const keys = ["Notice", "About", "Footer", "SystemName", "TopUpLink", "MinTopUp"];
    const value = (key: string) => (key === "TopUpLink" ? "https://a.example" : key === "MinTopUp" ? "2" : `of ${key}`);
    const replies = await Promise.all(keys.map((key) => root.put("/api/option/", { key, value: value(key) })));
    expect(new Set(outcomes(replies))).toEqual(new Set(["done"]));
    const options = await root.data<{ key: string; value: string }[]>(root.get("/api/option/"));
    for (const key of keys) expect(options).toContainEqual({ key, value: value(key) });
    await setOptions(root, { MinTopUp: "1", TopUpLink: "" });
  });

  test("a budget of a period is created once", async () => {
    const make = () =>
      admin.post("/api/budget/", { scope: "group", subject: "default", period: "day", quota_limit: 500_000 });
    const replies = outcomes(await times(6, make));
    expect([count(replies, "done"), count(replies, "200 BU2")]).toEqual([1, 5]);
  });

  test("a user is promoted, edited, switched and deleted by two administrators", async () => {
    const user = await someone("fought");
    const { id } = await readUserRow("fought");
    const replies = await Promise.all([
      times(3, () => root.post("/api/user/manage", { id, action: "promote" })),
      times(3, () => admin.put("/api/user/", { id, group: "vip" })),
      times(3, () => admin.post("/api/user/manage", { id, action: "disable" })),
      times(3, () => user.post("/api/token/", { name: "t" })),
      times(2, () => root.delete(`/api/user/${id}`)),
    ]);
    const expected = ["done", "200 U1", "200 U3", "200 U9", "401 AU6", "401 AU8", "401 AU1"];
    expect(outcomes(replies.flat()).filter((text) => !expected.includes(text))).toEqual([]);
    const { db } = app.database;
    expect(await db.selectFrom("users").select("id").where("id", "=", id).execute()).toEqual([]);
    expect(await db.selectFrom("tokens").select("id").where("user_id", "=", id).execute()).toEqual([]);
    expect(await db.selectFrom("sessions").select("user_id").where("user_id", "=", id).execute()).toEqual([]);
  });
});
