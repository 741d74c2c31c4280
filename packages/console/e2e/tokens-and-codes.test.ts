import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser, setOption, signIn } from "./session.ts";

// Tokens, redemption codes and the wallet, in the way that users of compatible consoles know.

const INVITER = { username: "grace", password: "hopper-1906" };
const UNIT = 500_000;

let opened: OpenConsole;
let gateway: OpenConsole["gateway"];
let browser: OpenConsole["browser"];
let page: Page;
let faults: readonly string[];
let file: string;

beforeAll(async () => {
  opened = await openConsole();
  ({ gateway, browser, page, faults, file } = opened);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  for (const key of ["QuotaForInviter", "QuotaForNewUser"]) await setOption(page, key, String(2 * UNIT));
  await setOption(page, "UserUsableGroups", '{"default": "Usual", "vip": "Faster"}');
  await setOption(page, "GroupRatio", '{"default": 1, "vip": 0.5}');
  const channel = { type: 1, name: "quay", key: "sk-1", models: "gpt-4o,gpt-4o-mini", base_url: "http://127.0.0.1:9" };
  expect(await asUser(page, "POST", "/api/channel/", channel)).toMatchObject({ success: true });
  expect(await asUser(page, "POST", "/api/user/", INVITER)).toMatchObject({ success: true });
});

afterAll(() => opened?.close());

const row = (name: string) => page.locator(".grid-row").filter({ hasText: name });
const drawer = (name: string) => page.getByRole("dialog", { name });
const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
const act = async (name: string, entry: string) => {
  await page.getByRole("button", { name: `Actions for ${name}`, exact: true }).click();
  await page.getByRole("menuitem", { name: entry, exact: true }).click();
};
const listMenuEntries = async (name: string) => {
  await page.getByRole("button", { name: `Actions for ${name}`, exact: true }).click();
  await page.getByRole("menuitem").first().waitFor();
  const names = await page.getByRole("menuitem").allTextContents();
  await page.keyboard.press("Escape");
  await page.getByRole("menuitem").first().waitFor({ state: "detached" });
  return names.map((text) => text.trim());
};
const rowsAt = async (path: string) => ((await asUser(page, "GET", path)) as { data: Record<string, unknown>[] }).data;

test("a token is limited to models, addresses a date and a group (C-263, C-264, C-265, C-266, C-268)", async () => {
  await page.goto("/token");
  await page
    .getByText("Tokens cannot control usage precisely, so they should not be handed directly to users.")
    .waitFor();
  await page.goto("/token/add");
  const form = drawer("Add token");
  await form.getByLabel("Name").fill("bounded");
  expect(await form.getByRole("combobox", { name: "Models" }).count()).toBe(0);
  await form.getByText("Only some models").click();
  const models = form.getByRole("combobox", { name: "Models" });
  const list = (await models.getAttribute("list")) ?? "";
  expect(
    await page
      .locator(`[id="${list}"] option`)
      .evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value)),
  ).toEqual(expect.arrayContaining(["gpt-4o", "gpt-4o-mini"]));
  await models.fill("gpt-4o,gpt-4o-mini");
  await models.press("Enter");
  await form.getByLabel("Allowed addresses").fill("10.0.0.1\n192.168.0.0/16");
  const expiry = form.getByLabel("Expires", { exact: true });
  const day = 86_400_000;
  for (const [name, length] of [
    ["1 hour", day / 24],
    ["1 day", day],
    ["1 month", 30 * day],
  ] as const) {
    await form.getByRole("button", { name, exact: true }).click();
    const left = Date.parse(await expiry.inputValue()) - Date.now();
    expect(Math.abs(left - length), name).toBeLessThan(120_000);
  }
  await form.getByRole("button", { name: "Never", exact: true }).click();
  expect(await expiry.inputValue()).toBe("");
  for (const count of ["10", "20", "30", "100"]) {
    await form
      .getByRole("group", { name: "Quantity shortcuts" })
      .getByRole("button", { name: count, exact: true })
      .click();
    expect(await form.getByLabel("How many").inputValue()).toBe(count);
  }
  await form.getByLabel("How many").fill("1");
  const groups = form.getByLabel("Group");
  expect(await groups.locator("option").allTextContents()).toEqual(
    expect.arrayContaining(["default · Usual", "vip · Faster"]),
  );
  await groups.selectOption("vip");
  await form.getByRole("button", { name: "Create token" }).click();
  await drawer("Your new key").getByRole("button", { name: "Done" }).click();
  expect((await rowsAt("/api/token/?p=0&size=10"))[0]).toMatchObject({
    name: "bounded",
    status: 1,
    remain_quota: UNIT,
    used_quota: 0,
    unlimited_quota: false,
    expired_time: -1,
    model_limits_enabled: true,
    model_limits: "gpt-4o,gpt-4o-mini",
    allow_ips: "10.0.0.1\n192.168.0.0/16",
    group: "vip",
    key: expect.stringMatching(/^\w{48}$/) as unknown,
    created_time: expect.any(Number) as unknown,
  });
});

test("a row of the list says what the token is, and its key is shown or copied (C-250, C-252, C-256, C-257)", async () => {
  const plain = { name: "plain", unlimited_quota: true, expired_time: -1 };
  expect(await asUser(page, "POST", "/api/token/", plain)).toMatchObject({ success: true });
  await page.setViewportSize({ width: 1700, height: 900 });
  await page.goto("/token");
  for (const name of ["Name", "State", "Used / limit", "Group", "Expires", "Created"])
    await page.getByRole("columnheader", { name, exact: true }).waitFor();
  const bounded = row("bounded");
  for (const text of ["Enabled", "2 models", "vip", "$0.00", "$1.00", "never"])
    await bounded.getByText(text, { exact: false }).first().waitFor();
  await row("plain").getByText("unlimited").waitFor();
  await row("plain").getByText("(own group)").waitFor();
  const { key } = (await rowsAt("/api/token/?p=0&size=10&keyword=plain"))[0] ?? {};
  expect(await row("plain").textContent()).not.toContain(key);
  await row("plain").getByRole("button", { name: "Show the key of plain" }).click();
  await row("plain")
    .getByText(`sk-${String(key)}`)
    .waitFor();
  await row("plain").getByRole("button", { name: "Hide the key of plain" }).click();
  await row("plain").getByRole("button", { name: "Copy the key of plain" }).click();
  await expect.poll(clipboard).toBe(`sk-${String(key)}`);
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("tokens are found by name and by key, page by page, and copied together (C-251, C-255, C-388)", async () => {
  const { key } = (await rowsAt("/api/token/?p=0&size=10&keyword=plain"))[0] ?? {};
  const find = page.getByRole("searchbox", { name: "Name", exact: true });
  await find.fill("bound");
  await expect.poll(() => page.locator(".grid-row").count()).toBe(1);
  await find.fill("");
  await expect.poll(() => page.locator(".grid-row").count()).toBeGreaterThan(1);
  // A whole key opens the page of its token, and the address never holds it.
  await page.getByRole("searchbox", { name: "Key" }).fill(`sk-${String(key)}`);
  await page.waitForURL(/\/token\/\d+$/);
  await page.getByRole("heading", { name: "plain", exact: true }).waitFor();
  await page.goto("/token");
  await page.getByRole("searchbox", { name: "Key" }).fill(String(key).slice(0, 12));
  await expect.poll(() => page.locator(".grid-row").count()).toBe(1);
  await row("plain").waitFor();
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  for (let number = 1; number <= 11; number++)
    await asUser(page, "POST", "/api/token/", { name: `crew-${number}`, expired_time: -1, remain_quota: 1 });
  await page.goto("/token?q=crew&size=10&p=2");
  await row("crew-1").waitFor();
  expect(await page.locator(".grid-row").count()).toBe(1);
  await page.getByText("11–11 of 11").waitFor();
  await page.getByRole("button", { name: "Previous page" }).click();
  await expect.poll(() => page.locator(".grid-row").count()).toBe(10);
  await page.getByRole("checkbox", { name: "Select crew-11" }).check();
  await page.getByRole("checkbox", { name: "Select crew-10" }).check();
  await page.getByRole("button", { name: "Copy selected" }).click();
  await expect.poll(clipboard).toMatch(/^crew-1[01] {4}sk-\w{48}\ncrew-1[01] {4}sk-\w{48}$/);
});

test("codes are found, shown, copied, edited, switched and deleted, and a used one only deleted (C-280, C-281, C-282, C-283, C-284, C-285, C-286, C-287, C-288, C-289)", async () => {
  expect(await asUser(page, "POST", "/api/redemption/", { name: "spring", quota: UNIT, count: 3 })).toMatchObject({
    success: true,
  });
  expect(await asUser(page, "POST", "/api/redemption/", { name: "autumn", quota: UNIT, count: 1 })).toMatchObject({
    success: true,
  });
  const codes = await rowsAt("/api/redemption/?p=0&page_size=10");
  const used = String(codes.find(({ name }) => name === "autumn")?.["key"]);
  expect(await asUser(page, "POST", "/api/user/topup", { key: used })).toMatchObject({ success: true, data: UNIT });
  await page.goto("/redemption");
  for (const name of ["ID", "Name", "State", "Value", "Created", "Used by"])
    await page.getByRole("columnheader", { name, exact: true }).waitFor();
  await row("autumn").getByText("Used", { exact: true }).waitFor();
  expect(await row("autumn").getByRole("link", { name: "#1" }).getAttribute("href")).toBe("/user/edit/1");
  expect(await listMenuEntries("autumn")).toEqual(["Delete"]);
  const find = page.getByRole("searchbox", { name: "ID or name" });
  await find.fill("spring");
  await expect.poll(() => page.locator(".grid-row").count()).toBe(3);
  await find.fill("1");
  await expect.poll(() => page.locator(".grid-row").count()).toBe(1);
  const { key } = codes.find(({ id }) => id === 1) ?? {};
  await row("spring").getByRole("button", { name: "Show the code spring" }).click();
  await row("spring").getByText(String(key), { exact: true }).waitFor();
  await shoot(page, "redemption-shown");
  expect(await axeFindings(page)).toEqual([]);
  await row("spring").getByRole("button", { name: "Copy the code spring" }).click();
  await expect.poll(clipboard).toBe(key);
  await act("spring", "Disable");
  await row("spring").getByText("Disabled", { exact: true }).waitFor();
  // Only an unused code can be edited.
  expect(await listMenuEntries("spring")).toEqual(["Enable", "Delete"]);
  await act("spring", "Enable");
  await row("spring").getByText("Unused", { exact: true }).waitFor();
  await act("spring", "Edit");
  const form = drawer("Edit code");
  expect(await form.getByRole("textbox", { name: "Value" }).inputValue()).toBe("1");
  await form.getByRole("textbox", { name: /^Name/ }).fill("summer");
  await form.getByRole("textbox", { name: "Value" }).fill("2.5");
  await form.getByRole("button", { name: "Save" }).click();
  await find.fill("summer");
  await row("summer").getByText("$2.50").waitFor();
  await act("summer", "Delete");
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "Nothing matches these filters" }).waitFor();
  await page.goto("/redemption?q=spring");
  await page.getByRole("checkbox", { name: "Select all rows of this page" }).check();
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await expect.poll(async () => (await clipboard()).split("\n").length).toBe(2);
});

test("a code carries what compatible gateways keep of it (C-291)", async () => {
  const [code] = await rowsAt("/api/redemption/?p=0&page_size=10&keyword=autumn");
  expect(code).toMatchObject({
    name: "autumn",
    status: 3,
    quota: UNIT,
    used_user_id: 1,
    key: expect.stringMatching(/^\w{32}$/) as unknown,
    created_time: expect.any(Number) as unknown,
  });
});

test("the wallet shows the balance, and what invitations earned is moved to it (C-112, C-113, C-300)", async () => {
  const { page: own } = await openPage(browser, gateway.url);
  await own.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await signIn(own, INVITER.username, INVITER.password);
  await own.goto("/topup");
  const panel = own.getByRole("group", { name: "Invitations" });
  const figure = (label: string) => panel.getByText(label, { exact: true }).locator("..");
  await expect.poll(() => figure("Earned in total").textContent()).toContain("$0.00");
  await panel.getByRole("button", { name: "Copy the invitation link" }).click();
  const link = await own.evaluate(() => navigator.clipboard.readText());
  expect(link).toMatch(new RegExp(`^${gateway.url}/register\\?aff=\\w{4,}$`));
  const { page: guest } = await openPage(browser, gateway.url);
  await guest.goto(link);
  await guest.getByLabel("Username").fill("ada");
  await guest.getByLabel("Password", { exact: true }).fill("analytical-1843");
  await guest.getByLabel("Repeat the password", { exact: true }).fill("analytical-1843");
  await guest.getByRole("button", { name: "Create the account" }).click();
  await guest.getByText("Your account is ready. Please log in.").waitFor();
  await guest.context().close();
  await own.reload();
  for (const [label, text] of [
    ["Not yet moved", "$2.00"],
    ["Earned in total", "$2.00"],
    ["Users invited", "1"],
  ] as const)
    await expect.poll(() => figure(label).textContent()).toContain(text);
  const balance = own
    .getByRole("group", { name: "Balance" })
    .getByText("Balance", { exact: true })
    .last()
    .locator("..");
  const before = await balance.textContent();
  await panel.getByRole("button", { name: "Move to the balance" }).click();
  const dialog = own.getByRole("dialog", { name: "Move your reward to the balance" });
  const amount = dialog.getByRole("textbox", { name: "Amount" });
  await amount.fill("0.5");
  await dialog.getByRole("button", { name: "Move", exact: true }).click();
  await dialog.getByText("The minimum amount for transfer is $1.00").waitFor();
  await amount.fill("9");
  await dialog.getByRole("button", { name: "Move", exact: true }).click();
  await dialog.getByText("You have $2.00 only.").waitFor();
  expect(await axeFindings(own)).toEqual([]);
  await shoot(own, "move-reward");
  await amount.fill("1.5");
  await dialog.getByRole("button", { name: "Move", exact: true }).click();
  await own.getByText("The reward is in your balance.").waitFor();
  await expect.poll(() => figure("Not yet moved").textContent()).toContain("$0.50");
  expect(before).toContain("$2.00");
  await expect.poll(() => balance.textContent()).toContain("$3.50");
  await shoot(own, "wallet-invitations");
  await own.context().close();
});

test("the wallet counts requests as the overview does: failed and refused ones are among them", async () => {
  const total = { calls: 12, quota: 5, errors: 3, refused: 1 };
  const { page: own } = await openPage(browser, gateway.url);
  await signIn(own, INVITER.username, INVITER.password);
  await own.route("**/api/statistics/self/usage*", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { data: { total: object } };
    await route.fulfill({ json: { ...body, data: { ...body.data, total: { ...body.data.total, ...total } } } });
  });
  const figure = (label: string) => own.getByText(label, { exact: true }).locator("..");
  await own.goto("/topup");
  await expect.poll(() => figure("Requests in 7 days").textContent()).toContain("12");
  await own.goto("/");
  await expect.poll(() => figure("Requests").first().textContent()).toContain("12");
  await own.context().close();
});

test("the chat takes the newest token that works, and a failure of the list can be tried again (C-362)", async () => {
  await page.route("https://chat.example.test/**", (route) =>
    route.fulfill({ contentType: "text/html", body: "chat" }),
  );
  await setOption(page, "ChatLink", "https://chat.example.test");
  // The newest one is disabled in the database, as any number of rows before the working one could be.
  const database = new DatabaseSync(file, { timeout: 10_000 });
  database.prepare("update tokens set status = 2 where name like 'crew-%'").run();
  database.close();
  await page.route("**/api/token/?*", (route) => route.fulfill({ status: 502, body: "" }));
  await page.goto("/chat");
  const again = page.getByRole("button", { name: "Try again" });
  await again.waitFor();
  expect(await page.locator("[data-toast]").count()).toBe(0);
  await page.unroute("**/api/token/?*");
  await again.click();
  await page.getByText("with the token plain").waitFor();
  await page.frameLocator('iframe[title="Chat"]').getByText("chat").waitFor();
});

test("nothing went wrong behind the pages", () => {
  // These are the refusals of the last test.
  expect(faults.filter((fault) => !/status of 502/.test(fault))).toEqual([]);
});
