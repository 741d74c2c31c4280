import { startGateway, startUpstream, type GatewayProcess, type Upstream } from "@fairway/testkit";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openBrowser, openPage, shoot } from "./browser.ts";

// One journey through the product by its first user: each test continues where the previous one stopped.

const MODEL = "gpt-4o";
/** 20 tokens in and 10 out at 2.50 and 10.00 dollars per million. */
const CHARGE = "$0.000150";
const MAX_SCRIPT_KB = { entry: 190, list: 254 };
const MAX_SCRIPTS = 15;

let upstream: Upstream;
let gateway: GatewayProcess;
let browser: Browser;
let page: Page;
let faults: readonly string[];
let key = "";

beforeAll(async () => {
  upstream = await startUpstream();
  // Without a configured password, a gateway on loopback starts with the well-known one.
  gateway = await startGateway({ env: { FAIRWAY_ROOT_PASSWORD: "" } });
  browser = await openBrowser();
  ({ page, faults } = await openPage(browser, gateway.url));
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.stop();
});

async function signIn(on: Page, password = "123456"): Promise<void> {
  await on.getByLabel("Username").fill("root");
  await on.getByLabel("Password", { exact: true }).fill(password);
  await on.keyboard.press("Enter");
}

const heading = (name: string) => page.getByRole("heading", { level: 1, name });

test("a visitor of a private page signs in first (C-023)", async () => {
  await page.goto("/channel");
  await page.waitForURL(/\/login\?next=%2Fchannel/);
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("Please enter your username and password!").waitFor();
  await signIn(page, "wrong-password");
  await page.getByText("Wrong username or password, or the account has been disabled.").waitFor();
});

test("the default password is warned about (C-096)", async () => {
  await page.goto("/login");
  await signIn(page);
  const warning = page.getByRole("alertdialog", { name: "You are using the default password!" });
  await warning.waitFor();
  await warning.getByText("Please change the default password immediately!").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "default-password");
  expect(new URL(page.url()).pathname).toBe("/token");
  await warning.getByRole("button", { name: "Later" }).click();
  await warning.waitFor({ state: "detached" });
});

test("the overview says what comes next", async () => {
  await page.goto("/");
  await heading("Overview").waitFor();
  await page.getByRole("heading", { name: "Next steps" }).waitFor();
  await shoot(page, "overview");
  expect(await axeFindings(page)).toEqual([]);
  await page.goto("/channel");
  await page.getByRole("link", { name: "Add channel" }).first().click();
  await page.getByRole("dialog", { name: "Add channel" }).waitFor();
});

test("a channel is refused without its parts and then created (C-203, C-233)", async () => {
  const drawer = page.getByRole("dialog", { name: "Add channel" });
  const models = drawer.getByRole("combobox", { name: "Models" });
  await drawer.getByRole("button", { name: "Clear" }).click();
  await drawer.getByRole("button", { name: "Create channel" }).click();
  expect(await drawer.getByText("Please fill in the channel name and channel key!").count()).toBe(2);
  await drawer.getByText("Please select at least one model!").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await drawer.getByLabel("Name").fill("Harbour");
  await drawer.getByRole("textbox", { name: "Key" }).fill("upstream-key");
  await drawer.getByLabel("Base address").fill(`${upstream.url}/`);
  await models.fill(`${MODEL},slow-300`);
  await models.press("Enter");
  await drawer.getByRole("button", { name: "Test", exact: true }).click();
  await drawer.getByText(/The provider answered in \d+\.\d\d s\./).waitFor();
  await shoot(page, "channel-form");
  const adding = page.waitForRequest(
    (request) => request.method() === "POST" && request.url().endsWith("/api/channel/"),
  );
  await drawer.getByRole("button", { name: "Create channel" }).click();
  expect((await adding).postDataJSON()).toMatchObject({ name: "Harbour", key: "upstream-key", base_url: upstream.url });
  await drawer.waitFor({ state: "detached" });
  expect(new URL(page.url()).pathname).toBe("/channel");
  await page.getByRole("row").filter({ hasText: "Harbour" }).getByText("Enabled").waitFor();
});

test("leaving an edited form asks first, and discarding changes nothing (C-380)", async () => {
  await page.getByRole("link", { name: "Harbour" }).click();
  const drawer = page.getByRole("dialog", { name: "Edit channel" });
  await drawer.getByLabel("Name").fill("Wreck");
  await drawer.getByRole("button", { name: "Cancel" }).click();
  const question = page.getByRole("alertdialog", { name: "Discard your changes?" });
  await question.getByRole("button", { name: "Discard" }).click();
  await drawer.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Harbour" }).waitFor();
});

test("a test shows its time in the row at once (C-210, C-384)", async () => {
  const row = page.getByRole("row").filter({ hasText: "Harbour" });
  await row.getByText("not tested").waitFor();
  await row.getByRole("button", { name: "Test Harbour" }).click();
  await page.getByText(/“Harbour” answered in \d+\.\d\d s\./).waitFor();
  await row.getByText(/\d\.\d\d s/).waitFor();
  await shoot(page, "channels");
  expect(await axeFindings(page)).toEqual([]);
});

test("disabling can be taken back (C-212)", async () => {
  const row = page.getByRole("row").filter({ hasText: "Harbour" });
  await row.getByRole("button", { name: "Actions for Harbour" }).click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await page.getByText("“Harbour” is disabled.").waitFor();
  await row.getByText("Disabled", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await row.getByText("Enabled", { exact: true }).waitFor();
});

test("a token is created and its key shown (C-254, C-262)", async () => {
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await heading("Token").waitFor();
  await page.getByRole("link", { name: "Add token" }).first().click();
  const drawer = page.getByRole("dialog", { name: "Add token" });
  await drawer.getByRole("textbox", { name: "Name" }).and(page.locator(":focus")).waitFor();
  expect(await drawer.getByText("Please enter a name for the token.").count()).toBe(0);
  await drawer.getByLabel("Name").fill("my-app");
  await drawer.getByRole("button", { name: "$10", exact: true }).click();
  expect(await axeFindings(page)).toEqual([]);
  await drawer.getByRole("button", { name: "Create token" }).click();
  const created = page.getByRole("dialog", { name: "Your new key" });
  key = (await created.getByTestId("new-key").textContent()) ?? "";
  expect(key).toMatch(/^sk-[0-9a-zA-Z]{48}$/);
  expect(await axeFindings(page)).toEqual([]);
  await created.getByText(`"model": "${MODEL}"`).waitFor();
  await shoot(page, "token-created");
  await created.getByRole("button", { name: "Done" }).click();
  const row = page.getByRole("row").filter({ hasText: "my-app" });
  await row.getByText("$10.00").waitFor();
  expect(await row.textContent()).not.toContain(key.slice(3, 20));
});

test("a request with the key is answered and charged (C-313, C-318)", async () => {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "Ahoy" }] }),
  });
  expect(response.status).toBe(200);
  await response.text();
  await expect.poll(() => logRowCount(), { timeout: 20_000, interval: 500 }).toBeGreaterThan(0);
  const row = page.getByRole("row").filter({ hasText: "my-app" });
  await row.getByText(CHARGE).waitFor();
  await row.getByText("Harbour").waitFor();
  await row.getByRole("button", { name: "Show details" }).click();
  await page.getByText("20 tokens × $2.50 per 1M").waitFor();
  await page.getByText("10 tokens × $10.00 per 1M").waitFor();
  expect(await page.getByTestId("charge-total").textContent()).toBe(CHARGE);
  await page.getByText(/Attempt 1 · #\d+ Harbour/).waitFor();
  await shoot(page, "log");
  expect(await axeFindings(page)).toEqual([]);
});

test("anyone reads what a model costs, in any group (C-345, C-346, C-348)", async () => {
  await page.goto("/pricing?q=gpt-4o");
  const row = page.getByRole("row").filter({ hasText: MODEL }).first();
  await row.getByText("$2.50").waitFor();
  await row.getByText("$10.00").waitFor();
  await page.getByText(/Prices for your group default, which pays 1 times/).waitFor();
  await shoot(page, "pricing");
  expect(await axeFindings(page)).toEqual([]);
  const { page: visitor } = await openPage(browser, gateway.url);
  await visitor.goto("/pricing");
  await visitor.getByRole("row").filter({ hasText: MODEL }).first().waitFor();
  await visitor.context().close();
});

async function logRowCount(): Promise<number> {
  await page.goto("/log?token=my-app");
  await heading("Log").waitFor();
  await page
    .getByText(/of \d+|match/)
    .first()
    .waitFor();
  return page.getByRole("row").filter({ hasText: "my-app" }).count();
}

test("filters survive reload and Back, and can be cleared (C-385)", async () => {
  await page.goto("/channel");
  await page.getByRole("searchbox", { name: "ID, name or key" }).fill("no such channel");
  await page.getByRole("heading", { name: "Nothing matches these filters" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Nothing matches these filters" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByRole("link", { name: "Harbour" }).waitFor();
});

test("the palette finds pages and channels by name", async () => {
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog");
  await palette.getByRole("combobox").fill("harb");
  await palette.getByRole("option", { name: /Harbour/ }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "palette");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Edit channel" }).waitFor();
});

test("pages that do not exist say so (C-056)", async () => {
  await page.goto("/no-such-page");
  await heading("Page not found").waitFor();
  await page.getByText("Please check if your browser address is correct.").waitFor();
});

/** Each page with its title; a separate test, because all pages together take minutes on a slow machine. */
const PAGES: Readonly<Record<string, string>> = {
  "/": "Overview",
  "/channel": "Channel",
  "/token": "Token",
  "/log": "Log",
  "/user": "Manage Users",
  "/redemption": "Redemption codes",
  "/budget": "Budgets",
  "/audit": "Audit log",
  "/pricing": "Model prices",
  "/topup": "Wallet",
  "/setting": "Settings",
  "/setting?tab=operation": "Settings",
};

test.each(Object.entries(PAGES))("%s is accessible and whole in the dark and at 600 px", async (path, name) => {
  for (const [width, height] of [
    [1440, 900],
    [600, 900],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.goto(path);
    await page.evaluate(() => localStorage.setItem("theme-mode", "dark"));
    await page.reload();
    await heading(name).waitFor();
    await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0);
    expect(await axeFindings(page), `${path} at ${width}`).toEqual([]);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow, `${path} at ${width}`).toBeLessThanOrEqual(0);
    await shoot(page, `${name.toLowerCase()}-dark-${width}`);
    await page.evaluate(() => localStorage.removeItem("theme-mode"));
  }
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("the first paint is dark already for those who chose it", async () => {
  await page.evaluate(() => localStorage.setItem("theme-mode", "dark"));
  await page.goto("/token", { waitUntil: "commit" });
  await page.waitForFunction(() => document.documentElement.classList.contains("dark"));
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)).toBe("rgb(8, 21, 29)");
  await page.evaluate(() => localStorage.removeItem("theme-mode"));
});

test("the console speaks Chinese at a click", async () => {
  await page.goto("/token");
  await page.getByRole("button", { name: "Language: English" }).click();
  await page.getByRole("heading", { level: 1, name: "令牌" }).waitFor();
  await page.getByRole("columnheader", { name: "名称" }).waitFor();
  expect(await page.evaluate(() => document.documentElement.lang)).toBe("zh");
  await page.getByRole("button", { name: "语言：中文" }).click();
  await heading("Token").waitFor();
});

async function weigh(urls: readonly string[]): Promise<number> {
  const sizes = await Promise.all(
    urls.map(async (url) => gzipSync(await (await fetch(url)).bytes(), { level: 9 }).length),
  );
  return sizes.reduce((sum, size) => sum + size, 0) / 1024;
}

test("scripts stay within their budgets", async () => {
  const html = await (await fetch(gateway.url)).text();
  const entry = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map(
    ([, path]) => `${gateway.url}${path ?? ""}`,
  );
  expect(entry.length).toBeGreaterThan(0);
  expect(await weigh(entry)).toBeLessThanOrEqual(MAX_SCRIPT_KB.entry);

  const { page: fresh } = await openPage(browser, gateway.url);
  // Parts that load while the page is idle do not count for the first load.
  await fresh.addInitScript("window.requestIdleCallback = () => 0");
  await fresh.goto("/login");
  await signIn(fresh);
  await fresh.getByRole("button", { name: "Later" }).click();
  for (const list of ["/channel", "/token", "/user", "/log"]) {
    await fresh.goto(list);
    await fresh.locator(".grid-row").first().waitFor();
    const loaded = await fresh.evaluate(() =>
      performance.getEntriesByType("resource").flatMap(({ name }) => (name.endsWith(".js") ? [name] : [])),
    );
    expect(loaded.length, list).toBeGreaterThan(entry.length);
    expect(await weigh(loaded), list).toBeLessThanOrEqual(MAX_SCRIPT_KB.list);
    expect(loaded.length, list).toBeLessThanOrEqual(MAX_SCRIPTS);
  }
  await fresh.context().close();
});

test("rows are walked, selected and opened by keyboard (WCAG 2.1.1)", async () => {
  await page.goto("/channel");
  await page.getByRole("link", { name: "Harbour" }).waitFor();
  await page.locator(".grid-row").first().focus();
  await page.keyboard.press("x");
  await page.getByRole("region", { name: "1 selected" }).waitFor();
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("e");
  await page.getByRole("dialog", { name: "Edit channel" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Edit channel" }).waitFor({ state: "detached" });
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await sheet.waitFor();
  // Only a dialog that has the focus hears the key.
  await expect.poll(() => sheet.evaluate((dialog) => dialog.contains(document.activeElement))).toBe(true);
  expect(await axeFindings(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "detached" });
});

test("tells an ordinary user that a page is for administrators (C-393)", async () => {
  await page.evaluate(() => {
    const user = JSON.parse(localStorage.getItem("user") ?? "{}") as Record<string, unknown>;
    localStorage.setItem("user", JSON.stringify({ ...user, role: 1 }));
  });
  await page.route("**/api/user/self", async (route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as { data: Record<string, unknown> };
    await route.fulfill({ response, json: { ...answer, data: { ...answer.data, role: 1 } } });
  });
  await page.goto("/channel");
  await heading("No access").waitFor();
  expect(await page.getByRole("link", { name: "Channel", exact: true }).count()).toBe(0);
  await page.unrouteAll({ behavior: "wait" });
  await page.goto("/channel");
  await heading("Channel").waitFor();
});

test("a lost session leads to the login page and back (C-010, C-091)", async () => {
  await page.goto("/log?range=24h");
  await heading("Log").waitFor();
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.waitForURL(/\/login\?expired=true/);
  await page.getByText("Not logged in or login has expired, please log in again!").waitFor();
  await signIn(page);
  await page.waitForURL(/\/log\?range=24h/);
  await page.getByRole("button", { name: "Later" }).click();
});

test("nothing went wrong behind the pages", () => {
  // Browsers report refused calls themselves, here that of the lost session above.
  expect(faults.filter((fault) => !/status of 401/.test(fault))).toEqual([]);
});
