import { ROOT_PASSWORD, startGateway, startUpstream, type GatewayProcess, type Upstream } from "@fairway/testkit";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openBrowser, openPage, shoot } from "./browser.ts";

// From an empty gateway to the first request in its log, on the real server with a local provider.

const MAX_CLICKS = 12;

let upstream: Upstream;
let gateway: GatewayProcess;
let browser: Browser;
let page: Page;
let faults: readonly string[];
let clicks = 0;

async function press(target: Locator): Promise<void> {
  clicks += 1;
  await target.click();
}

const step = (title: string) => page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: title }) });
const button = (name: string) => page.getByRole("button", { name, exact: true });

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway();
  browser = await openBrowser();
  ({ page, faults } = await openPage(browser, gateway.url));
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.stop();
});

test("an empty gateway answers its first request within twelve clicks", async () => {
  await page.goto("/login");
  await page.getByLabel("Username").fill("root");
  await page.getByLabel("Password", { exact: true }).fill(ROOT_PASSWORD);
  await press(button("Log in"));
  await page.waitForURL(/\/token/);
  await press(page.getByRole("navigation").first().getByRole("link", { name: "Overview", exact: true }));
  await press(page.getByRole("main").getByRole("link", { name: "Get started" }));
  await page.getByRole("heading", { level: 1, name: "Get started" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "setup-empty");

  await page.getByLabel("Provider key", { exact: true }).fill("sk-fake-0123456789abcdef");
  await page.getByText("Looks like a key of OpenAI.").waitFor();
  await page.getByLabel("Address").fill(upstream.url);
  await press(button("Connect and test"));
  await page.getByText(/answered in/).waitFor();
  await page.getByRole("group", { name: "Models" }).getByText("/ 1M").first().waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "setup-provider");
  await press(button("Add channel"));

  await press(button("Create token"));
  await page.getByRole("tab", { name: "curl" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await press(button("Send a test request"));
  await page.getByText("It is in the log").waitFor();
  await shoot(page, "setup-arrived");
  await press(page.getByRole("link", { name: "Open it in the log" }));
  await page.waitForURL(/\/log\?request=/);
  await page.locator(".grid-row").first().waitFor();

  expect(clicks).toBeLessThanOrEqual(MAX_CLICKS);
  expect(faults).toEqual([]);
});

test("the page returns to where it was left, and shows each client's example", async () => {
  await page.goto("/setup");
  await step("Provider")
    .getByRole("link", { name: /OpenAI/ })
    .waitFor();
  await page.getByRole("tab", { name: "Anthropic" }).click();
  await page.getByText("from anthropic import Anthropic").waitFor();
  await button("Node.js").click();
  await page.getByText("@anthropic-ai/sdk").first().waitFor();
  await page.getByRole("tab", { name: "Codex" }).click();
  await page.getByText("~/.codex/config.toml").waitFor();
  await shoot(page, "setup-codex");
});

test("a key that the provider refuses says so, and can still be added", async () => {
  await page.goto("/setup");
  await step("Provider").getByRole("button", { name: "Add another" }).click();
  await page.getByLabel("Provider key", { exact: true }).fill("sk-fake-0123456789abcdef");
  await page.getByLabel("Address").fill("http://127.0.0.1:9");
  await button("Connect and test").click();
  await page.getByRole("status").filter({ hasText: /\w/ }).waitFor();
  await expect.poll(() => page.getByRole("status").first().innerText()).not.toContain("Reading the models");
  expect(await button("Add channel").count()).toBe(0);
});

test("the steps are in Chinese too, and fit a phone", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate(() => localStorage.setItem("fairway:language", "zh"));
  await page.goto("/setup");
  await page.getByRole("heading", { level: 1, name: "快速开始" }).waitFor();
  await page.getByRole("button", { name: "发送测试请求" }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await shoot(page, "setup-zh-phone");
});

test("an installation without an account makes its first one here", async () => {
  const empty = await startGateway({ env: { FAIRWAY_SETUP_WIZARD: "on", FAIRWAY_ROOT_PASSWORD: "" } });
  try {
    const { page: fresh } = await openPage(browser, empty.url);
    await fresh.goto("/token");
    await fresh.getByRole("heading", { level: 1, name: "Get started" }).waitFor();
    await fresh.getByLabel("Password", { exact: true }).fill("a-strong-password");
    await fresh.getByLabel("Repeat the password", { exact: true }).fill("a-strong-password");
    await fresh.getByRole("button", { name: "Create the account" }).click();
    await fresh.getByLabel("Provider key", { exact: true }).waitFor();
    await fresh.context().close();
  } finally {
    await empty.stop();
  }
});
