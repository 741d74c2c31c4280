import { ROOT_PASSWORD, startGateway, type GatewayProcess } from "@fairway/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeEach, beforeAll, expect, test } from "vitest";
import { openBrowser, openPage } from "./browser.ts";
import { asUser, signIn } from "./session.ts";

// Changes in one tab reach the other: they share a cookie, but not the loaded data.

const ADA = { username: "ada", password: "lovelace-1843", display_name: "Ada" };

let gateway: GatewayProcess;
let browser: Browser;
let first: Page;
let second: Page;

beforeAll(async () => {
  gateway = await startGateway();
  browser = await openBrowser();
  const { page } = await openPage(browser, gateway.url);
  await signIn(page, "root", ROOT_PASSWORD);
  expect(await asUser(page, "POST", "/api/user/", ADA)).toMatchObject({ success: true });
  await page.context().close();
});

beforeEach(async () => {
  first = (await openPage(browser, gateway.url)).page;
  await signIn(first, "root", ROOT_PASSWORD);
  second = await first.context().newPage();
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

async function signOut(page: Page): Promise<void> {
  await page.goto("/token");
  await page.getByRole("heading", { name: "Token", exact: true }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name: "Exit" }).click();
  await page.waitForURL(/\/login/);
}

test("another user who signs in in a second tab replaces the first", async () => {
  await first.goto("/setting");
  const name = first.getByLabel("Username");
  await expect.poll(() => name.inputValue()).toBe("root");
  await second.goto("/pricing");
  await second.context().clearCookies();
  await signIn(second, ADA.username, ADA.password);
  await expect.poll(() => name.inputValue()).toBe("ada");
  await second.goto("/setting");
  await expect.poll(() => second.getByLabel("Username").inputValue()).toBe("ada");
  expect(await first.evaluate(() => localStorage.getItem("user"))).toContain('"ada"');
});

test("signing out in one tab leads the other to the sign-in page", async () => {
  await first.goto("/token");
  await first.getByRole("heading", { name: "Token", exact: true }).waitFor();
  await signOut(second);
  await first.waitForURL(/\/login\?.*next=%2Ftoken/);
});

test("a page for visitors stays when another tab signs out", async () => {
  await first.goto("/pricing");
  await signOut(second);
  await first.getByRole("link", { name: "Log in" }).waitFor();
  expect(first.url()).toMatch(/\/pricing$/);
});

test("a form asks again each time it is sent without a session", async () => {
  await first.goto("/token/add");
  const drawer = first.getByRole("dialog", { name: "Add token" });
  await drawer.getByLabel("Name").fill("draft");
  await signOut(second);
  const question = first.getByRole("alertdialog", { name: "Your session has ended" });
  await question.getByRole("button", { name: "Keep editing" }).click();
  await question.waitFor({ state: "detached" });
  await drawer.getByRole("button", { name: "Create token" }).click();
  await question.getByRole("button", { name: "Keep editing" }).click();
  await signIn(second, "root", ROOT_PASSWORD);
  await drawer.getByRole("button", { name: "Create token" }).click();
  await first.getByRole("dialog", { name: "Your new key" }).waitFor();
});
