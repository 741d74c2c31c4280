import { createDatabase } from "@fairway/testkit/databases";
import type { Webhook, WebhookDelivery, WebhookTestResult, WebhookWithKey } from "@fairway/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { setOptions, signInMembers, type Members } from "../../../test/kit/members.ts";
import { startReceiver, type Receiver } from "../../../test/kit/receiver.ts";
import { recordEvent } from "../../events/record-event.ts";

let app: ManagementApp;
let members: Members;
let receiver: Receiver;
const OPERATOR = "/api/webhook/operator/";
const OWN = "/api/webhook/";

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
  receiver = await startReceiver();
}, 60_000);
afterAll(async () => {
  await receiver.close();
  await app.close();
});

const create = (caller: ApiCaller, path: string, more: object = {}) =>
  caller.data<WebhookWithKey>(
    caller.post(path, { name: "on-call", format: "standard", url: "https://hooks.example.com/secret-path", ...more }),
  );
const fail = async (reply: Promise<{ readonly body: unknown }>) => (await reply).body;

describe("endpoints", () => {
  test("of the operator are tested, switched on, rotated and deleted; address and key are never read back", async () => {
    const { root } = members;
    const made = await create(root, OPERATOR, { url: `${receiver.url}/secret-path?token=secret-token` });
    expect(made).toMatchObject({ status: "untested", host: new URL(receiver.url).host });
    expect(made.signing_secret).toMatch(/^whsec_[\w+/]{43}=$/);
    expect(await fail(root.put(`${OPERATOR}${made.id}`, { status: "on" }))).toMatchObject({
      code: "WH6",
      field: "status",
    });
    const result = await root.data<WebhookTestResult>(root.post(`${OPERATOR}${made.id}/test`, {}));
    expect(result).toMatchObject({ passed: true, last_status: 204 });
    expect(receiver.received.at(-1)?.body).toContain("webhook.test");
    const rotated = await root.data<WebhookWithKey>(root.post(`${OPERATOR}${made.id}/rotate_secret`, {}));
    expect(rotated.signing_secret).not.toBe(made.signing_secret);
    await root.data(root.post(`${OPERATOR}${made.id}/test`, {}));
    expect(receiver.received.at(-1)?.headers["webhook-signature"]).toMatch(/^v1,\S+ v1,\S+$/);
    const shown = JSON.stringify(await root.data<Webhook[]>(root.get(OPERATOR)));
    const audit = JSON.stringify(await root.data(root.get("/api/audit/?page_size=100")));
    for (const secret of ["secret-path", "secret-token", made.signing_secret, rotated.signing_secret]) {
      expect(shown).not.toContain(secret);
      expect(audit).not.toContain(secret);
    }
    const quiet = { zone: "Asia/Shanghai", from: "22:00", to: "07:00", weekdays: [1] };
    for (const [sent, stored] of [
      [quiet, quiet],
      ["off", null],
    ])
      expect(await root.data(root.put(`${OPERATOR}${made.id}`, { quiet: sent }))).toMatchObject({ quiet: stored });
    const changed = await root.data<Webhook>(root.put(`${OPERATOR}${made.id}`, { url: `${receiver.url}/new` }));
    expect(changed.status).toBe("untested");
    await root.data(root.delete(`${OPERATOR}${made.id}`));
    expect(await fail(root.get(`${OPERATOR}${made.id}`))).toMatchObject({ code: "WH1" });
  });

  test("of a chat program have no key to rotate", async () => {
    const { root } = members;
    const { id, signing_secret: key } = await create(root, OPERATOR, { format: "slack" });
    expect(key).toBe("");
    expect(await fail(root.post(`${OPERATOR}${id}/rotate_secret`, {}))).toMatchObject({ code: "WH7" });
    await root.data(root.delete(`${OPERATOR}${id}`));
  });

  test("that do not answer stay untested, with the reason", async () => {
    const { root } = members;
    const { id } = await create(root, OPERATOR, { url: "http://127.0.0.1:1/" });
    const result = await root.data<WebhookTestResult>(root.post(`${OPERATOR}${id}/test`, {}));
    expect(result.passed).toBe(false);
    expect(result.last_error).toContain("no connection");
    expect(await root.data(root.get(`${OPERATOR}${id}`))).toMatchObject({ status: "untested" });
    await root.data(root.delete(`${OPERATOR}${id}`));
  });

  test.each([
    ["http://example.com/", "https://"],
    ["https://localhost/", "public"],
    ["https://169.254.169.254/", "public"],
    ["https://10.0.0.1/", "public"],
    ["not a url", "URL"],
  ])("of a person at %s are refused", async (url, reason) => {
    const reply = await fail(members.user.post(OWN, { name: "x", format: "standard", url }));
    expect(reply).toMatchObject({ success: false, code: "WH3", field: "url" });
    expect(JSON.stringify(reply)).toContain(reason);
  });

  test("name an unknown type, zone or a bot without a chat: refused with the field", async () => {
    const { user } = members;
    const base = { name: "x", format: "standard", url: "https://hooks.example.com/" };
    expect(await fail(user.post(OWN, { ...base, types: ["nothing.happened"] }))).toMatchObject({
      code: "WH9",
      field: "types",
    });
    const quiet = { zone: "Mars/Olympus", from: "22:00", to: "07:00", weekdays: [1] };
    expect(await fail(user.post(OWN, { ...base, quiet }))).toMatchObject({ code: "BU3", field: "quiet" });
    expect(await fail(user.post(OWN, { ...base, format: "telegram" }))).toMatchObject({
      code: "WH8",
      field: "chat_id",
    });
  });

  test("belong to one person: another one finds nothing, an administrator neither", async () => {
    const { user, admin, root } = members;
    const { id } = await create(user, OWN);
    for (const stranger of [admin, root])
      for (const reply of [
        stranger.get(`${OWN}${id}`),
        stranger.put(`${OWN}${id}`, { name: "mine" }),
        stranger.delete(`${OWN}${id}`),
        stranger.post(`${OWN}${id}/test`, {}),
        stranger.post(`${OWN}${id}/rotate_secret`, {}),
        stranger.get(`${OWN}${id}/deliveries`),
        stranger.post(`${OWN}${id}/recover`, { since: 0 }),
        stranger.post(`${OWN}${id}/deliveries/1/redeliver`, {}),
      ])
        expect(await fail(reply)).toMatchObject({ success: false, code: "WH1" });
    for (const caller of [user, admin]) expect(await fail(caller.get(OPERATOR))).toMatchObject({ code: "AU7" });
    await user.data(user.delete(`${OWN}${id}`));
  });

  test("are limited to five for each person, also when they are created at once", async () => {
    const { user } = members;
    const replies = await Promise.all(
      Array.from({ length: 8 }, () =>
        user.post(OWN, { name: "x", format: "standard", url: "https://hooks.example.com/" }),
      ),
    );
    const codes = replies.map(({ body }) => (body as { code?: string }).code);
    expect(codes.filter((code) => code === "WH2")).toHaveLength(3);
    for (const { id } of await user.data<Webhook[]>(user.get(OWN))) await user.data(user.delete(`${OWN}${id}`));
  });

  test("of people rest while the operator has switched them off", async () => {
    const { user, root } = members;
    await setOptions(root, { UserWebhooks: "false" });
    expect(
      await fail(user.post(OWN, { name: "x", format: "standard", url: "https://hooks.example.com/" })),
    ).toMatchObject({ code: "WH4" });
    await setOptions(root, { UserWebhooks: "true" });
  });
});

test("missed events are recovered once, and a delivery is sent again by its number", async () => {
  const { root } = members;
  const { id } = await create(root, OPERATOR, { url: receiver.url, types: ["balance.low"] });
  const at = app.clock.now();
  for (const n of [1, 2, 3])
    await recordEvent(app.database.db, { type: "balance.low", atMs: at, userId: 2, dedupKey: `missed-${n}`, data: {} });
  const recover = () =>
    root.data<number>(root.post(`${OPERATOR}${id}/recover`, { since: Math.floor(at / 1_000) - 60 }));
  expect([await recover(), await recover()]).toEqual([3, 0]);
  const rows = await root.data<WebhookDelivery[]>(
    root.get(`${OPERATOR}${id}/deliveries?state=waiting&type=balance.low`),
  );
  expect(rows).toHaveLength(3);
  const again = root.post(`${OPERATOR}${id}/deliveries/${rows[0]?.id}/redeliver`, {});
  expect(await root.data<number>(again)).toBe(1);
  expect(await fail(root.post(`${OPERATOR}${id}/deliveries/999999/redeliver`, {}))).toMatchObject({ code: "WH5" });
});

test("people list their own events, the operator those of all, and anyone the types", async () => {
  const { user, root } = members;
  const event = { type: "token.created", atMs: app.clock.now(), data: { name: "t" } } as const;
  await recordEvent(app.database.db, { ...event, userId: user.userId, dedupKey: "mine" });
  await recordEvent(app.database.db, { ...event, userId: root.userId, dedupKey: "theirs" });
  const own = await user.data<{ user_id: number }[]>(user.get("/api/event/self?type=token.created"));
  expect(own.map((one) => one.user_id)).toEqual([user.userId]);
  expect(await root.data<unknown[]>(root.get("/api/event/?type=token.created"))).toHaveLength(2);
  expect(await fail(user.get("/api/event/"))).toMatchObject({ code: "AU7" });
  expect(await user.data<unknown[]>(user.get("/api/event/types"))).toContainEqual(
    expect.objectContaining({ type: "token.created" }),
  );
});

test("endpoints of a team are those of its owners and admins, get its events, and take public addresses only", async () => {
  const { user, root } = members;
  await setOptions(root, { TeamCreation: "user" });
  const team = await user.data<{ id: number }>(user.post("/api/team/", { name: "Search", slug: "search" }));
  const path = `/api/team/${team.id}/webhook/`;
  expect(await fail(user.post(path, { name: "x", format: "standard", url: receiver.url }))).toMatchObject({
    code: "WH3",
    field: "url",
  });
  const { id } = await create(user, path);
  expect(await user.data<Webhook[]>(user.get(path))).toMatchObject([{ id, name: "on-call" }]);
  expect(await user.data<Webhook[]>(user.get(OWN))).not.toContainEqual(expect.objectContaining({ id }));
  expect(await fail(user.get(`${OWN}${id}`))).toMatchObject({ code: "WH1" });
  const other = await root.data<{ id: number }>(root.post("/api/team/", { name: "Ads", slug: "ads" }));
  expect(await fail(root.get(`/api/team/${other.id}/webhook/${id}`))).toMatchObject({ code: "WH1" });
  const at = app.clock.now() + 2_000;
  await recordEvent(app.database.db, {
    type: "balance.low",
    atMs: at,
    teamId: team.id,
    dedupKey: "team-low",
    data: {},
  });
  await recordEvent(app.database.db, {
    type: "balance.low",
    atMs: at,
    teamId: other.id,
    dedupKey: "ads-low",
    data: {},
  });
  await app.database.db.updateTable("webhook_endpoints").set({ status: "on" }).where("id", "=", id).execute();
  expect(await user.data<number>(user.post(`${path}${id}/recover`, { since: Math.floor(at / 1_000) - 1 }))).toBe(1);
  const rows = await user.data<WebhookDelivery[]>(user.get(`${path}${id}/deliveries?type=balance.low`));
  expect(rows).toHaveLength(1);
});
