import { startGateway, type GatewayProcess } from "@fairway/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openBrowser, openPage, shoot } from "./browser.ts";
import { asUser, signIn } from "./session.ts";

// Rows that documents and custom resources own are marked, and the refusal of a change names the owner.

const ROOT_PASSWORD = "harbour-master-1";
let gateway: GatewayProcess;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  gateway = await startGateway({ env: { FAIRWAY_ROOT_PASSWORD: ROOT_PASSWORD } });
  browser = await openBrowser();
  ({ page } = await openPage(browser, gateway.url));
  await signIn(page, "root", ROOT_PASSWORD);
  const channel = (name: string) => ({
    apiVersion: "fairway.dev/v1alpha1",
    kind: "Channel",
    metadata: { name },
    spec: { type: "openai", models: ["gpt-4o"], key: "sk-canary", priority: 5, enabled: true },
  });
  const apply = { manager: "kubernetes:ai", documents: [channel("openai-main")] };
  expect(await asUser(page, "POST", "/api/declarative/apply", apply)).toMatchObject({ success: true });
  const byHand = { type: 1, name: "by-hand", key: "sk-hand", models: "gpt-4o", group: "default" };
  expect(await asUser(page, "POST", "/api/channel/", byHand)).toMatchObject({ success: true });
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

test("the list and the form say which channel is managed, by whom, and which fields", async () => {
  await page.goto("/channel");
  const findRow = (name: string) => page.getByRole("row").filter({ hasText: name });
  await findRow("openai-main").getByRole("img", { name: "Managed by kubernetes:ai" }).waitFor();
  expect(await findRow("by-hand").getByText("Git").count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "channel-managed-list");
  await findRow("openai-main").getByRole("link", { name: "openai-main" }).click();
  const drawer = page.getByRole("dialog", { name: "Edit channel" });
  const note = drawer.getByRole("note").filter({ hasText: "Managed by kubernetes:ai" });
  expect(await note.textContent()).toContain("models");
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "channel-managed");
});

test("a channel that was switched by hand says until when that holds", async () => {
  const { data } = (await asUser(page, "GET", "/api/declarative/managed")) as { data: { resource_id: number }[] };
  const id = data[0]?.resource_id;
  expect(await asUser(page, "PUT", "/api/channel/", { id, status: 2 })).toMatchObject({ success: true });
  await page.goto(`/channel/${id}`);
  const note = page.getByRole("note").filter({ hasText: "Managed by kubernetes:ai" });
  await note.filter({ hasText: /switched by hand\. From .+ on, the document decides again/ }).waitFor();
});
