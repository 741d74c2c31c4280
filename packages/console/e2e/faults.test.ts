import {
  createChannel,
  ROOT_PASSWORD,
  signIn as apiSignIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Upstream,
} from "@fairway/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, openPage } from "./browser.ts";
import { signIn } from "./session.ts";

// Failures around the console leave the user a way to continue.

const broken = () => page.getByRole("row").filter({ hasText: "broken" });

let gateway: GatewayProcess;
let upstream: Upstream;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway();
  const root = await apiSignIn(gateway.url, "root", ROOT_PASSWORD);
  await createChannel(root, { name: "broken", base_url: upstream.url, models: "status-500" });
  browser = await openBrowser();
  ({ page } = await openPage(browser, gateway.url));
  await signIn(page, "root", ROOT_PASSWORD);
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.stop();
});

test("a script that is missing at the start says so, and a reload helps", async () => {
  const { page: other } = await openPage(browser, gateway.url);
  await other.route("**/assets/*.js", (route) => route.abort());
  await other.goto("/login");
  await other.getByRole("alert").getByText("could not be loaded").waitFor();
  await other.unroute("**/assets/*.js");
  await other.getByRole("button", { name: "Reload" }).click();
  await other.getByLabel("Username").waitFor();
  await other.context().close();
});

test("a page whose script is missing shows the error page, and a reload helps", async () => {
  await page.goto("/");
  const pattern = /assets\/channels\.page-[\w-]+\.js/;
  await page.route(pattern, (route) => route.abort());
  // It may be a new release, so the page reloads itself once.
  const reloaded = page.waitForEvent("load");
  await page.getByRole("navigation").getByRole("link", { name: "Channel" }).click();
  await reloaded;
  await page.getByRole("button", { name: "Try again" }).waitFor();
  await page.unroute(pattern);
  await page.getByRole("button", { name: "Try again" }).click();
  await broken().waitFor();
});

test("a part of a form whose script is missing is tried again, and the form keeps what was typed", async () => {
  const pattern = /assets\/json-editor-[\w-]+\.js/;
  await page.route(pattern, (route) => route.abort());
  await page.goto("/channel/add");
  const drawer = page.getByRole("dialog", { name: "Add channel" });
  await drawer.getByLabel("Name").fill("typed before");
  await drawer.getByRole("button", { name: "JSON" }).first().click();
  const failed = page.getByRole("alert").filter({ hasText: "This part of the page could not be loaded" });
  await failed.first().waitFor();
  await page.unroute(pattern);
  await failed.first().getByRole("button", { name: "Try again" }).click();
  await drawer.getByRole("textbox", { name: "Model mapping" }).waitFor();
  expect(await drawer.getByLabel("Name").inputValue()).toBe("typed before");
});

test("a failed test shows as failed in its row", async () => {
  await page.goto("/channel");
  const row = broken();
  await row.getByRole("button", { name: "Test broken" }).click();
  await row.getByText("failed").waitFor();
});

test("a question that deletes has its focus on Cancel", async () => {
  await page.goto("/channel");
  await page
    .getByRole("row", { name: /broken/ })
    .getByRole("button", { name: "Actions for broken" })
    .click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const dialog = page.getByRole("alertdialog");
  await dialog.waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Cancel");
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await broken().waitFor();
});

test("lists come back after an outage, without a reload", async () => {
  await page.goto("/channel");
  await broken().waitFor();
  await page.route("**/api/**", (route) => route.abort());
  await page.getByRole("navigation").getByRole("link", { name: "Token" }).click();
  await page.getByRole("alert").first().waitFor();
  await page.unroute("**/api/**");
  await page.getByRole("navigation").getByRole("link", { name: "Channel" }).click();
  await broken().waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "Token" }).click();
  await expect.poll(() => page.getByRole("alert").count()).toBe(0);
});
