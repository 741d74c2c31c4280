import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser } from "./session.ts";

// Endpoints of events, with a receiver that really gets the messages.

let opened: OpenConsole;
let page: Page;
let faults: readonly string[];
let address: string;
let status = 204;
const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];

const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString("utf8") });
    response.writeHead(status).end();
  });
});

beforeAll(async () => {
  await new Promise<void>((listening) => receiver.listen(0, "127.0.0.1", listening));
  address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook?token=secret`;
  opened = await openConsole();
  ({ page, faults } = opened);
});

afterAll(async () => {
  await opened?.close();
  receiver.closeAllConnections();
  receiver.close();
});

const main = () => page.getByRole("main");
const button = (name: string) => main().getByRole("button", { name, exact: true });
const drawer = (name = "Add endpoint") => page.getByRole("dialog", { name });
const rows = () => page.locator(".grid-row");

async function createEvent(name: string): Promise<void> {
  expect(await asUser(page, "POST", "/api/token/", { name, unlimited_quota: true })).toMatchObject({ success: true });
}

/** Waits until the gateway has looked at every event, so that none of them is sent later. */
async function untilNoneWaits(): Promise<void> {
  const database = new DatabaseSync(opened.file, { readOnly: true, timeout: 10_000 });
  const waiting = database.prepare(
    "select count(*) as count from events where id > (select revision from revisions where topic = 'event-fan-out')",
  );
  await expect.poll(() => waiting.get()?.["count"], { timeout: 15_000 }).toBe(0);
  database.close();
}

test("an endpoint is created from the settings, shows its key once, and is on after a test", async () => {
  await page.goto("/setting?tab=operation");
  const index = page.getByRole("navigation", { name: "Settings: sections" });
  await index.getByRole("link", { name: "The operator's event endpoints" }).click();
  await page.getByText("No endpoints yet").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("link", { name: "Add endpoint" }).first().click();
  await drawer().getByRole("button", { name: "Create endpoint" }).click();
  await drawer().getByText("Please enter the address.").waitFor();
  await drawer().getByLabel("Name").fill("on-call");
  await drawer().getByLabel("Address").fill(address);
  await drawer().getByText("All types", { exact: true }).click();
  await drawer().getByText("A token was created.").click();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "event-endpoint-form");
  await drawer().getByRole("button", { name: "Create endpoint" }).click();
  await page.waitForURL(/\/operator-webhook\/1$/);
  const key = (await page.getByTestId("signing-key").textContent()) ?? "";
  expect(key).toMatch(/^whsec_[\w+/]{43}=$/);
  await page.getByText("This endpoint gets events after a test message has arrived.").waitFor();
  await button("Send test message").click();
  await page.getByText("The test message was accepted. The endpoint is on.").waitFor();
  await page.getByText(/Status 204/).waitFor();
  expect(received.at(-1)?.body).toContain("webhook.test");
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "event-endpoint");
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "on-call" }).waitFor();
  await page.getByText("Nothing sent yet").waitFor();
  const shown = await main().innerText();
  for (const secret of [key, "token=secret"]) expect(shown).not.toContain(secret);
  expect(shown).toContain(new URL(address).host);
});

test("a delivery arrives, is sent again, and shows why it failed", async () => {
  await createEvent("build");
  await rows().filter({ hasText: "token.created" }).filter({ hasText: "Arrived" }).waitFor();
  const first = received.findLast(({ body }) => body.includes("token.created"));
  expect(first?.headers["webhook-signature"]).toMatch(/^v1,/);
  status = 500;
  await rows().first().hover();
  await rows().first().getByRole("button", { name: "Send again" }).click();
  await page.getByText("The event is on its way again.").waitFor();
  const failed = rows().filter({ hasText: "Waiting" }).filter({ hasText: "500" });
  await failed.waitFor();
  expect(received.at(-1)?.headers).toMatchObject({
    "webhook-id": first?.headers["webhook-id"],
    "fairway-redelivery": "1",
  });
  await page.getByText("On, but failing").waitFor();
  await failed.click();
  await page.getByText("Next attempt").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "event-deliveries");
  await page.getByLabel("Delivery").selectOption({ label: "Arrived" });
  await expect.poll(() => rows().count()).toBe(1);
  status = 204;
});

test("what was missed is sent since a time", async () => {
  await page.goto("/operator-webhook/1");
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Switch off" }).click();
  await page.getByText("“on-call” is off.").waitFor();
  await createEvent("missed");
  await untilNoneWaits();
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Switch on" }).click();
  await page.getByText("“on-call” is on.").waitFor();
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Send missed events" }).click();
  const dialog = page.getByRole("dialog", { name: "Send missed events" });
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("1 event is on the way.").waitFor();
  await expect.poll(() => received.some(({ body }) => body.includes('"missed"')), { timeout: 15_000 }).toBe(true);
});

test("a new key signs with the old one, and each format has its own fields", async () => {
  await page.goto("/operator-webhook/1");
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "New signing key" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "New signing key" }).click();
  await page.getByTestId("signing-key").waitFor();
  await button("Done").click();
  await page.getByTestId("signing-key").waitFor({ state: "detached" });
  await page.goto("/operator-webhook/add");
  const fields = async () =>
    (await drawer().locator("label").allInnerTexts()).map((text) => text.replace(/\s.*/s, "")).join(" ");
  for (const [format, wanted, missing] of [
    ["telegram", ["Chat", "Group"], ["Secret"]],
    ["feishu", ["Secret", "Language"], ["Chat"]],
    ["standard", ["Address"], ["Secret", "Chat", "Group", "Language"]],
  ] as const) {
    await drawer().getByLabel("Format").selectOption(format);
    const shown = (await fields()).split(" ");
    for (const name of wanted) expect(shown, format).toContain(name);
    for (const name of missing) expect(shown, format).not.toContain(name);
  }
  await drawer().getByText("Quiet hours", { exact: true }).click();
  await drawer().getByRole("combobox", { name: "Time zone" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await axeFindings(page, "color-contrast")).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
});

test("own endpoints take public addresses only, and the refusal is at the field", async () => {
  await page.goto("/webhook/add");
  await drawer().getByLabel("Name").fill("mine");
  await drawer().getByLabel("Address").fill(address);
  await drawer().getByRole("button", { name: "Create endpoint" }).click();
  await drawer().locator('[aria-invalid="true"]').waitFor();
  await drawer().getByLabel("Address").fill("https://hooks.example.com/x");
  await drawer().getByRole("button", { name: "Create endpoint" }).click();
  await page.waitForURL(/\/webhook\/\d+$/);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No endpoints yet").waitFor();
});

test("people choose their mails next to their endpoints", async () => {
  await page.goto("/webhook");
  await page.getByText("This gateway has no mail server, so nothing is mailed.").waitFor();
  await page.getByRole("link", { name: "Choose mails" }).click();
  const mails = drawer("Mails about events");
  await mails.getByText("A token was created.").click();
  expect(await mails.getByRole("checkbox", { name: /token\.leaked/ }).isDisabled()).toBe(true);
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "event-mails");
  await mails.getByRole("button", { name: "Save" }).click();
  await page.getByText("Your choice was saved.").waitFor();
  expect(await asUser(page, "GET", "/api/user/self/notifications")).toMatchObject({
    data: { types: ["balance.low", "balance.empty", "token.created", "token.leaked"], is_chosen: true },
  });
});

test("the events page says what happened, in the reader's language", async () => {
  await page.goto("/event?whose=all");
  await rows().filter({ hasText: "A token was created." }).filter({ hasText: "build" }).first().waitFor();
  await rows().first().click();
  await page.locator(".event-data").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "events");
  await page.getByRole("button", { name: "Language: English" }).click();
  await rows().filter({ hasText: "创建了令牌。" }).first().waitFor();
  await page.getByRole("button", { name: "语言：中文" }).click();
  await page.goto("/operator-webhook");
  await rows().filter({ hasText: "on-call" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "event-endpoints");
  expect(faults.filter((fault) => !fault.includes("404"))).toEqual([]);
});
