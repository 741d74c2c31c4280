import { ROOT_PASSWORD, startGateway, type GatewayProcess } from "@fairway/testkit";
import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { axeFindings, openBrowser, openPage, shoot } from "./browser.ts";
import { insertUsage } from "./usage-rows.ts";
import { asUser, option, signIn } from "./session.ts";

// Problems of visitors who follow a link, use a small screen, or leave a form open for a while.

const TOKENS = 21;

let folder: string;
let file: string;
let gateway: GatewayProcess;
let browser: Browser;
let page: Page;

const rows = () => page.locator(".grid-row");

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "fairway-first-"));
  file = join(folder, "fairway.db");
  gateway = await startGateway({ database: `sqlite:${file}` });
  browser = await openBrowser();
  ({ page } = await openPage(browser, gateway.url));
  await signIn(page, "root", ROOT_PASSWORD);
  for (let i = 1; i <= TOKENS; i++) {
    const token = { name: `token-${i}`, remain_quota: 500_000, unlimited_quota: false, expired_time: -1 };
    expect(await asUser(page, "POST", "/api/token/", token)).toMatchObject({ success: true });
  }
});

beforeEach(() => page.setViewportSize({ width: 1280, height: 800 }));

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("a dashboard that is the first page has the tables of one that is not", async () => {
  const start = Math.floor(Date.now() / 3_600_000) * 3_600;
  insertUsage(file, [{ start, userId: 1, model: "gpt-4o", calls: 3, tokens: 90, quota: 900 }]);
  await page.goto("/detail");
  const head = page.getByRole("columnheader", { name: "Requests" });
  await head.waitFor();
  expect(await head.evaluate((cell) => getComputedStyle(cell).textAlign)).toBe("end");
});

test("a form that is the first page has the focus in its first field and complains of nothing", async () => {
  await page.goto("/token/add");
  const drawer = page.getByRole("dialog", { name: "Add token" });
  const name = drawer.getByLabel("Name");
  await name.waitFor();
  await expect.poll(() => name.evaluate((field) => field === document.activeElement)).toBe(true);
  await page.waitForTimeout(300); // as long as the drawer slides
  expect(await name.getAttribute("aria-invalid")).not.toBe("true");
  expect(await drawer.getByText("Please enter a name for the token.").count()).toBe(0);
});

test("a press that leaves an empty field reaches what is pressed, and the complaint comes after it", async () => {
  await page.goto("/token/add");
  const drawer = page.getByRole("dialog", { name: "Add token" });
  await drawer.getByLabel("Name").focus();
  await page.waitForTimeout(300); // as long as the drawer slides
  await drawer.getByRole("button", { name: "1 hour" }).click({ delay: 100 });
  await expect.poll(() => drawer.getByLabel("Expires", { exact: true }).inputValue()).not.toBe("");
  await drawer.getByText("Please enter a name for the token.").waitFor();
});

test("an expiry is typed without a step between year and time", async () => {
  await page.goto("/token/add");
  const expires = page.getByRole("dialog", { name: "Add token" }).getByLabel("Expires", { exact: true });
  await expires.focus();
  await page.keyboard.type("030420300515A", { delay: 20 });
  await expect.poll(() => expires.inputValue()).toBe("2030-03-04T05:15");
});

test("row actions stay visible next to the columns of a wide table", async () => {
  await page.goto("/token");
  const button = page.getByRole("button", { name: `Actions for token-${TOKENS}` });
  await button.waitFor();
  const frame = await page.locator(".grid-scroll").boundingBox();
  const place = await button.boundingBox();
  expect((place?.x ?? Infinity) + (place?.width ?? 0)).toBeLessThanOrEqual((frame?.x ?? 0) + (frame?.width ?? 0));
  await shoot(page, "token-1280");
});

test("selected rows are rows in sight", async () => {
  await page.goto("/token?size=10");
  await page.getByRole("checkbox", { name: `Select token-${TOKENS}` }).check();
  await page.getByRole("region", { name: "1 selected" }).waitFor();
  await page.getByRole("button", { name: "Next page" }).click();
  await page.getByRole("checkbox", { name: "Select token-11" }).waitFor();
  await page.getByRole("region", { name: "1 selected" }).waitFor({ state: "detached" });
});

test("deleting the last row of the last page shows the page before it (C-259, C-381)", async () => {
  await page.goto("/token?size=10&p=3");
  const question = page.getByRole("alertdialog");
  const ask = async () => {
    await page.getByRole("button", { name: "Actions for token-1", exact: true }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await question.waitFor();
  };
  await ask();
  await question.getByRole("button", { name: "Cancel" }).click();
  await question.waitFor({ state: "detached" });
  await rows().filter({ hasText: "token-1" }).first().waitFor();
  const deleting = page.waitForRequest((request) => request.method() === "DELETE");
  await ask();
  await question.getByRole("button", { name: "Delete" }).click();
  expect(new URL((await deleting).url()).pathname).toMatch(/^\/api\/token\/\d+\/?$/);
  await page.getByText("11–20 of 20").waitFor();
  expect(await rows().count()).toBe(10);
  await page.goto("/token?size=10&p=99");
  await page.getByText("11–20 of 20").waitFor();
});

test("a time range of one's own is typed part by part, and the address follows", async () => {
  await page.goto("/log?range=custom&from=1735689600&to=1767225600");
  const from = page.getByLabel("From", { exact: true });
  await from.focus();
  await page.keyboard.type("03042024051530A", { delay: 20 });
  await expect.poll(() => from.inputValue()).toMatch(/^2024-03-04T05:15:30/);
  const typed = await from.evaluate((field: HTMLInputElement) => Date.parse(field.value) / 1_000);
  await page.waitForURL((url) => url.searchParams.get("from") === String(typed));
});

test("renaming a token leaves alone what calls spent of its limit meanwhile (C-261, C-267)", async () => {
  await page.goto("/token");
  const reading = page.waitForRequest((request) => /\/api\/token\/\d+$/.test(request.url()));
  await page.getByRole("link", { name: "token-20" }).click();
  const drawer = page.getByRole("dialog", { name: "Edit token" });
  const id = Number(/\d+$/.exec((await reading).url())?.[0]);
  expect(new URL(page.url()).pathname).toBe(`/token/edit/${id}`);
  await drawer.getByLabel("Name").fill("renamed");
  const database = new DatabaseSync(file, { timeout: 10_000 });
  database.exec("update tokens set remain_quota = 200000 where name = 'token-20'");
  const saving = page.waitForRequest((request) => request.method() === "PUT");
  await drawer.getByRole("button", { name: "Save" }).click();
  const saved = await saving;
  expect(new URL(saved.url()).pathname).toBe("/api/token/");
  expect(saved.postDataJSON()).toMatchObject({ id, name: "renamed" });
  await drawer.waitFor({ state: "detached" });
  expect(database.prepare("select remain_quota from tokens where name = 'renamed'").get()).toEqual({
    remain_quota: 200_000,
  });
  database.close();
});

test("a form outlives the session: it is saved after signing in again in another tab", async () => {
  await page.goto("/channel/add");
  const drawer = page.getByRole("dialog", { name: "Add channel" });
  await drawer.getByLabel("Name").fill("draft");
  await drawer.getByLabel(/^Key/).fill("k");
  await page.context().clearCookies();
  await drawer.getByRole("button", { name: "Create channel" }).click();
  const question = page.getByRole("alertdialog", { name: "Your session has ended" });
  await question.waitFor();
  await shoot(page, "session-ended");
  await question.getByRole("button", { name: "Keep editing" }).click();
  expect(await drawer.getByLabel("Name").inputValue()).toBe("draft");
  const tab = await page.context().newPage();
  await signIn(tab, "root", ROOT_PASSWORD);
  await tab.close();
  await drawer.getByRole("button", { name: "Create channel" }).click();
  await drawer.waitFor({ state: "detached" });
  await rows().filter({ hasText: "draft" }).waitFor();
});

test("pages of the account say so when it cannot be loaded, and try again", async () => {
  await page.goto("/");
  await page.route("**/api/user/self", (route) => route.fulfill({ status: 500, body: "" }));
  for (const path of ["/topup", "/setting"]) {
    await page.goto(path);
    await page.getByRole("heading", { name: "This could not be loaded" }).waitFor();
  }
  await page.unroute("**/api/user/self");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByLabel("Display name").waitFor();
});

test("sessions that cannot be loaded are not taken for none", async () => {
  await page.route("**/api/user/self/sessions", (route) => route.fulfill({ status: 500, body: "" }));
  await page.goto("/setting");
  await page.getByRole("heading", { name: "This could not be loaded" }).waitFor();
  await page.unroute("**/api/user/self/sessions");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("this one", { exact: true }).waitFor();
});

test("changed options survive a switch to another section, and leaving the page asks first", async () => {
  await page.goto("/setting?tab=system&section=mail");
  const mail = page.getByRole("group", { name: "Mail", exact: true });
  await mail.locator(option("SMTPServer")).fill("mail.example.com");
  await mail.getByText("1 unsaved").waitFor();
  const index = page.getByRole("navigation", { name: "Settings: sections" });
  await index.getByRole("link", { name: "Profile" }).click();
  await page.getByLabel("Display name").waitFor();
  await index.getByRole("link", { name: /^Mail(?!s)/ }).click();
  expect(await mail.locator(option("SMTPServer")).inputValue()).toBe("mail.example.com");
  const leave = () => page.getByRole("link", { name: "Token", exact: true }).click();
  await leave();
  await page.getByRole("button", { name: "Keep editing" }).click();
  expect(new URL(page.url()).pathname).toBe("/setting");
  await leave();
  await page.getByRole("alertdialog").getByRole("button", { name: "Discard" }).click();
  await page.getByRole("heading", { level: 1, name: "Token" }).waitFor();
});

test("a phone finds the language and the page about this gateway in its menu", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/token");
  await page.getByRole("button", { name: "Open the menu" }).click();
  const menu = page.getByRole("dialog");
  await menu.getByRole("link", { name: "Token", exact: true }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "menu-390");
  await menu.getByRole("button", { name: "Language: English" }).click();
  await menu.getByRole("button", { name: "语言：中文" }).click();
  await menu.getByRole("link", { name: "About" }).click();
  await page.getByRole("heading", { level: 1, name: "About" }).waitFor();
  await menu.waitFor({ state: "detached" });
});
