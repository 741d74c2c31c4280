import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readRefusal, signInMembers, type Members } from "../../../test/kit/members.ts";

const REUSED = [
  409,
  "G12",
  "This Idempotency-Key was sent with another change before: send a new key with a new change.",
];

eachDatabase("a change of a balance with an Idempotency-Key", (open) => {
  let app: ManagementApp;
  let members: Members;
  let made = 0;
  let key: string;

  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
    members = await signInMembers(app);
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.database.db.updateTable("users").set({ quota: 0 }).execute();
    key = `change:${(made += 1)}`;
  });

  const send = (who: ApiCaller, path: string, body: object, headers: Record<string, string> = {}) =>
    who.call("POST", path, { body, headers: { "idempotency-key": key, ...headers } });
  const add = (who: ApiCaller, value: number, more: object = {}) =>
    send(who, "/api/user/manage", { id: members.user.userId, action: "add_quota", value, ...more });
  const balance = async (id = members.user.userId) =>
    (await app.database.db.selectFrom("users").select("quota").where("id", "=", id).executeTakeFirstOrThrow()).quota;
  const traces = async () => {
    const ledger = app.database.db.selectFrom("ledger").select("quota").where("user_id", "=", members.user.userId);
    const logs = app.database.db.selectFrom("logs").select("id").where("user_id", "=", members.user.userId);
    return [(await ledger.execute()).length, (await logs.where("content", "like", "%user quota%").execute()).length];
  };

  test("counts once, however often it is sent; the answer has the balance of now", async () => {
    const before = await traces();
    expect(await members.admin.data(add(members.admin, 50))).toMatchObject({ quota: 50 });
    await app.database.db.updateTable("users").set({ quota: 45 }).where("id", "=", members.user.userId).execute();
    expect(await members.admin.data(add(members.admin, 50))).toMatchObject({ quota: 45 });
    expect(await balance()).toBe(45);
    expect(await traces()).toEqual(before.map((count) => count + 1));
  });

  test("counts once where it is sent several times at once", async () => {
    for (let round = 0; round < 5; round += 1) {
      key = `race:${made}:${round}`;
      const before = await balance();
      const replies = await Promise.all(Array.from({ length: 6 }, () => add(members.admin, 7)));
      expect(replies.map(({ body }) => body["success"])).toEqual(replies.map(() => true));
      expect(await balance()).toBe(before + 7);
    }
  });

  test("is applied in no other way under the same key, also to another user at the same time", async () => {
    await members.admin.data(add(members.admin, 50));
    expect(await readRefusal(add(members.admin, 51))).toEqual(REUSED);
    expect(await readRefusal(add(members.admin, 50, { mode: "subtract" }))).toEqual(REUSED);
    const topUp = { user_id: members.user.userId, quota: 50, remark: "invoice 7" };
    expect(await readRefusal(send(members.admin, "/api/topup", topUp))).toEqual(REUSED);
    expect(await balance()).toBe(50);
    for (let round = 0; round < 5; round += 1) {
      key = `other:${made}:${round}`;
      const sum = async () => (await balance()) + (await balance(members.admin.userId));
      const before = await sum();
      const replies = await Promise.all([add(members.root, 9), add(members.root, 9, { id: members.admin.userId })]);
      expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
      expect(await sum()).toBe(before + 9);
    }
  });

  test("a balance that was set once is not set again", async () => {
    await members.admin.data(add(members.admin, 80, { mode: "override" }));
    await app.database.db.updateTable("users").set({ quota: 60 }).where("id", "=", members.user.userId).execute();
    expect(await members.admin.data(add(members.admin, 80, { mode: "override" }))).toMatchObject({ quota: 60 });
    // The same holds if it changed nothing the first time.
    key = `${key}:same`;
    await members.admin.data(add(members.admin, 60, { mode: "override" }));
    await app.database.db.updateTable("users").set({ quota: 10 }).where("id", "=", members.user.userId).execute();
    expect(await members.admin.data(add(members.admin, 60, { mode: "override" }))).toMatchObject({ quota: 10 });
  });

  test("what was refused may be sent again", async () => {
    expect((await add(members.admin, -5)).body["code"]).toBe("U16");
    await app.database.db.updateTable("users").set({ quota: 5 }).where("id", "=", members.user.userId).execute();
    expect(await members.admin.data(add(members.admin, -5))).toMatchObject({ quota: 0 });
    expect(await members.admin.data(add(members.admin, -5))).toMatchObject({ quota: 0 });
  });

  test("a payment of a program counts once with its remark", async () => {
    const topUp = (remark: string) =>
      send(members.admin, "/api/topup", { user_id: members.user.userId, quota: 30, remark });
    for (let tries = 0; tries < 3; tries += 1) await members.admin.data(topUp("invoice 7"));
    expect(await balance()).toBe(30);
    expect(await readRefusal(topUp("invoice 8"))).toEqual(REUSED);
  });

  test("each administrator has keys of his own, and a key has a form", async () => {
    await members.admin.data(add(members.admin, 1));
    await members.root.data(add(members.root, 1));
    expect(await balance()).toBe(2);
    key = "two words";
    expect(await readRefusal(add(members.admin, 1))).toEqual([
      400,
      "G11",
      "The header Idempotency-Key takes 1 to 255 letters, digits, dots, colons, hyphens and underscores.",
    ]);
    expect(await balance()).toBe(2);
  });
});
