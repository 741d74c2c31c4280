import { createHash, createHmac } from "node:crypto";
import { createDatabase } from "@fairway/testkit/databases";
import { mailBody, startMailServer, type MailServer } from "@fairway/testkit/smtp";
import { Secret, TOTP } from "otpauth";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";
import { SoftwareAuthenticator } from "../../../test/kit/authenticator.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";

let app: ManagementApp;
let smtp: MailServer;
let ann: ApiCaller;
const password = "a good password";
const EMAIL = "ann@example.com";

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  smtp = await startMailServer();
});
afterAll(async () => {
  await app.close();
  await smtp.close();
});

async function setOptions(values: Record<string, string>): Promise<void> {
  for (const [key, value] of Object.entries(values)) {
    await app.database.db.deleteFrom("options").where("key", "=", key).execute();
    await app.database.db.insertInto("options").values({ key, value }).execute();
  }
  await app.snapshots.refresh();
}

beforeEach(async () => {
  const { db } = app.database;
  for (const table of ["options", "passkeys", "one_time_codes"] as const) await db.deleteFrom(table).execute();
  await db.deleteFrom("users").where("username", "!=", "root").execute();
  await setOptions({ SMTPServer: "127.0.0.1", SMTPPort: String(smtp.port), SMTPAccount: "gate@example.com" });
  app.clock.move(2000);
  await app.anonymous().post("/api/user/register", { username: "ann", password });
  await db.updateTable("users").set({ email: EMAIL }).where("username", "=", "ann").execute();
  ann = await app.signIn("ann", password);
  smtp.mails.length = 0;
});

/** Returns what the events of the account say that has changed, oldest first. */
async function recorded(userId = ann.userId): Promise<string[]> {
  const rows = app.database.db.selectFrom("events").select(["user_id", "data"]).orderBy("id");
  const all = await rows.where("type", "=", "account.credentials_changed").where("user_id", "=", userId).execute();
  return all.map((row) => {
    const { username, change, address, by } = JSON.parse(row.data) as Record<string, string>;
    expect([username, address]).toEqual(["ann", "127.0.0.1"]);
    return by === undefined ? String(change) : `${change} by ${by}`;
  });
}

/** Returns the mails since the last call, with their recipients. */
async function received(): Promise<string[]> {
  await app.settled();
  const said = smtp.mails.map((mail) => {
    const body = mailBody(mail);
    expect(body).toContain("<strong>ann</strong>");
    expect(body).toContain("from the address 127.0.0.1");
    return `${mail.to.join()}: ${/was changed:<\/p>\s*<p>(.*)<\/p>/.exec(body)?.[1] ?? body}`;
  });
  smtp.mails.length = 0;
  return said.toSorted();
}

// @weakness Credentials: The owner gets no notice of a new way into the account
test("every change of the ways to sign in is mailed to the account's address", async () => {
  await ann.data(ann.get("/api/user/token"));
  expect(await received()).toEqual([`${EMAIL}: The system access token was made.`]);
  await ann.data(ann.post("/api/user/self/access_tokens", { name: "<ci>", scopes: ["read"] }));
  expect(await received()).toEqual([`${EMAIL}: The access token &quot;&lt;ci&gt;&quot; was made.`]);
  await ann.data(ann.put("/api/user/self", { password }));
  expect(await received()).toEqual([`${EMAIL}: The password was changed.`]);

  const path = "/api/user/self/two_factor";
  const { secret } = await ann.data<{ secret: string }>(ann.post(path, {}));
  const code = () => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: app.clock.now() });
  await ann.data(ann.post(`${path}/confirm`, { code: code() }));
  expect(await received()).toEqual([`${EMAIL}: Two-factor sign-in was switched on.`]);
  app.clock.move(30);
  await ann.data(ann.post("/api/user/2fa/backup_codes", { code: code() }));
  app.clock.move(30);
  await ann.data(ann.post(`${path}/recovery_codes`, { code: code() }));
  expect(await received()).toEqual([
    `${EMAIL}: The recovery codes were replaced.`,
    `${EMAIL}: The recovery codes were replaced.`,
  ]);
  app.clock.move(30);
  await ann.data(ann.post("/api/user/2fa/disable", { code: code() }));
  expect(await received()).toEqual([`${EMAIL}: Two-factor sign-in was switched off.`]);

  const device = new SoftwareAuthenticator();
  const options = await ann.data<Parameters<SoftwareAuthenticator["create"]>[0]>(
    ann.post("/api/user/self/passkeys/options", {}),
  );
  const response = device.create(options, { origin: app.baseUrl });
  const { id } = await ann.data<{ id: number }>(ann.post("/api/user/self/passkeys", { name: "Laptop", response }));
  expect(await received()).toEqual([`${EMAIL}: The passkey &quot;Laptop&quot; was added.`]);
  await ann.data(ann.delete(`/api/user/self/passkeys/${id}`));
  expect(await received()).toEqual([`${EMAIL}: A passkey was removed.`]);
  await ann.data(ann.delete("/api/user/passkey"));
  expect(await received()).toEqual([`${EMAIL}: All passkeys were removed.`]);
  const made = ["access_token_made", "access_token_made", "password_changed"];
  const factor = ["two_factor_on", "recovery_codes_replaced", "recovery_codes_replaced", "two_factor_off"];
  // Nothing was left for the last call to remove.
  expect(await recorded()).toEqual([...made, ...factor, "passkey_added", "passkeys_removed"]);
});

test("a change that fails makes no event", async () => {
  await ann.post("/api/user/self/two_factor", {});
  await ann.post("/api/user/self/two_factor/confirm", { code: "000000" });
  await ann.put("/api/user/self", { password: "short" });
  expect(await ann.delete("/api/user/self/passkeys/999999")).toMatchObject({ body: { success: false } });
  expect(await recorded()).toEqual([]);
});

test("so is what administrators and mails change", async () => {
  const root = await app.signIn("root");
  const { userId } = ann;
  await root.data(root.put("/api/user/", { id: userId, password }));
  expect(await received()).toEqual([`${EMAIL}: The password was changed by an administrator.`]);
  await root.data(root.delete(`/api/user/${userId}/two_factor`));
  await root.data(root.delete(`/api/user/${userId}/2fa`));
  await root.data(root.delete(`/api/user/${userId}/reset_passkey`));
  expect(await received()).toEqual([
    `${EMAIL}: An administrator removed: passkeys.`,
    `${EMAIL}: An administrator removed: two-factor sign-in and passkeys.`,
    `${EMAIL}: An administrator removed: two-factor sign-in.`,
  ]);
  await app.anonymous().get(`/api/reset_password?email=${EMAIL}`);
  await app.settled();
  const token = /token=([0-9a-f]{32})/.exec(mailBody(smtp.mails.at(-1)!))?.[1] ?? "";
  smtp.mails.length = 0;
  await app.anonymous().post("/api/user/reset", { email: EMAIL, token });
  expect(await received()).toEqual([`${EMAIL}: The password was reset by e-mail.`]);
  const reset = ["two_factor_off", "passkeys_removed", "two_factor_off", "passkeys_removed"];
  const byRoot = ["password_changed", ...reset].map((change) => `${change} by root`);
  expect(await recorded()).toEqual([...byRoot, "password_reset"]);
});

test("so is an account of a sign-in service", async () => {
  const bot = "123456:TEST-TOKEN";
  await setOptions({ TelegramOAuthEnabled: "true", TelegramBotToken: bot, TelegramBotName: "bot" });
  const fields = { auth_date: String(Math.floor(app.clock.now() / 1000)), id: "42" };
  const signed = Object.entries(fields).map(([name, value]) => `${name}=${value}`);
  const secret = createHash("sha256").update(bot).digest();
  const hash = createHmac("sha256", secret).update(signed.join("\n")).digest("hex");
  await ann.data(ann.get(`/api/oauth/telegram/bind?${signed.join("&")}&hash=${hash}`));
  expect(await received()).toEqual([`${EMAIL}: A Telegram account was bound.`]);
  expect(await recorded()).toEqual(["account_bound"]);
});

test("a new address is received to the old one too", async () => {
  const next = "new@example.com";
  await ann.data(ann.get(`/api/verification?email=${next}`));
  const code = /<strong>([2-9a-z]{6})<\/strong>/.exec(mailBody(smtp.mails.at(-1)!))?.[1] ?? "";
  smtp.mails.length = 0;
  await ann.data(ann.get(`/api/oauth/email/bind?email=${next}&code=${code}`));
  expect(await received()).toEqual([
    `${EMAIL}: The e-mail address was set to ${next}.`,
    `${next}: The e-mail address was set to ${next}.`,
  ]);
  expect(await recorded()).toEqual(["email_changed"]);
});

test("a mail server that is away, or none, holds no change up", async () => {
  await setOptions({ SMTPPort: "1" });
  expect((await ann.get("/api/user/token")).body["success"]).toBe(true);
  await setOptions({ SMTPServer: "" });
  expect((await ann.get("/api/user/token")).body["success"]).toBe(true);
  expect(await received()).toEqual([]);
});
