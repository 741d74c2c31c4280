import { ROOT_PASSWORD } from "@fairway/testkit";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser, signIn } from "./session.ts";

// The basis of every page: roles, the gateway's status, the browser's storage, drawers, lists and messages.

const ADMIN = { username: "harbour", password: "master-1906" };
const USER = { username: "grace", password: "hopper-1906" };

let opened: OpenConsole;
let gateway: OpenConsole["gateway"];
let upstream: OpenConsole["upstream"];
let browser: OpenConsole["browser"];
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  opened = await openConsole();
  ({ gateway, upstream, browser, page, faults } = opened);
  for (const user of [ADMIN, USER])
    expect(await asUser(page, "POST", "/api/user/", user)).toMatchObject({ success: true });
  const found = await asUser(page, "GET", "/api/user/search?keyword=harbour");
  const { id } = (found as { data: { id: number }[] }).data[0]!;
  expect(await asUser(page, "POST", "/api/user/manage", { id, action: "promote" })).toMatchObject({ success: true });
  const channel = { type: 1, name: "quay", key: "sk-1", models: "gpt-4o", base_url: upstream.url };
  expect(await asUser(page, "POST", "/api/channel/", channel)).toMatchObject({ success: true });
  const token = { name: "shop", remain_quota: 500_000, expired_time: -1 };
  expect(await asUser(page, "POST", "/api/token/", token)).toMatchObject({ success: true });
});

afterAll(() => opened?.close());

const nav = (on: Page) => on.getByRole("navigation", { name: "Main navigation" });
const entry = (on: Page, name: string) => nav(on).getByRole("link", { name, exact: true });
const heading = (on: Page, name: string) => on.getByRole("heading", { level: 1, name });
const storage = (on: Page, name: string) => on.evaluate((key) => localStorage.getItem(key), name);

/** Replaces some members of the gateway's status, for one page. */
async function withStatus(on: Page, change: Readonly<Record<string, unknown>>): Promise<void> {
  await on.unroute("**/api/status");
  await on.route("**/api/status", async (route) => {
    const answer = (await (await route.fetch()).json()) as { data: object };
    await route.fulfill({ json: { ...answer, data: { ...answer.data, ...change } } });
  });
}

test.each([
  [USER, "User", { Token: 1, Channel: 0, "Audit log": 0 }, ["No access", "No access"]],
  [ADMIN, "Administrator", { Token: 1, Channel: 1, "Audit log": 0 }, ["Channel", "No access"]],
  [
    { username: "root", password: ROOT_PASSWORD },
    "Super administrator",
    { Channel: 1, "Audit log": 1 },
    ["Channel", "Audit log"],
  ],
] as const)("$username has the pages of the role (C-001)", async (account, role, entries, [channel, audit]) => {
  const { page: own } = await openPage(browser, gateway.url);
  await signIn(own, account.username, account.password);
  await entry(own, "Token").waitFor();
  for (const [name, count] of Object.entries(entries)) expect(await entry(own, name).count(), name).toBe(count);
  await own.getByRole("button", { name: /^Your account/ }).click();
  await own.getByText(`${role} · default`).waitFor();
  await own.goto("/channel");
  await heading(own, channel).waitFor();
  await own.goto("/audit");
  await heading(own, audit).waitFor();
  await own.context().close();
});

test("the state of the gateway decides what visitors see (C-004, C-074, C-093)", async () => {
  const { page: visitor } = await openPage(browser, gateway.url);
  const ways = {
    github_oauth: true,
    github_client_id: "x",
    wechat_login: true,
    telegram_oauth: true,
    telegram_bot_name: "bot",
  };
  await visitor.route("https://telegram.org/**", (route) => route.abort());
  await withStatus(visitor, { ...ways, system_name: "Pilot house", logo: "/mark.svg?own", email_verification: true });
  await visitor.goto("/");
  const header = visitor.getByRole("banner");
  expect(await header.getByRole("link", { name: "Pilot house" }).getAttribute("href")).toBe("/");
  expect(await header.locator("img").getAttribute("src")).toBe("/mark.svg?own");
  await header.getByRole("link", { name: "About" }).waitFor();
  await header.getByRole("button", { name: "Switch to dark" }).waitFor();
  expect(await header.getByRole("link", { name: "Log in" }).getAttribute("href")).toBe("/login");
  await header.getByRole("link", { name: "Create an account" }).click();
  await visitor.getByLabel("Code from the mail").waitFor();
  await visitor.goto("/login");
  for (const way of ["GitHub", "WeChat"]) await visitor.getByRole("button", { name: new RegExp(way) }).waitFor();
  await withStatus(visitor, { password_login_enabled: false, register_enabled: false });
  await visitor.goto("/");
  expect(await header.getByRole("link", { name: "Create an account" }).count()).toBe(0);
  await visitor.goto("/login");
  await visitor
    .getByText(/password/i)
    .first()
    .waitFor();
  expect(await visitor.getByLabel("Password", { exact: true }).count()).toBe(0);
  await visitor.context().close();
});

test("the state of the gateway decides what users see (C-002, C-004, C-302)", async () => {
  const { page: own } = await openPage(browser, gateway.url);
  await signIn(own, USER.username, USER.password);
  const off = { enable_drawing: false, enable_task: false, enable_data_export: false };
  await withStatus(own, {
    ...off,
    chat_link: "https://chat.example.test",
    top_up_link: "https://shop.example.test/buy",
  });
  await own.goto("/topup");
  await entry(own, "Chat").waitFor();
  for (const name of ["Drawing", "Asynchronous task", "Data Dashboard"]) expect(await entry(own, name).count()).toBe(0);
  const link = own.getByRole("link", { name: "Obtain redemption code" });
  expect(await link.getAttribute("href")).toBe("https://shop.example.test/buy");
  await own.getByText("$0.00").first().waitFor();
  await withStatus(own, {
    display_in_currency: false,
    quota_per_unit: 1_000,
    server_address: "https://gate.example.test",
  });
  await own.goto("/topup");
  await heading(own, "Wallet").waitFor();
  await own.getByText("Used", { exact: true }).waitFor();
  expect(await own.getByText("$", { exact: false }).count()).toBe(0);
  await own.goto("/token/add");
  await own.getByRole("dialog").getByRole("button", { name: "$10", exact: true }).click();
  expect(await own.getByRole("textbox", { name: "Spending limit" }).inputValue()).toBe("10000");
  await own.context().close();
  await page.goto("/topup");
  await page.getByText("The super administrator has not set up a recharge link!").waitFor();
  await page.getByRole("link", { name: "Set it up" }).click();
  await page.locator('[name="TopUpLink"]').waitFor();
});

test("a gateway that cannot be reached says so and is tried again (C-005)", async () => {
  const { page: visitor } = await openPage(browser, gateway.url);
  await visitor.route("**/api/status", (route) => route.abort());
  await visitor.goto("/login");
  await heading(visitor, "Unable to connect to the server!").waitFor();
  await shoot(visitor, "start-failed");
  await visitor.unroute("**/api/status");
  await visitor.getByRole("button", { name: "Try again" }).click();
  await visitor.getByLabel("Username").waitFor();
  await visitor.context().close();
});

test("names in the browser's storage that other consoles share are written and read (C-006, C-007, C-018, C-020)", async () => {
  const { page: own } = await openPage(browser, gateway.url);
  await own.goto("/register?aff=abcd");
  await heading(own, "Create an account").waitFor();
  expect(await storage(own, "aff")).toBe("abcd");
  await signIn(own, "root", ROOT_PASSWORD);
  expect(JSON.parse((await storage(own, "user")) ?? "")).toMatchObject({
    id: 1,
    username: "root",
    role: 100,
    status: 1,
  });
  const { data: status } = (await asUser(own, "GET", "/api/status")) as { data: Record<string, unknown> };
  expect(JSON.parse((await storage(own, "status")) ?? "")).toEqual(status);
  for (const name of [
    "chat_link",
    "chat_link2",
    "default_collapse_sidebar",
    "enable_data_export",
    "enable_drawing",
    "enable_task",
    "mj_notify_enabled",
    "footer_html",
  ])
    expect(await storage(own, name), name).toBe(String(status[name]));
  await own.getByRole("button", { name: "Switch to dark" }).click();
  expect(await storage(own, "theme-mode")).toBe("dark");
  await own.goto("/channel/add");
  await own.getByRole("dialog", { name: "Add channel" }).waitFor();
  await expect.poll(() => storage(own, "channel_models")).not.toBe(null);
  const models = JSON.parse((await storage(own, "channel_models")) ?? "{}") as Record<string, string[]>;
  expect(models["1"]).toContain("gpt-4o");
  await own.keyboard.press("Escape");
  const byId = own.waitForRequest((request) => /\/api\/channel\/\?.*id_sort=true/.test(request.url()));
  await own.getByLabel("Order").selectOption("id");
  await byId;
  expect(await storage(own, "id-sort")).toBe("true");
  const sizes = own.getByLabel("Rows per page");
  expect(
    await sizes.locator("option").evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value)),
  ).toEqual(["10", "20", "50", "100"]);
  await sizes.selectOption("20");
  await expect.poll(() => storage(own, "page-size")).toBe("20");
  const paged = own.waitForRequest((request) => /\/api\/token\/\?.*size=20/.test(request.url()));
  await own.goto("/token");
  await paged;
  await own.context().close();
});

test("a text that cannot be copied is shown to be copied by hand (C-015)", async () => {
  const { page: own } = await openPage(browser, gateway.url);
  await own.addInitScript(() => {
    Object.defineProperty(navigator, "clipboard", { value: { writeText: () => Promise.reject(new Error("denied")) } });
    document.execCommand = () => false;
  });
  await signIn(own, "root", ROOT_PASSWORD);
  await own.getByRole("button", { name: "Copy the key of shop" }).click();
  const dialog = own.getByRole("dialog", { name: "Unable to copy to clipboard, please copy manually." });
  const field = dialog.getByRole("textbox");
  expect(await field.inputValue()).toMatch(/^sk-\w{48}$/);
  await expect.poll(() => own.evaluate(() => getSelection()?.toString())).toMatch(/^sk-\w{48}$/);
  expect(await axeFindings(own)).toEqual([]);
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
  // Copying outside a row has the same fallback.
  await own.goto("/setting");
  await own.getByRole("button", { name: "Copy gpt-4o", exact: true }).click();
  await own.getByRole("dialog", { name: /Unable to copy/ }).waitFor();
  // This one is above another dialog, and has many lines.
  await own.goto("/redemption/add");
  await own.getByRole("textbox", { name: /^Name/ }).fill("spring");
  await own.getByLabel("Number of codes").fill("3");
  await own.getByRole("button", { name: "Create codes" }).click();
  await own.getByRole("button", { name: "Copy all" }).click();
  await expect.poll(() => field.inputValue()).toMatch(/^\w{32}\n\w{32}\n\w{32}$/);
  await shoot(own, "copy-by-hand");
  await dialog.getByRole("button", { name: "Close" }).click();
  await own.getByRole("dialog", { name: "3 new codes" }).getByRole("button", { name: "Done" }).click();
  await own.context().close();
});

test.each([
  ["/channel/add", "left"],
  ["/channel/edit/1", "right"],
  ["/token/add", "left"],
  ["/token/edit/1", "right"],
  ["/redemption/add", "left"],
  ["/user/add", "left"],
  ["/user/edit/2", "right"],
])("the drawer of %s opens on the %s, and takes a phone whole (C-016, C-017, C-230)", async (path, side) => {
  for (const width of path.startsWith("/token") ? [1440, 601, 600] : [1440]) {
    await page.setViewportSize({ width, height: 900 });
    if (width === 1440) await page.goto(path);
    const drawer = page.getByRole("dialog");
    await drawer.locator("form").waitFor();
    const settled = async () => {
      const box = await drawer.boundingBox();
      return box && { x: box.x, width: box.width };
    };
    const wide = width > 600 ? 600 : width;
    await expect
      .poll(settled, { message: `at ${width}` })
      .toEqual({ x: side === "left" ? 0 : width - wide, width: wide });
  }
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("what is searched for is trimmed, and an empty search is the plain list (C-019, C-388)", async () => {
  for (const [path, label] of [
    ["/channel", "ID, name or key"],
    ["/token", "Name"],
    ["/user", "ID, name or e-mail"],
    ["/redemption", "ID or name"],
  ] as const) {
    await page.goto(`${path}?size=10`);
    const box = page.getByRole("searchbox", { name: label, exact: true });
    const asked = page.waitForRequest((request) => {
      const { pathname, searchParams } = new URL(request.url());
      const size = searchParams.get("page_size") ?? searchParams.get("size");
      return pathname.startsWith(`/api${path}/`) && searchParams.get("keyword") === "quay" && size === "10";
    });
    await box.fill("  quay  ");
    await asked;
    await expect.poll(() => new URL(page.url()).searchParams.get("q")).toBe("quay");
    expect(new URL(page.url()).searchParams.get("size")).toBe("10");
    const rest = page.locator(".grid-row").filter({ hasText: path === "/channel" ? "quay" : /shop|grace|spring/ });
    await box.fill("   ");
    await expect.poll(() => new URL(page.url()).searchParams.get("q")).toBe(null);
    await rest.first().waitFor();
  }
});

test("who asked for a mail waits thirty seconds for the next (C-021, C-101, C-102)", async () => {
  const { page: visitor } = await openPage(browser, gateway.url);
  await visitor.clock.install();
  await withStatus(visitor, { email_verification: true });
  const asked: string[] = [];
  for (const call of ["verification", "reset_password"])
    await visitor.route(`**/api/${call}?**`, async (route) => {
      asked.push(new URL(route.request().url()).pathname + new URL(route.request().url()).search);
      await route.fulfill({ json: { success: true, message: "", data: null } });
    });
  for (const [path, button] of [
    ["/register", "Send a code"],
    ["/reset", "Send me a link"],
  ] as const) {
    await visitor.goto(path);
    await visitor.getByLabel("E-mail").fill("ada@example.com");
    await visitor.getByRole("button", { name: button }).click();
    const waiting = visitor.getByRole("button", { name: /Send again in \d+/ });
    await waiting.waitFor();
    expect(await waiting.isDisabled()).toBe(true);
    const left = async () => Number(/\d+/.exec((await waiting.textContent()) ?? "")?.[0]);
    expect(await left()).toBeGreaterThan(25);
    for (let second = 0; second < 20; second++) await visitor.clock.runFor(1_000);
    await expect.poll(left).toBeLessThanOrEqual(10);
    for (let second = 0; second < 11; second++) await visitor.clock.runFor(1_000);
    await waiting.waitFor({ state: "detached" });
    expect(await visitor.getByRole("button", { name: button }).isEnabled()).toBe(true);
  }
  expect(asked).toEqual(["/api/verification?email=ada%40example.com", "/api/reset_password?email=ada%40example.com"]);
  await visitor.context().close();
});

test("the sidebar collapses by the operator's default, by choice, and on phones (C-073)", async () => {
  const { page: own } = await openPage(browser, gateway.url);
  await withStatus(own, { default_collapse_sidebar: true });
  await signIn(own, USER.username, USER.password);
  const width = async () => Math.round((await nav(own).boundingBox())?.width ?? 0);
  await expect.poll(width).toBe(56);
  await own.getByRole("button", { name: "Expand the sidebar" }).click();
  await expect.poll(width).toBe(216);
  await own.reload();
  await expect.poll(width).toBe(216);
  await own.setViewportSize({ width: 600, height: 900 });
  expect(await nav(own).isVisible()).toBe(false);
  await own.getByRole("button", { name: "Open the menu" }).click();
  await entry(own, "Wallet").click();
  await heading(own, "Wallet").waitFor();
  await expect.poll(() => own.getByRole("dialog").count()).toBe(0);
  await own.context().close();
});

test("a lantern wishes a happy New Year on its days, and on no other (C-076)", async () => {
  const { page: visitor } = await openPage(browser, gateway.url);
  const lantern = visitor.getByRole("button", { name: "Happy New Year!!!" });
  for (const [day, count] of [
    ["2027-01-01", 1],
    ["2027-02-24", 1],
    ["2027-06-01", 0],
  ] as const) {
    await visitor.clock.setFixedTime(`${day}T12:00:00`);
    await visitor.goto("/about");
    await heading(visitor, "About").waitFor();
    expect(await lantern.count(), day).toBe(count);
    if (day === "2027-02-24") {
      await lantern.click();
      await visitor.getByRole("status").filter({ hasText: "Happy New Year!!!" }).waitFor();
      expect(await axeFindings(visitor)).toEqual([]);
      await shoot(visitor, "lantern");
    }
  }
  await visitor.context().close();
});

test("a failure has one message (C-009, C-011, C-012, C-013, C-014, C-390)", async () => {
  await page.goto("/token");
  // A note about a demonstration is not an alert.
  const toasts = page.locator("[data-toast]");
  for (const [status, body, text] of [
    [500, {}, "Error: Internal server error, please contact the administrator!"],
    [429, {}, "Error: Too many requests, please try again later!"],
    [405, {}, "This site is for demonstration purposes only, no server-side!"],
    [502, { message: "the tide is out" }, "Error: the tide is out"],
    [200, { success: false, message: "Not in this port." }, "Not in this port."],
  ] as const) {
    await page.route("**/api/token/?status_only=true", (route) => route.fulfill({ status, json: body }));
    await page.getByRole("button", { name: "Actions for shop" }).click();
    await page.getByRole("menuitem", { name: "Disable" }).click();
    await toasts.filter({ hasText: text }).waitFor();
    expect(await toasts.count(), text).toBe(1);
    expect(await toasts.getAttribute("role"), text).toBe(status === 405 ? "status" : "alert");
    // The row is unchanged.
    await page.getByRole("row").filter({ hasText: "shop" }).getByText("Enabled", { exact: true }).waitFor();
    await page.unroute("**/api/token/?status_only=true");
    await toasts.getByRole("button").last().click();
    await toasts.waitFor({ state: "detached" });
  }
});

test("nothing went wrong behind the pages", () => {
  // The browser reports the refusals above too.
  expect(faults.filter((fault) => !/status of (405|429|50\d)/.test(fault))).toEqual([]);
});
