import { mailBody, startMailServer, type MailServer } from "@fairway/testkit/smtp";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startRelayApp, type RelayApp } from "../kit/relay-app.ts";

let gateway: RelayApp;
let smtp: MailServer;

beforeAll(async () => {
  gateway = await startRelayApp({ FAIRWAY_PUBLIC_URL: "https://public.example" });
  smtp = await startMailServer();
  await gateway.option("SMTPServer", "127.0.0.1");
  await gateway.option("SMTPPort", smtp.port);
  await gateway.option("SMTPAccount", "gate@example.com");
  await gateway.option("QuotaRemindThreshold", 100_000_000 - 100);
  await gateway.database.db
    .updateTable("users")
    .set({ email: "owner@example.com" })
    .where("username", "=", "root")
    .execute();
});
afterAll(async () => {
  await gateway?.close();
  await smtp?.close();
});

it("mails an owner once when a charge takes the balance below the threshold", async () => {
  await gateway.channel("usage-60-10");
  const key = await gateway.token();
  const ask = () =>
    gateway.post("/v1/chat/completions", { model: "usage-60-10", messages: [{ role: "user", content: "hi" }] }, key);
  await ask();
  await gateway.settled();
  expect(smtp.mails).toEqual([]);
  await ask();
  await expect.poll(() => smtp.mails.length).toBe(1);
  await ask();
  await gateway.settled();
  expect(smtp.mails).toHaveLength(1);
  expect(smtp.mails[0]).toMatchObject({ to: ["owner@example.com"] });
  expect(mailBody(smtp.mails[0]!)).toContain("https://public.example/topup");
});
