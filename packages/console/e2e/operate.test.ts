import { startGateway, type GatewayProcess } from "@fairway/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openBrowser, openPage, shoot } from "./browser.ts";

// What an operator does beyond channels and tokens: limits, budgets, single keys, and who changed what.

const ROOT_PASSWORD = "harbour-master-1";

let gateway: GatewayProcess;
let browser: Browser;
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  gateway = await startGateway({ env: { FAIRWAY_ROOT_PASSWORD: ROOT_PASSWORD } });
  browser = await openBrowser();
  ({ page, faults } = await openPage(browser, gateway.url));
  await page.goto("/login");
  await page.getByLabel("Username").fill("root");
  await page.getByLabel("Password", { exact: true }).fill(ROOT_PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/token/);
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

test("a token gets limits of requests, and its row tells them", async () => {
  await page.goto("/token/add");
  const drawer = page.getByRole("dialog", { name: "Add token" });
  await drawer.getByLabel("Name").fill("limited");
  await drawer.getByLabel("Requests a minute").fill("0");
  await drawer.getByLabel("Tokens a minute").fill("10000");
  await drawer.getByRole("button", { name: "Create token" }).click();
  await drawer.getByText("Enter a whole number above 0, or nothing.").waitFor();
  await drawer.getByLabel("Requests a minute").fill("60");
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "token-limits");
  await drawer.getByRole("button", { name: "Create token" }).click();
  await page.getByRole("dialog", { name: "Your new key" }).getByRole("button", { name: "Done" }).click();
  const row = page.getByRole("row").filter({ hasText: "limited" });
  await row.getByText("60 requests/min · 10,000 tokens/min").waitFor();
  await shoot(page, "token-limits-list");
  await row.getByRole("link", { name: "limited" }).click();
  const edit = page.getByRole("dialog", { name: "Edit token" });
  await edit.getByLabel("Requests a minute").fill("");
  await edit.getByRole("button", { name: "Save" }).click();
  await row.getByText("10,000 tokens/min", { exact: true }).waitFor();
});

test("a user gets limits of requests, and blank ones follow everybody's", async () => {
  await page.goto("/user/edit/1");
  const drawer = page.getByRole("dialog", { name: "Edit user" });
  await drawer.getByLabel("At the same time").fill("4");
  expect(await axeFindings(page)).toEqual([]);
  await drawer.getByRole("button", { name: "Save" }).click();
  await drawer.waitFor({ state: "detached" });
  await page.goto("/token/add");
  await page.getByText("Your account: 4 at once.").waitFor();
});

test("nothing went wrong behind the pages", () => {
  expect(faults).toEqual([]);
});
