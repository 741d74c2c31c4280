import { ROOT_PASSWORD, startGateway, startUpstream, type GatewayProcess, type Upstream } from "@fairway/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, openPage } from "./browser.ts";
import { asUser, option, setOption, signIn } from "./session.ts";

// What users of compatible consoles expect: every address, every entry of the sidebar, every option.

let upstream: Upstream;
let gateway: GatewayProcess;
let browser: Browser;
let page: Page;
let visitor: Page;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway();
  browser = await openBrowser();
  ({ page } = await openPage(browser, gateway.url));
  ({ page: visitor } = await openPage(browser, gateway.url));
  await signIn(page, "root", ROOT_PASSWORD);
  const channel = { type: 1, name: "quay", key: "sk-1", models: "gpt-4o", base_url: upstream.url };
  expect(await asUser(page, "POST", "/api/channel/", channel)).toMatchObject({ success: true });
  const grace = { username: "grace", password: "hopper-1906", display_name: "Grace" };
  expect(await asUser(page, "POST", "/api/user/", grace)).toMatchObject({ success: true });
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.stop();
});

const heading = (on: Page, name: string | RegExp) => on.getByRole("heading", { level: 1, name });

test.each([
  ["C-030", "/", "Overview"],
  ["C-031", "/channel", "Channel"],
  ["C-034", "/token", "Token"],
  ["C-035", "/playground", "Playground"],
  ["C-036", "/redemption", "Redemption codes"],
  ["C-037", "/user", "Manage Users"],
  ["C-041", "/topup", "Wallet"],
  ["C-042", "/log", "Log"],
  ["C-043", "/detail", "Data Dashboard"],
  ["C-044", "/midjourney", "Drawing"],
  ["C-045", "/task", "Asynchronous task"],
  ["C-049", "/batch", "Batches"],
  ["C-049", "/file", "Files"],
  ["C-049", "/cache", "Caches"],
  ["C-046", "/pricing", "Model prices"],
  ["C-047", "/about", "About"],
  ["C-054", "/setting?tab=personal", "Settings"],
  ["C-055", "/no/such/page", "Page not found"],
])("%s: %s opens by its address", async (_id, path, name) => {
  await page.goto(path);
  await heading(page, name).waitFor();
});

test.each([
  ["C-032", "/channel/edit/1", "Edit channel"],
  ["C-033", "/channel/add", "Add channel"],
  ["C-033", "/channel/import", "Import channels"],
  ["C-038", "/user/edit/1", "Edit user"],
])("%s: the form at %s opens by its address (C-383)", async (_id, path, name) => {
  await page.goto(path);
  await page.getByRole("dialog", { name }).waitFor();
});

test("the address of the own account leads to its settings (C-039)", async () => {
  await page.goto("/user/edit");
  await heading(page, "Settings").waitFor();
  await page.getByLabel("Display name").waitFor();
});

test.each([
  ["C-050", "/login", "Log in"],
  ["C-052", "/reset", /password/i],
])("%s: visitors open %s", async (_id, path, name) => {
  await visitor.goto(path);
  await heading(visitor, name).waitFor();
});

test("the sidebar has every page of an administrator (C-060, C-061, C-062, C-064, C-065, C-066, C-067, C-068, C-069, C-070, C-071, C-072)", async () => {
  await page.goto("/token");
  const nav = page.getByRole("navigation", { name: "Main navigation" });
  for (const name of [
    "Playground",
    "Model price",
    "Channel",
    "Token",
    "Redemption code",
    "Wallet",
    "User Management",
    "Log",
    "Data Dashboard",
    "Drawing",
    "Asynchronous task",
    "Settings",
  ])
    await nav.getByRole("link", { name, exact: true }).waitFor();
});

test("users see no pages of operators in the sidebar (C-062, C-065, C-067)", async () => {
  await signIn(visitor, "grace", "hopper-1906");
  const nav = visitor.getByRole("navigation", { name: "Main navigation" });
  await nav.getByRole("link", { name: "Token", exact: true }).waitFor();
  for (const name of ["Channel", "Redemption code", "User Management"])
    expect(await nav.getByRole("link", { name, exact: true }).count()).toBe(0);
});

test("pages that are switched off leave the sidebar (C-069, C-070, C-071)", async () => {
  for (const key of ["DrawingEnabled", "TaskEnabled", "DataExportEnabled"]) await setOption(page, key, "false");
  await visitor.reload();
  const nav = visitor.getByRole("navigation", { name: "Main navigation" });
  await nav.getByRole("link", { name: "Token", exact: true }).waitFor();
  for (const name of ["Drawing", "Asynchronous task", "Data Dashboard"])
    expect(await nav.getByRole("link", { name, exact: true }).count()).toBe(0);
  for (const key of ["DrawingEnabled", "TaskEnabled", "DataExportEnabled"]) await setOption(page, key, "true");
});

const OPTIONS: Readonly<Record<string, readonly [section: string, keys: readonly string[]]>> = {
  "C-132": [
    "operation&section=drawing",
    ["DrawingEnabled", "MjNotifyEnabled", "MjAccountFilterEnabled", "MjForwardUrlEnabled", "MjModeClearEnabled"],
  ],
  "C-133": ["operation&section=words", ["CheckSensitiveEnabled", "CheckSensitiveOnPromptEnabled", "SensitiveWords"]],
  "C-135": ["operation&section=dashboard", ["DataExportEnabled", "DataExportInterval", "DataExportDefaultTime"]],
  "C-136": [
    "operation&section=monitoring",
    ["ChannelDisableThreshold", "QuotaRemindThreshold", "AutomaticDisableChannelEnabled"],
  ],
  "C-137": ["operation&section=quota", ["QuotaForNewUser", "PreConsumedQuota", "QuotaForInviter", "QuotaForInvitee"]],
  "C-150": ["system&section=server", ["ServerAddress"]],
  "C-151": ["system&section=worker", ["WorkerUrl", "WorkerValidKey"]],
  "C-152": [
    "system&section=payment",
    ["PayAddress", "EpayId", "EpayKey", "CustomCallbackAddress", "Price", "MinTopUp"],
  ],
  "C-154": [
    "system&section=domains",
    ["EmailDomainRestrictionEnabled", "EmailAliasRestrictionEnabled", "EmailDomainWhitelist"],
  ],
  "C-157": ["system&section=wechat", ["WeChatServerAddress", "WeChatServerToken", "WeChatAccountQRCodeImageURL"]],
  "C-159": ["system&section=human-check", ["TurnstileSiteKey", "TurnstileSecretKey"]],
  "C-165": ["other", ["Notice"]],
  "C-166": ["other", ["SystemName"]],
  "C-167": ["other", ["Logo"]],
  "C-168": ["other", ["HomePageContent"]],
  "C-169": ["other", ["About"]],
  "C-170": ["other", ["Footer"]],
};

test.each(Object.entries(OPTIONS))("%s: the options have a field each", async (_id, [section, keys]) => {
  await page.goto(`/setting?tab=${section}`);
  for (const key of keys) await page.locator(option(key)).waitFor({ state: "attached" });
});

test("the own account lists its models, and a click copies a name (C-111)", async () => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/setting");
  await page.getByRole("button", { name: "Copy gpt-4o", exact: true }).click();
  await page.getByText("“gpt-4o” is copied.").waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("gpt-4o");
});

test("a token opens in the chat clients of the operator, and says so when there are none (C-258, C-363)", async () => {
  const token = { name: "chatty", remain_quota: 500_000, unlimited_quota: false, expired_time: -1 };
  expect(await asUser(page, "POST", "/api/token/", token)).toMatchObject({ success: true });
  await setOption(page, "ChatLink", "https://chat.example.test");
  await page.goto("/token");
  const menu = () => page.getByRole("button", { name: "Actions for chatty" }).click();
  await menu();
  for (const name of ["AMA", "OpenCat", "NextChat"])
    await page.getByRole("menuitem", { name: `Open in ${name}` }).waitFor();
  await page.context().route("https://chat.example.test/**", (route) => route.fulfill({ body: "chat" }));
  const opened = page.context().waitForEvent("page");
  await page.getByRole("menuitem", { name: "Open in Next Web" }).click();
  const chat = await opened;
  expect(chat.url()).toMatch(/^https:\/\/chat\.example\.test\/#\/\?settings=.*sk-/);
  await chat.close();
  await setOption(page, "ChatLink", "");
  await setOption(page, "Chats", "[]");
  await page.goto("/token");
  await menu();
  await page.getByRole("menuitem", { name: "Chat", exact: true }).click();
  await page.getByText("The administrator has not set up a chat link.").waitFor();
});

test("the browser's tab has the name of the system (C-079)", async () => {
  await setOption(page, "SystemName", "Harbour");
  await page.goto("/token");
  await expect.poll(() => page.title()).toBe("Token · Harbour");
});

test("signing out says so and leads to the sign-in page (C-075)", async () => {
  await visitor.goto("/token");
  await visitor.getByRole("button", { name: /^Your account/ }).click();
  await visitor.getByRole("menuitem", { name: "Exit" }).click();
  await visitor.waitForURL(/\/login/);
  await visitor.getByText("Cancellation successful!").waitFor();
});
