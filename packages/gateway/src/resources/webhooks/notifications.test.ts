import { createDatabase } from "@fairway/testkit/databases";
import type { Notifications, Webhook } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { signInMembers, type Members } from "../../../test/kit/members.ts";

let app: ManagementApp;
let members: Members;
const PATH = "/api/user/self/notifications";

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
}, 60_000);
afterAll(() => app.close());

const read = () => members.user.data<Notifications>(members.user.get("/api/user/self/notifications"));
const choose = (body: object) => members.user.data<Notifications>(members.user.put(PATH, body));
const fail = async (reply: Promise<{ readonly body: unknown }>) => (await reply).body;

test("without a choice the usual mails are sent, and security types cannot be switched off", async () => {
  expect(await read()).toMatchObject({ types: ["balance.low", "balance.empty"], is_chosen: false, can_mail: false });
  expect(await choose({ types: [] })).toMatchObject({ types: ["token.leaked"], is_chosen: true });
  const quiet = { zone: "Asia/Shanghai", from: "22:00", to: "07:00", weekdays: [1, 2] };
  expect(await choose({ types: ["token.created"], language: "zh", quiet })).toMatchObject({
    types: ["token.created", "token.leaked"],
    locked: ["token.leaked"],
    language: "zh",
    quiet,
  });
  expect(await choose({ quiet: "off" })).toMatchObject({ types: ["token.created", "token.leaked"], quiet: null });
});

test("a person sets the balance below which it is low, or leaves it to the operator", async () => {
  const { user, admin } = members;
  expect(await read()).toMatchObject({ balance_limit: null, usual_balance_limit: 1_000 });
  expect(await choose({ balance_limit: 2_500_000 })).toMatchObject({ balance_limit: 2_500_000 });
  expect(await choose({ language: "zh" })).toMatchObject({ balance_limit: 2_500_000 });
  expect(await admin.data<Notifications>(admin.get(PATH))).toMatchObject({ balance_limit: null });
  for (const wrong of [-1, 0.5, "0"])
    expect(await fail(user.put(PATH, { balance_limit: wrong }))).toMatchObject({ success: false });
  expect(await choose({ balance_limit: 0 })).toMatchObject({ balance_limit: 0 });
  expect(await choose({ balance_limit: "usual" })).toMatchObject({ balance_limit: null });
});

test("a choice is no endpoint: no list shows it, and it takes the place of none", async () => {
  const { user } = members;
  expect(await user.data<Webhook[]>(user.get("/api/webhook/"))).toEqual([]);
  const { id } = await app.database.db
    .selectFrom("webhook_endpoints")
    .select("id")
    .where("format", "=", "mail")
    .executeTakeFirstOrThrow();
  expect(await fail(user.put(`/api/webhook/${id}`, { status: "off" }))).toMatchObject({ code: "WH1" });
  expect(await fail(user.delete(`/api/webhook/${id}`))).toMatchObject({ code: "WH1" });
  for (let n = 0; n < 5; n++)
    await user.data(user.post("/api/webhook/", { name: "x", format: "slack", url: "https://hooks.example.com/" }));
});

test.each([
  [{ types: ["nothing.happened"] }, "WH9", "types"],
  [{ types: ["channel.disabled"] }, "WH10", "types"],
  [{ quiet: { zone: "Mars/Olympus", from: "22:00", to: "07:00", weekdays: [1] } }, "BU3", "quiet"],
])("%j is refused with the field", async (body, code, field) => {
  expect(await fail(members.user.put(PATH, body))).toMatchObject({ success: false, code, field });
});

test("eight choices at once are one", async () => {
  const { admin } = members;
  await Promise.all(Array.from({ length: 8 }, () => admin.data(admin.put(PATH, { types: ["token.created"] }))));
  const rows = app.database.db.selectFrom("webhook_endpoints").select("id").where("owner", "=", `user:${admin.userId}`);
  expect(await rows.execute()).toHaveLength(1);
});

test("a deleted account takes its endpoints and its mails with it", async () => {
  const { user, root } = members;
  await root.data(root.post("/api/user/manage", { id: user.userId, action: "delete" }));
  const rows = app.database.db.selectFrom("webhook_endpoints").select("id").where("owner", "=", `user:${user.userId}`);
  expect(await rows.execute()).toEqual([]);
});
