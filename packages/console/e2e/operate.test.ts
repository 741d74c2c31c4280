import { startGateway, type GatewayProcess } from "@fairway/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openBrowser, openPage, shoot } from "./browser.ts";

// The work of an operator beyond channels and tokens: limits, budgets, single keys, and the audit log.

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

test("a token gets limits of requests, and its row shows them", async () => {
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

test("a budget is made, filtered, changed and deleted", async () => {
  await page.goto("/budget");
  await page.getByRole("heading", { name: "No budgets yet" }).waitFor();
  await shoot(page, "budgets-empty");
  await page.keyboard.press("c");
  const drawer = page.getByRole("dialog", { name: "Add budget" });
  await drawer.getByRole("button", { name: "Create budget" }).click();
  await drawer.getByText("Please say whose budget it is.").waitFor();
  await drawer.getByText("Enter an amount above 0.").waitFor();
  const user = drawer.getByRole("combobox", { name: "User" });
  await user.fill("99");
  await drawer.getByRole("button", { name: "$10", exact: true }).click();
  await drawer.getByRole("button", { name: "Create budget" }).click();
  await drawer.getByText("There is no user 99.").waitFor();
  await user.fill("ro");
  await drawer.getByRole("option", { name: "root #1" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await user.press("ArrowDown");
  await user.press("Enter");
  expect(await user.inputValue()).toBe("root #1");
  await shoot(page, "budget-form");
  await drawer.getByRole("button", { name: "Create budget" }).click();
  await drawer.waitFor({ state: "detached" });
  const row = page.getByRole("row").filter({ hasText: "root #1" });
  await row.getByText("$10.00").waitFor();
  await row.getByText("Within").waitFor();
  await row.getByRole("meter", { name: "0 % used" }).waitFor();
  await shoot(page, "budgets");

  await page.getByLabel("Of what").selectOption("Group");
  await page.getByRole("heading", { name: "Nothing matches these filters" }).waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await row.getByRole("link", { name: "root #1" }).click();
  const edit = page.getByRole("dialog", { name: "Edit budget" });
  await edit.getByText("Refuse requests that would pass the limit").click();
  await edit.getByLabel("Notices at percent").fill("");
  await edit.getByLabel("Time zone").fill("Europe/Nowhere");
  await edit.getByRole("button", { name: "Save" }).click();
  await edit.getByText("The time zone Europe/Nowhere does not exist.").waitFor();
  await edit.getByLabel("Time zone").fill("Europe/Berlin");
  await edit.getByRole("button", { name: "Save" }).click();
  await row.getByText("only warns").waitFor();
  await row.getByText("Europe/Berlin").waitFor();

  await row.getByRole("button", { name: "Actions for User root #1" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "No budgets yet" }).waitFor();
});

test("the audit log shows who changed what, before and after", async () => {
  await page.goto("/audit");
  const rows = page.getByRole("row").filter({ hasText: "budgetUpdate" });
  await rows.first().getByText("time_zone, soft_percent, is_hard").waitFor();
  await page
    .getByText(/^root created token /)
    .first()
    .waitFor();
  await rows.first().getByRole("button", { name: "Show details" }).click();
  const changes = page.getByRole("table", { name: "What changed" });
  const zone = changes.getByRole("row").filter({ hasText: "time_zone" });
  await zone.getByText("UTC", { exact: true }).waitFor();
  await zone.getByText("Europe/Berlin").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "audit");
  await page.getByRole("row").filter({ hasText: "tokenCreate" }).getByRole("button", { name: "tokenCreate" }).click();
  await page.waitForURL(/action=tokenCreate/);
  await rows.first().waitFor({ state: "detached" });
  await page.getByRole("searchbox", { name: "User name" }).fill("nobody");
  await page.getByRole("heading", { name: "Nothing matches these filters" }).waitFor();
});

test("the audit log is for the super administrator alone", async () => {
  await page.route("**/api/user/self", async (route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as { data: Record<string, unknown> };
    await route.fulfill({ response, json: { ...answer, data: { ...answer.data, role: 10 } } });
  });
  await page.goto("/audit");
  await page.getByText("This page is for the super administrator.").waitFor();
  expect(await page.getByRole("link", { name: "Audit log" }).count()).toBe(0);
  await page.unrouteAll({ behavior: "wait" });
});

test("budgets and the audit log are whole on a phone and in the dark", async () => {
  await page.goto("/budget/add?scope=group");
  await page.evaluate(() => localStorage.setItem("theme-mode", "dark"));
  await page.setViewportSize({ width: 390, height: 844 });
  await page.reload();
  const drawer = page.getByRole("dialog", { name: "Add budget" });
  await drawer.getByRole("combobox", { name: "Group" }).fill("vip");
  await drawer.getByRole("button", { name: "$100", exact: true }).click();
  await shoot(page, "budget-form-phone-dark");
  await drawer.getByRole("button", { name: "Create budget" }).click();
  await drawer.waitFor({ state: "detached" });
  for (const path of ["/budget", "/audit"]) {
    await page.goto(path);
    await page.locator(".grid-row").first().waitFor();
    if (path === "/audit") await page.getByRole("button", { name: "Show details" }).first().click();
    expect(await axeFindings(page), path).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), path).toBeLessThanOrEqual(0);
    await shoot(page, `${path.slice(1)}-phone-dark`);
  }
  await page.evaluate(() => localStorage.removeItem("theme-mode"));
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("single keys of a channel are switched off and on, and the last one takes the channel with it", async () => {
  const made = await page.evaluate(async () => {
    const user = JSON.parse(localStorage.getItem("user") ?? "{}") as { id: number };
    const headers = { "content-type": "application/json", "New-Api-User": String(user.id) };
    const key = "sk-first-of-the-twins-1111\nsk-second-of-the-twins-2222";
    const body = { type: 1, name: "Twins", key, multi_key: true, models: "gpt-4o", group: "default" };
    const answer = await fetch("/api/channel/", { method: "POST", headers, body: JSON.stringify(body) });
    return (await answer.json()) as unknown;
  });
  expect(made).toMatchObject({ success: true });
  await page.goto("/channel/edit/1");
  const drawer = page.getByRole("dialog", { name: "Edit channel" });
  const keys = drawer.getByRole("group", { name: "Single keys" });
  await keys.getByText("2 of 2 in use").waitFor();
  await keys.getByRole("button", { name: "Disable key 1 …1111" }).click();
  await keys.getByText("1 of 2 in use").waitFor();
  await keys.getByText("Switched off", { exact: true }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await keys.scrollIntoViewIfNeeded();
  await shoot(page, "channel-keys");
  await keys.getByRole("button", { name: "Disable key 2 …2222" }).click();
  await keys.getByText("0 of 2 in use").waitFor();
  await drawer.getByText("Disabled", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  const row = page.getByRole("row").filter({ hasText: "Twins" });
  await row.getByText("Disabled").waitFor();
  await row.getByRole("link", { name: "Twins" }).click();
  await keys.getByRole("button", { name: "Enable key 2 …2222" }).click();
  await keys.getByText("1 of 2 in use").waitFor();
  await drawer.getByText("Enabled", { exact: true }).waitFor();
});

test("who lost the devices gets the second factor reset", async () => {
  await page.goto("/user/add");
  const drawer = page.getByRole("dialog", { name: "Add user" });
  await drawer.getByLabel("Username").fill("ada");
  await drawer.getByLabel(/^Password/).fill("lovelace-1843");
  await drawer.getByRole("button", { name: "Create user" }).click();
  await drawer.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Actions for ada" }).click();
  await page.getByRole("menuitem", { name: "Reset second factor" }).click();
  const question = page.getByRole("alertdialog", { name: "Reset the second factor of “ada”?" });
  await question.getByRole("button", { name: "Reset second factor" }).click();
  await page.getByText("“ada” was changed.").waitFor();
  await page.goto("/audit?action=userTwoFactorReset");
  await page
    .locator(".grid-row")
    .getByText(/^root reset the second factor of user /)
    .waitFor();
});

test("nothing went wrong behind the pages", () => {
  expect(faults).toEqual([]);
});
