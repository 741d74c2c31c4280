import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser, signIn } from "./session.ts";

// Ctrl K and the keyboard: pages, actions, people and options are a few letters away, and the focus returns.

let opened: OpenConsole;
let gateway: OpenConsole["gateway"];
let browser: OpenConsole["browser"];
let page: Page;
let faults: readonly string[];

const palette = () => page.getByRole("dialog", { name: /^Search or jump/ });

async function openPalette(text = ""): Promise<void> {
  await page.keyboard.press("Control+k");
  await palette().getByRole("combobox").fill(text);
}

beforeAll(async () => {
  opened = await openConsole();
  ({ gateway, browser, page, faults } = opened);
  const ada = { username: "ada", password: "lovelace-1843", display_name: "Ada Lovelace" };
  expect(await asUser(page, "POST", "/api/user/", ada)).toMatchObject({ success: true });
  const token = { name: "build-bot", remain_quota: 500_000, unlimited_quota: false, expired_time: -1 };
  expect(await asUser(page, "POST", "/api/token/", token)).toMatchObject({ success: true });
});

afterAll(() => opened?.close());

test("a user is found by name and opened", async () => {
  await page.goto("/token");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await openPalette("lovel");
  await palette().getByRole("option", { name: /ada/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/user\/edit\/\d+/);
  await page.getByRole("dialog", { name: "Edit user" }).waitFor();
});

test("an option is found by its label or its key, and its field has the focus", async () => {
  await page.goto("/token");
  await page.getByRole("heading", { level: 1 }).waitFor();
  for (const words of ["sender address", "SMTPFrom"]) {
    await openPalette(words);
    await palette()
      .getByRole("option", { name: /Sender address/ })
      .click();
    await page.waitForURL(/section=mail/);
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute("name"))).toBe("SMTPFrom");
    await page.goto("/token");
    await page.getByRole("heading", { level: 1 }).waitFor();
  }
});

test("what was opened before comes first, and only for the user who opened it", async () => {
  await openPalette();
  const recent = palette().getByRole("group", { name: "Recent" });
  await recent.getByRole("option", { name: "Sender address" }).waitFor();
  await recent.getByRole("option", { name: "ada" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "palette-recent");
  await page.keyboard.press("Escape");
  const { page: other } = await openPage(browser, gateway.url);
  const places = await page.evaluate(() => localStorage.getItem("fairway:recents") ?? "");
  await signIn(other, "ada", "lovelace-1843");
  await other.evaluate((text) => localStorage.setItem("fairway:recents", text), places);
  await other.getByRole("heading", { level: 1, name: "Token" }).waitFor();
  await other.keyboard.press("Control+k");
  await other.getByRole("dialog").getByRole("option").first().waitFor();
  expect(await other.getByRole("group", { name: "Recent" }).count()).toBe(0);
  await other.context().close();
});

test("a page offers its actions while it is open", async () => {
  await page.goto("/channel");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await openPalette("test all");
  await palette().getByRole("group", { name: "On this page" }).getByRole("option").first().waitFor();
  await page.keyboard.press("Escape");
  await page.goto("/token");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await openPalette("test all");
  await expect.poll(() => palette().getByRole("group", { name: "On this page" }).count()).toBe(0);
  await page.keyboard.press("Escape");
});

test("focus returns to where it was", async () => {
  await page.goto("/token");
  const menu = page.getByRole("button", { name: "Actions for build-bot" });
  await menu.waitFor();
  await page.getByRole("link", { name: "Add token" }).first().focus();
  await openPalette("x");
  await page.keyboard.press("Escape");
  await palette().waitFor({ state: "detached" });
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toContain("Add token");
});

test("Ctrl Z takes the last change back (C-260)", async () => {
  await page.goto("/token");
  const row = page.getByRole("row").filter({ hasText: "build-bot" });
  const switching = page.waitForRequest((request) => request.method() === "PUT");
  await row.getByRole("button", { name: "Actions for build-bot" }).click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  const sent = await switching;
  expect(new URL(sent.url()).pathname + new URL(sent.url()).search).toBe("/api/token/?status_only=true");
  expect(sent.postDataJSON()).toEqual({ id: expect.any(Number) as number, status: 2 });
  await row.getByText("Disabled").waitFor();
  // The list shows the change before the gateway has confirmed it; only then it can be undone.
  await page.getByRole("button", { name: "Undo" }).waitFor();
  await page.getByRole("heading", { level: 1 }).focus();
  await page.keyboard.press("Control+z");
  await row.getByText("Enabled").waitFor();
  expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0);
});

test("the sheet of shortcuts switches keys without a modifier off", async () => {
  await page.goto("/token");
  await page.getByRole("heading", { level: 1 }).focus();
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await sheet.getByText("Shortcuts of a single key", { exact: true }).click();
  expect(await axeFindings(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "detached" });
  await page.keyboard.press("?");
  await page.waitForTimeout(300); // longer than a dialog takes
  expect(await sheet.count()).toBe(0);
  await page.evaluate(() => localStorage.removeItem("fairway:shortcuts"));
});

test("nothing went wrong behind the pages", () => {
  expect(faults).toEqual([]);
});
