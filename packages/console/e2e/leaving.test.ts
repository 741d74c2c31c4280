import { ROOT_PASSWORD, startGateway, type GatewayProcess } from "@fairway/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openBrowser, openPage } from "./browser.ts";
import { asUser, signIn } from "./session.ts";

// Leaving a page, a form or a session: nothing is lost without a question, and nothing is sent afterwards.

const ADA = { username: "ada", password: "lovelace-1843", display_name: "Ada" };

let gateway: GatewayProcess;
let browser: Browser;
let page: Page;
let faults: readonly string[];
const refused: string[] = [];

const heading = (name: string) => page.getByRole("heading", { level: 1, name });

beforeAll(async () => {
  gateway = await startGateway();
  browser = await openBrowser();
  ({ page, faults } = await openPage(browser, gateway.url));
  page.on("response", (answer) => {
    if (answer.status() === 401) refused.push(new URL(answer.url()).pathname);
  });
  await signIn(page, "root", ROOT_PASSWORD);
  expect(await asUser(page, "POST", "/api/user/", ADA)).toMatchObject({ success: true });
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

const question = (name = "Discard your changes?") => page.getByRole("alertdialog", { name });

async function keepEditing(): Promise<void> {
  await question().getByRole("button", { name: "Keep editing" }).click();
  await question().waitFor({ state: "detached" });
}

test("the profile and a new password are not lost without a question", async () => {
  await page.goto("/setting");
  const name = page.getByLabel("Display name");
  await name.fill("Harbour master");
  await page.getByRole("link", { name: "Wallet" }).click();
  await question().waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await keepEditing();
  expect(await name.inputValue()).toBe("Harbour master");

  await page.getByRole("link", { name: "Server address", exact: true }).click();
  await page.getByRole("group", { name: "Server" }).waitFor();
  await page.getByRole("link", { name: "Profile", exact: true }).click();
  expect(await name.inputValue()).toBe("Harbour master");
  await page.getByRole("group", { name: "Profile" }).getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();

  await page.getByLabel("New password", { exact: true }).fill("half a passw");
  await page.getByRole("link", { name: "Wallet" }).click();
  await keepEditing();
  await page.getByLabel("New password", { exact: true }).fill("");
  await page.getByRole("link", { name: "Wallet" }).click();
  await heading("Wallet").waitFor();
});

test("signing out asks before it ends the session", async () => {
  await page.goto("/setting");
  await page.getByLabel("Display name").fill("Nobody");
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name: "Exit" }).click();
  await keepEditing();
  expect(await asUser(page, "GET", "/api/user/self")).toMatchObject({ success: true });
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name: "Exit" }).click();
  await question().getByRole("button", { name: "Discard" }).click();
  await page.getByText("Cancellation successful!").waitFor();
  await page.waitForURL(/\/login$/);
});

test("a page that reads all the time sends nothing behind the end of its session", async () => {
  await signIn(page, "root", ROOT_PASSWORD);
  await page.goto("/log");
  await heading("Log").waitFor();
  let letThrough = (): void => {};
  const isOver = new Promise<void>((resolve) => (letThrough = resolve));
  await page.route("**/api/user/logout", async (route) => {
    const response = await route.fetch();
    await isOver;
    await route.fulfill({ response });
  });
  const asked = page.waitForRequest("**/api/user/logout");
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name: "Exit" }).click();
  await asked;
  // The server has ended the session, but the page does not know it yet.
  const late: string[] = [];
  page.on("request", (request) => late.push(new URL(request.url()).pathname));
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.getByRole("link", { name: "Wallet" }).click();
  await page.getByRole("link", { name: "Log", exact: true }).click();
  letThrough();
  await page.getByText("Cancellation successful!").waitFor();
  await page.waitForURL(/\/login$/);
  await page.unrouteAll({ behavior: "wait" });
  expect(late.filter((path) => path.startsWith("/api/") && path !== "/api/status")).toEqual([]);
});

test("a browser that forgets its storage keeps the page at work", async () => {
  await signIn(page, "root", ROOT_PASSWORD);
  await page.evaluate(() => localStorage.clear());
  await page.getByRole("link", { name: "Channel", exact: true }).click();
  await page.getByRole("heading", { name: "Connect your first provider" }).waitFor();
  await page.getByRole("link", { name: "User Management" }).click();
  await page.getByRole("row").filter({ hasText: "ada" }).waitFor();
});

test("whatever the browser's storage holds, no page is white (C-392)", async () => {
  const { page: own, faults: found } = await openPage(browser, gateway.url);
  await signIn(own, "root", ROOT_PASSWORD);
  const names = await own.evaluate(() => Object.keys(localStorage));
  const known = ["id-sort", "page-size", "notice", "aff", "channel_models", "fairway:density", "fairway:dismissed"];
  const more = ["fairway:sidebar", "fairway:language", "fairway:recents", "fairway:shortcuts", "fairway:log-facets"];
  for (const bad of [
    ['{"', "null", "1e999"],
    ["[]", '{"id":"x"}', "\u0000"],
  ]) {
    await own.evaluate(
      ([all, texts]) => {
        for (const [index, name] of all.entries())
          if (name !== "user") localStorage.setItem(name, texts[index % texts.length] ?? "");
      },
      [[...names, ...known, ...more], bad] as const,
    );
    for (const [path, title] of [
      ["/token", "Token"],
      ["/log", "Log"],
    ] as const) {
      await own.goto(path);
      await own.getByRole("heading", { level: 1, name: title }).waitFor();
    }
  }
  // If the stored user is unreadable, the session cookie identifies the user.
  await own.evaluate(() => localStorage.setItem("user", '{"id":'));
  await own.goto("/token");
  await own.getByRole("heading", { level: 1, name: "Token" }).waitFor();
  expect(found).toEqual([]);
  await own.context().close();
});

test("the log is deleted up to a time, which is asked for (C-134)", async () => {
  await page.evaluate(() => localStorage.clear());
  await signIn(page, "root", ROOT_PASSWORD);
  await page.goto("/setting?tab=operation&section=logs");
  const card = page.getByRole("group", { name: "Logs", exact: true });
  await card.getByLabel("Delete the log up to").fill("");
  await card.getByRole("button", { name: "Delete the rows" }).click();
  await card.getByText("Please select the log recording time.").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await card.getByLabel("Delete the log up to").fill("2020-01-01T00:00");
  await card.getByRole("button", { name: "Delete the rows" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete the rows" }).click();
  await page.getByText("0 rows are deleted.").waitFor();
});

test("an account is deleted by its owner, who types its name (C-120)", async () => {
  const { page: own, faults: ownFaults } = await openPage(browser, gateway.url);
  await signIn(own, ADA.username, ADA.password);
  await own.goto("/setting");
  const card = own.getByRole("group", { name: "Delete the account" });
  await card.getByRole("button", { name: "Delete my account" }).click();
  await card.getByLabel("Your username, to confirm").fill("root");
  await card.getByRole("button", { name: "Delete my account" }).click();
  await card.getByText("Please enter your account name to confirm deletion!").waitFor();
  // A target that the header half covers counts as half as large.
  await own.evaluate(() => scrollTo(0, 0));
  expect(await axeFindings(own)).toEqual([]);
  await card.getByLabel("Your username, to confirm").fill(ADA.username);
  await card.getByRole("button", { name: "Delete my account" }).click();
  await own.getByText("Your account is deleted.").waitFor();
  await own.waitForURL(/\/login$/);
  expect(ownFaults).toEqual([]);
  await own.context().close();
});

test("nothing went wrong behind the pages, and nothing was sent without a session", () => {
  expect(refused).toEqual([]);
  expect(faults).toEqual([]);
});
