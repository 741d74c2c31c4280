import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { insertRows } from "./rows.ts";
import { asUser, signIn } from "./session.ts";

// A user's tokens as an administrator sees them, and budgets as their users see them.

const PASSWORD = "analytical-engine-1843";

let opened: OpenConsole;
let page: Page;
let owner: Page;
let faults: readonly string[];
let ownFaults: readonly string[];
let key: string;

const heading = (where: Page, name: string) => where.getByRole("heading", { level: 1, name });

function failedCall(user: number, username: string, request: string): Record<string, string | number> {
  return {
    user_id: user,
    created_at: Math.floor(Date.now() / 1000) - 60,
    type: 5,
    content: "The upstream is overloaded",
    username,
    token_name: "build-bot",
    model_name: `model-of-${username}`,
    quota: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    use_time: 1,
    is_stream: 0,
    channel_id: 1,
    token_id: user === 1 ? 2 : 1,
    group: "default",
    ip: `198.51.100.${user}`,
    request_id: request,
    other: "{}",
  };
}

beforeAll(async () => {
  opened = await openConsole();
  ({ page, faults } = opened);
  const ada = { username: "ada", password: PASSWORD, display_name: "Ada" };
  expect(await asUser(page, "POST", "/api/user/", ada)).toMatchObject({ success: true });
  ({ page: owner, faults: ownFaults } = await openPage(opened.browser, opened.gateway.url));
  await signIn(owner, "ada", PASSWORD);
  const made = await asUser(owner, "POST", "/api/token/", { name: "build-bot", unlimited_quota: true });
  expect(made).toMatchObject({ success: true, data: { id: 1 } });
  ({ key } = (made as { data: { key: string } }).data);
  // The administrator has a token with the same name.
  expect(await asUser(page, "POST", "/api/token/", { name: "build-bot" })).toMatchObject({ data: { id: 2 } });
  insertRows(opened.file, "logs", [failedCall(2, "ada", "failed-1"), failedCall(1, "root", "failed-2")]);
});

afterAll(() => opened?.close());

test("the page of a user lists the tokens, and each has a page that says whose it is", async () => {
  await page.goto("/user/2");
  await heading(page, "ada").waitFor();
  await page.getByRole("heading", { name: "Tokens", exact: true }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("list", { name: "Tokens" }).getByRole("link", { name: "build-bot", exact: true }).click();
  await page.waitForURL(/\/token\/1$/);
  await heading(page, "build-bot").waitFor();
  await page.getByText("Token of ada").waitFor();
  await page.getByText("No budget limits this token or its owner.").waitFor();
  // These are the failures of this token, not those of the reader's own token with that name.
  await page.getByText("model-of-ada").first().waitFor();
  expect(await page.getByText("model-of-root").count()).toBe(0);
  expect(await page.getByRole("link", { name: "Edit" }).count()).toBe(0);
  expect(await page.content()).not.toContain(key.slice(0, 8));
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "token-page-of-user");
});

test("its page shows from which addresses and for which models it was used", async () => {
  const panel = (name: string) =>
    page.locator("section").filter({ has: page.getByRole("heading", { level: 2, name, exact: true }) });
  await panel("Where it was used from").getByText("198.51.100.2").waitFor();
  await panel("Where it was used from").getByText("1 address", { exact: true }).waitFor();
  expect(await page.getByText("198.51.100.1", { exact: true }).count()).toBe(0);
  await panel("What it was used for").getByText("model-of-ada").waitFor();
  await panel("What it was used for").getByText("1 call, 1 failed").waitFor();
});

test("a leaked key that is pasted into the palette or the list leads to its token, and no address has it", async () => {
  const addresses: string[] = [];
  page.on("request", (request) => addresses.push(request.url()));
  page.on("framenavigated", (frame) => addresses.push(frame.url()));
  for (const label of ["Name", "Key"]) {
    await page.goto("/token");
    await heading(page, "Token").waitFor();
    await page.getByRole("searchbox", { name: label, exact: true }).fill(`sk-${key}`);
    await page.waitForURL(/\/token\/1$/);
    await page.getByText("Token of ada").waitFor();
  }
  await page.goto("/user");
  await heading(page, "User").waitFor();
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: /^Search or jump/ });
  await palette.getByRole("combobox").fill(`sk-${key}`);
  await palette.getByRole("option", { name: /build-bot.*ada/ }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/token\/1$/);
  await page.getByRole("button", { name: "Disable", exact: true }).waitFor();
  expect(addresses.length).toBeGreaterThan(0);
  expect(addresses.filter((address) => address.includes(key.slice(0, 8)))).toEqual([]);
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(key.slice(0, 8));
  // An unknown key is said to be none, and the list stays.
  await page.goto("/token");
  await page.getByRole("searchbox", { name: "Key", exact: true }).fill(`sk-${"0".repeat(48)}`);
  await page.getByText("Token does not exist.").waitFor();
  await page.goto("/token/1");
  await heading(page, "build-bot").waitFor();
});

test("its log shows the calls with that token, and a chip that names it takes the filter away", async () => {
  await page.getByRole("link", { name: "Open its log" }).click();
  await page.waitForURL(/\/log\?tokenId=1&/);
  await page.getByText("model-of-ada").first().waitFor();
  expect(await page.locator(".grid-row").filter({ hasText: "model-of-root" }).count()).toBe(0);
  const chip = page.getByRole("button", { name: "Remove the filter Token build-bot" });
  await chip.waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await chip.click();
  await page.locator(".grid-row").filter({ hasText: "model-of-root" }).waitFor();
  await page.goBack();
  await heading(page, "build-bot").waitFor();
});

test("a row of the log leads to the token and to its user", async () => {
  await page.goto("/log?type=5&request=failed-1");
  await page.locator(".grid-row").filter({ hasText: "model-of-ada" }).locator("td").first().click();
  await page.getByRole("dialog", { name: "model-of-ada" }).getByRole("link", { name: "Open token" }).click();
  await page.waitForURL(/\/token\/1$/);
  await page.getByText("Token of ada").waitFor();
  await page.goto("/log?type=5&request=failed-1");
  await page.locator(".grid-row").getByRole("button", { name: "ada" }).click();
  await page.getByRole("dialog", { name: "ada" }).getByRole("link", { name: "Open user" }).click();
  await page.waitForURL(/\/user\/2$/);
  await page.getByRole("list", { name: "Tokens" }).getByRole("link", { name: "build-bot", exact: true }).click();
  await heading(page, "build-bot").waitFor();
});

test("an administrator disables it and takes that back, and the audit log says so", async () => {
  await page.getByRole("button", { name: "Disable", exact: true }).click();
  await page.getByText("“build-bot” is disabled.").waitFor();
  // A note stays while the pointer is on it.
  await page.getByRole("button", { name: "Undo" }).hover();
  await page.getByRole("button", { name: "Enable", exact: true }).waitFor();
  expect(await asUser(owner, "GET", "/api/token/1")).toMatchObject({ data: { status: 2, key } });
  await page.getByText("Disabled by an administrator").waitFor();
  await owner.goto("/token");
  await owner.locator(".grid-row").getByText("Disabled by an administrator").waitFor();
  expect(await axeFindings(owner)).toEqual([]);
  await owner.getByRole("button", { name: "Actions for build-bot" }).click();
  await owner.getByRole("menuitem", { name: "Edit" }).waitFor();
  expect(await owner.getByRole("menuitem", { name: "Enable" }).count()).toBe(0);
  await owner.keyboard.press("Escape");
  await owner.getByRole("checkbox", { name: "Select build-bot" }).check();
  await owner.getByRole("button", { name: "Enable", exact: true }).click();
  await owner.getByText("An administrator disabled this token. Ask an administrator to enable it.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: "Disable", exact: true }).waitFor();
  expect(await asUser(owner, "GET", "/api/token/1")).toMatchObject({ data: { status: 1 } });
  await page.goto("/audit");
  await page.getByText("switched token 1").first().waitFor();
});

test("a token that was changed meanwhile is not switched", async () => {
  await page.goto("/token/1");
  await page.getByRole("button", { name: "Disable", exact: true }).waitFor();
  const renamed = { id: 1, name: "deploy-bot", unlimited_quota: true };
  expect(await asUser(owner, "PUT", "/api/token/", renamed)).toMatchObject({ success: true });
  await page.getByRole("button", { name: "Disable", exact: true }).click();
  await page
    .locator("[data-toast]")
    .getByText(/changed/)
    .waitFor();
  await heading(page, "deploy-bot").waitFor();
  expect(await asUser(owner, "GET", "/api/token/1")).toMatchObject({ data: { status: 1 } });
});

test("a token with a new name shows the calls of before", async () => {
  for (const [where, path] of [
    [page, "/token/1"],
    [owner, "/token/1"],
  ] as const) {
    await where.goto(path);
    await heading(where, "deploy-bot").waitFor();
    await where.getByText("model-of-ada").first().waitFor();
    await where.getByRole("link", { name: "Open its log" }).click();
    await where.getByRole("button", { name: "Remove the filter Token deploy-bot" }).waitFor();
    await where.locator(".grid-row").filter({ hasText: "model-of-ada" }).waitFor();
  }
});

test("a user has no page of a token of another user", async () => {
  await owner.goto("/token/2");
  await owner.getByRole("heading", { name: "There is no such token" }).waitFor();
});

test("an administrator opens a superior next to the list without the tokens, which are not to be seen", async () => {
  const boss = { username: "boss", password: PASSWORD, display_name: "Boss" };
  expect(await asUser(page, "POST", "/api/user/", boss)).toMatchObject({ success: true });
  const promoted = { username: "boss", action: "promote" };
  expect(await asUser(page, "POST", "/api/user/manage", promoted)).toMatchObject({ success: true });
  const { page: admin } = await openPage(opened.browser, opened.gateway.url);
  await signIn(admin, "boss", PASSWORD);
  await admin.goto("/user?row=2");
  await admin.getByRole("dialog", { name: "ada" }).getByRole("link", { name: "deploy-bot" }).waitFor();
  await admin.goto("/user?row=1");
  const panel = admin.getByRole("dialog", { name: "root" });
  await panel.getByText("Last 24 hours").waitFor();
  expect(await panel.getByRole("heading", { name: "Tokens" }).count()).toBe(0);
  await admin.context().close();
});

test("users see the budgets of their account and tokens in the overview, the wallet and on the token's page", async () => {
  await owner.goto("/topup");
  await heading(owner, "Wallet").waitFor();
  await owner.getByRole("heading", { name: "Orders" }).waitFor();
  expect(await owner.getByRole("heading", { name: "Budgets" }).count()).toBe(0);
  for (const subject of [
    { scope: "token", subject: "1" },
    { scope: "user", subject: "2", is_hard: false },
    { scope: "token", subject: "2" },
    { scope: "model", subject: "gpt-4o" },
  ]) {
    const budget = { ...subject, period: "month", quota_limit: 500_000 };
    expect(await asUser(page, "POST", "/api/budget/", budget)).toMatchObject({ success: true });
  }
  const database = new DatabaseSync(opened.file, { timeout: 10_000 });
  database.exec("update budgets set used = 450000 where id = 1");
  database.exec("update budgets set used = 500000 where id = 2");
  database.close();
  for (const path of ["/", "/topup"]) {
    await owner.goto(path);
    const panel = owner.locator("section").filter({ has: owner.getByRole("heading", { name: "Budgets" }) });
    await panel.getByRole("meter", { name: "90%" }).waitFor();
    expect(await panel.getByRole("listitem").count(), path).toBe(2);
    await panel.getByText("Your account").waitFor();
    await panel.getByText("Used up: requests still run. The next window begins").waitFor();
    expect(await axeFindings(owner)).toEqual([]);
    await shoot(owner, path === "/" ? "overview-user-budgets" : "wallet-budgets");
  }
  await owner.getByRole("link", { name: "deploy-bot" }).click();
  await owner.waitForURL(/\/token\/1$/);
  await owner.getByRole("slider", { name: "Time in the chart", exact: true }).waitFor();
  await owner.getByText("Spending per month: deploy-bot").waitFor();
  await owner.getByText("Your account").waitFor();
  expect(await axeFindings(owner)).toEqual([]);
  await shoot(owner, "token-page-budgets");
});

test("an administrator sees the budgets of that token, each with the way to its page", async () => {
  await page.goto("/token/1");
  await page.getByText("Spending per month: deploy-bot").waitFor();
  await page.getByRole("link", { name: "Account ada" }).waitFor();
  await page.getByRole("link", { name: "deploy-bot", exact: true }).click();
  await page.waitForURL(/\/budget\/1$/);
});

test("the pages are whole in Chinese and on a phone", async () => {
  await owner.evaluate(() => localStorage.setItem("fairway:language", "zh"));
  for (const path of ["/", "/topup", "/token/1"]) {
    await owner.setViewportSize({ width: 320, height: 800 });
    await owner.goto(path);
    await owner.getByText("您的账户").first().waitFor();
    const overflow = await owner.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow, path).toBeLessThanOrEqual(0);
  }
  expect(faults).toEqual([]);
  expect(ownFaults).toEqual([]);
});
