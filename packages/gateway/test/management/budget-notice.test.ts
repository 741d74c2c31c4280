import { mailBody, startMailServer, type MailServer } from "@fairway/testkit/smtp";
import type { Budget, LogExplanation } from "@fairway/wire";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startRelayApp, type RelayApp } from "../kit/relay-app.ts";

let gateway: RelayApp;
let smtp: MailServer;

beforeAll(async () => {
  gateway = await startRelayApp();
  smtp = await startMailServer();
  await gateway.option("SMTPServer", "127.0.0.1");
  await gateway.option("SMTPPort", smtp.port);
  await gateway.option("SMTPAccount", "gate@example.com");
  const { db } = gateway.database;
  await db.updateTable("users").set({ email: "root@example.com" }).where("username", "=", "root").execute();
  await gateway.channel("plain");
});
afterAll(async () => {
  await gateway?.close();
  await smtp?.close();
});

async function tokenWithBudget(name: string, isHard: boolean): Promise<{ readonly key: string; readonly id: string }> {
  const key = await gateway.token({ name });
  const { db } = gateway.database;
  const { id } = await db.selectFrom("tokens").select("id").where("name", "=", name).executeTakeFirstOrThrow();
  const budget = { scope: "token", subject: String(id), period: "day", quota_limit: 1, is_hard: isHard };
  await gateway.root.must<Budget>("POST", "/api/budget/", budget);
  return { key, id: String(id) };
}
const ask = (key: string) =>
  gateway.post("/v1/chat/completions", { model: "plain", messages: [{ role: "user", content: "hi" }] }, key);

it("the mail about a budget names the token", async () => {
  const { key, id } = await tokenWithBudget("build-bot", false);
  expect((await ask(key)).status).toBe(200);
  await expect.poll(() => smtp.mails.length).toBeGreaterThan(0);
  const [mail] = smtp.mails;
  expect(mail).toMatchObject({ to: ["root@example.com"] });
  expect(mailBody(mail!)).toContain(`budget of token build-bot #${id} has reached`);
  expect(gateway.logLines()).toContain('"name":"build-bot"');
});

it("the explanation of a call over budget names the token", async () => {
  const { key, id } = await tokenWithBudget("deploy-bot", true);
  const refused = await ask(key);
  expect(refused.status).toBe(403);
  const request = refused.headers.get("x-request-id") ?? "";
  const rows = () => gateway.root.must<{ items: { id: number }[] }>("GET", `/api/log/?request_id=${request}`);
  await expect.poll(async () => (await rows()).items.length).toBe(1);
  const [row] = (await rows()).items;
  const found = await gateway.root.must<LogExplanation>("GET", `/api/log/${row?.id}/explain`);
  expect(found.budget).toMatchObject({ scope: "token", subject: id, subject_name: "deploy-bot" });
});
