import { eachDatabase } from "@fairway/testkit/databases";
import { REDEMPTION_STATUS } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../kit/management-app.ts";
import { ACCOUNT_PASSWORD, UserAccounts } from "../kit/user-accounts.ts";
import { setOptions, signInMembers, type Members } from "../kit/members.ts";

eachDatabase("causes write their events", (open) => {
  let app: ManagementApp;
  let members: Members;

  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
    members = await signInMembers(app);
  }, 60_000);
  afterAll(() => app.close());

  const listEvents = async (type: string) => {
    const rows = await app.database.db
      .selectFrom("events")
      .selectAll()
      .where("type", "=", type)
      .orderBy("id")
      .execute();
    return rows.map(({ data, user_id, account_id }) => ({ user_id, account_id, data: JSON.parse(data) as unknown }));
  };

  test("a new token, without its key", async () => {
    const { user } = members;
    const { id, key } = await user.data<{ id: number; key: string }>(user.post("/api/token/", { name: "build-bot" }));
    const events = await listEvents("token.created");
    expect(events.at(-1)).toMatchObject({ user_id: user.userId, data: { id, name: "build-bot" } });
    expect(JSON.stringify(events)).not.toContain(key);
  });

  test("a redeemed code, once, however often it is tried", async () => {
    const { root, user } = members;
    const [code] = await root.data<string[]>(root.post("/api/redemption/", { name: "spring", quota: 500, count: 1 }));
    await Promise.all([1, 2, 3].map(() => user.post("/api/user/topup", { key: code })));
    const [event, ...more] = await listEvents("redemption.used");
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      user_id: user.userId,
      account_id: user.userId,
      data: { name: "spring", quota: 500 },
    });
    const used = await app.database.db.selectFrom("redemptions").select("status").execute();
    expect(used).toEqual([{ status: REDEMPTION_STATUS.used }]);
  });

  test("a channel that the gateway switches off and on, for the operator alone", async () => {
    const { root } = members;
    const channel = { name: "quay", type: 1, key: "sk-secret-1", models: "m", group: "default" };
    await root.data(root.post("/api/channel/", channel));
    const { id } = await app.database.db.selectFrom("channels").select("id").executeTakeFirstOrThrow();
    expect(await app.operations.channels.disable(id, "invalid api key")).toBe(true);
    expect(await app.operations.channels.disable(id, "invalid api key")).toBe(false);
    const events = await listEvents("channel.disabled");
    expect(events).toEqual([
      { user_id: 0, account_id: 0, data: { id, name: "quay", by: "system", reason: "invalid api key" } },
    ]);
    const other = await app.operations.channels.store.switchBySystem(id, 3, 1, "");
    expect([other, (await listEvents("channel.enabled")).length]).toEqual([true, 1]);
  });

  test("a sign-in from a new browser, for its person, and none from a known one or to a new account", async () => {
    const accounts = new UserAccounts(app);
    const id = await accounts.add("nora");
    const browser = await app.signIn("nora", ACCOUNT_PASSWORD);
    await browser.signIn("nora", ACCOUNT_PASSWORD);
    const listOwn = async () => (await listEvents("signin.new_device")).filter((one) => one.user_id === id);
    expect(await listOwn()).toMatchObject([{ account_id: id, data: { username: "nora", address: "127.0.0.1" } }]);
    const countOwn = async () => (await listOwn()).length;
    app.clock.move(1_000);
    await app.signIn("nora", ACCOUNT_PASSWORD);
    expect(await countOwn()).toBe(2);
    const now = Math.floor(app.clock.now() / 1_000);
    await app.database.db.updateTable("users").set({ created_at: now }).where("id", "=", id).execute();
    await app.signIn("nora", ACCOUNT_PASSWORD);
    expect(await countOwn()).toBe(2);
  });

  test("an account that an administrator disables, once", async () => {
    const id = await new UserAccounts(app).add("otto");
    const disable = () => members.root.post("/api/user/manage", { username: "otto", action: "disable" });
    await members.root.data(disable());
    await disable();
    expect(await listEvents("account.disabled")).toMatchObject([
      { user_id: id, account_id: id, data: { username: "otto", by: "root" } },
    ]);
  });

  test("a registration, for the operator", async () => {
    await setOptions(members.root, { RegisterEnabled: "true", PasswordRegisterEnabled: "true" });
    const anonymous = app.anonymous();
    await anonymous.data(anonymous.post("/api/user/register", { username: "newcomer", password: "a good password" }));
    expect(await listEvents("user.registered")).toMatchObject([{ user_id: 0, data: { username: "newcomer" } }]);
  });
});
