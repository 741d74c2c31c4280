import { eachDatabase } from "@fairway/testkit/databases";
import { mailBody, startMailServer, type MailServer } from "@fairway/testkit/smtp";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openWebhookKit, type WebhookKit } from "../../test/kit/webhook-kit.ts";
import { accountRow } from "../identity/accounts/accounts.ts";
import { insertRow } from "../storage/inserts.ts";

const MINUTE = 60_000;

eachDatabase("mails about events", (open) => {
  let kit: WebhookKit;
  let smtp: MailServer;
  let userId: number;

  beforeAll(async () => {
    kit = await openWebhookKit(await open(), 300);
    const account = accountRow({ username: "mia", passwordHash: "x", email: "mia@example.com", createdAt: 1 });
    userId = await insertRow(kit.database.db, "users", account);
  });
  afterAll(() => kit.close());
  beforeEach(async () => {
    await kit.clear();
    smtp = await startMailServer();
    kit.options.values = { ...kit.options.values, ...serve(smtp.port), UserWebhooks: false };
  });
  afterEach(() => smtp.close());

  const serve = (port: number) => ({ SMTPServer: "127.0.0.1", SMTPPort: port, SMTPAccount: "gate@example.com" });
  const add = (more: object = {}) =>
    kit.addEndpoint({ owner: `user:${userId}`, format: "mail", types: '["token.created"]', ...more });
  const record = (name: string) => kit.record({ type: "token.created", userId, data: { name } });

  test("a chosen event is mailed to the person in the chosen language, also where endpoints are switched off", async () => {
    await add({ language: "zh" });
    await record("ci");
    await kit.record({ userId });
    await kit.run();
    expect(smtp.mails).toHaveLength(1);
    const [mail] = smtp.mails;
    expect(mail?.to).toEqual(["mia@example.com"]);
    expect(Buffer.from(mailBody(mail!), "latin1").toString("utf8")).toContain("令牌 ci 已创建");
    expect(await kit.deliveries()).toMatchObject([{ state: "done", attempts: 1 }]);
  });

  test("what happens within the time of a group is one mail, and names make no links", async () => {
    await add({ group_seconds: 60 });
    for (const name of ["<b>a</b>", "https://evil.example", "c"]) await record(name);
    await kit.run();
    expect(smtp.mails).toEqual([]);
    kit.move(2 * MINUTE);
    await kit.run();
    expect(smtp.mails).toHaveLength(1);
    const body = mailBody(smtp.mails[0]!);
    expect(body).not.toContain("<b>a</b>");
    expect(body).not.toContain("https://evil.example");
  });

  test("a mail server that is down gets the mail later, and never switches the mails off", async () => {
    await add();
    await smtp.close();
    await record("ci");
    await kit.run();
    expect(await kit.deliveries()).toMatchObject([
      { state: "waiting", attempts: 1, last_error: "the mail server did not accept the mail" },
    ]);
    await kit.database.db.updateTable("webhook_endpoints").set({ failures: 100, failing_since: 1 }).execute();
    kit.move(2 * MINUTE);
    await kit.run();
    expect(await kit.database.db.selectFrom("webhook_endpoints").select("status").execute()).toEqual([
      { status: "on" },
    ]);
    smtp = await startMailServer();
    kit.options.values = { ...kit.options.values, ...serve(smtp.port) };
    kit.move(3_600 * 1_000);
    await kit.run();
    expect(smtp.mails).toHaveLength(1);
  });

  test("without a mail server nothing waits, and an account that is off is not mailed", async () => {
    await add();
    kit.options.values = { ...kit.options.values, SMTPServer: "" };
    await record("unsent");
    await kit.run();
    expect(await kit.deliveries()).toEqual([]);
    kit.options.values = { ...kit.options.values, ...serve(smtp.port) };
    const mia = kit.database.db.updateTable("users").where("id", "=", userId);
    await mia.set({ status: 2 }).execute();
    await record("off");
    await kit.run();
    await mia.set({ status: 1 }).execute();
    expect(smtp.mails).toEqual([]);
    expect(await kit.deliveries()).toMatchObject([{ state: "done" }]);
  });
});
