import {
  createChannel,
  createToken,
  ROOT_PASSWORD,
  signIn as openSession,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Upstream,
} from "@fairway/testkit";
import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { axeFindings, openBrowser, openPage, shoot } from "./browser.ts";
import { asUser, setOption, signIn } from "./session.ts";

// Signing in, users, the log and prices, in the way that users of compatible consoles know.

const USER = { username: "grace", password: "hopper-1906" };

let folder: string;
let upstream: Upstream;
let gateway: GatewayProcess;
let browser: Browser;
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "fairway-people-"));
  upstream = await startUpstream();
  gateway = await startGateway({ database: `sqlite:${join(folder, "fairway.db")}` });
  const root = await openSession(gateway.url, "root", ROOT_PASSWORD);
  await createChannel(root, { name: "west", base_url: upstream.url, models: "gpt-4o,gpt-4o-mini" });
  const key = await createToken(root, { name: "shop" });
  for (const stream of [false, true]) {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "Ahoy" }], stream }),
    });
    expect(response.status).toBe(200);
    await response.text();
  }
  const logged = async () => expect(await root.must("GET", "/api/log/?type=2")).toMatchObject({ total: 2 });
  await vi.waitFor(logged, { timeout: 15_000 });
  browser = await openBrowser();
  ({ page, faults } = await openPage(browser, gateway.url));
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const row = (name: string) => page.locator(".grid-row").filter({ hasText: name });
const drawer = (name: string) => page.getByRole("dialog", { name });

test("the sign-in form wants both parts, and sends them once (C-090)", async () => {
  const sent: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/api/user/login")) sent.push(`${request.url()} ${request.postData() ?? ""}`);
  });
  await page.goto("/login");
  await page.getByLabel("Username").fill("root");
  await page.keyboard.press("Enter");
  await page.getByText("Please enter your username and password!").waitFor();
  expect(sent).toEqual([]);
  await page.getByLabel("Password", { exact: true }).fill(ROOT_PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/token/);
  expect(sent).toEqual([
    `${gateway.url}/api/user/login ${JSON.stringify({ username: "root", password: ROOT_PASSWORD })}`,
  ]);
});

test("a user is added with a name and a password, and nothing is sent without them (C-183, C-386)", async () => {
  let calls = 0;
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().endsWith("/api/user/")) calls++;
  });
  await page.goto("/user/add");
  const form = drawer("Add user");
  await form.getByRole("button", { name: "Create user" }).click();
  await form.getByText("Please fill in the username and the password!").first().waitFor();
  expect(await form.getByRole("button", { name: "Create user" }).isEnabled()).toBe(true);
  expect(calls).toBe(0);
  await form.getByLabel("Username").fill(USER.username);
  await form.getByLabel("Display name").fill("Grace H.");
  await form.getByLabel(/^Password/).fill(USER.password);
  await form.getByRole("button", { name: "Create user" }).click();
  await form.waitFor({ state: "detached" });
  expect(calls).toBe(1);
  await row("grace").getByText("Grace H.").waitFor();
});

test("users are listed ten to a hundred a page, and an unknown state is called so (C-182, C-186, C-188)", async () => {
  const database = new DatabaseSync(join(folder, "fairway.db"), { timeout: 10_000 });
  for (let number = 1; number <= 12; number++)
    await asUser(page, "POST", "/api/user/", { username: `crew${number}`, password: "crew-of-1906" });
  database.prepare("update users set status = 3 where username = 'crew12'").run();
  database.prepare("update users set status = 2 where username = 'crew11'").run();
  database.close();
  await page.goto("/user");
  const size = page.getByLabel("Rows per page");
  await expect
    .poll(() => size.locator("option").allTextContents())
    .toEqual(["10 / page", "20 / page", "50 / page", "100 / page"]);
  await size.selectOption("10");
  await expect.poll(() => page.locator(".grid-row").count()).toBe(10);
  await row("crew12").getByText("Unknown").waitFor();
  const { data } = (await asUser(page, "GET", "/api/user/?p=0&page_size=10")) as { data: object[] };
  const texts = ["username", "display_name", "github_id", "wechat_id", "telegram_id", "email", "group"];
  const numbers = ["id", "quota", "used_quota", "request_count", "role", "status", "inviter_id"];
  const earned = ["aff_count", "aff_quota", "aff_history_quota"];
  expect(data[0]).toMatchObject({
    ...Object.fromEntries(texts.map((name) => [name, expect.any(String) as unknown])),
    ...Object.fromEntries([...numbers, ...earned].map((name) => [name, expect.any(Number) as unknown])),
    DeletedAt: null,
  });
  expect(data[0]).not.toHaveProperty("password", expect.stringMatching(/./));
  await row("crew11").getByText("Banned").waitFor();
  await row("crew10").getByText("Activated").waitFor();
  const entries = async (name: string) => {
    await page.getByRole("button", { name: `Actions for ${name}`, exact: true }).click();
    await page.getByRole("menuitem").first().waitFor();
    const names = await page.getByRole("menuitem").allTextContents();
    await page.keyboard.press("Escape");
    await page.getByRole("menuitem").first().waitFor({ state: "detached" });
    return names.map((text) => text.trim());
  };
  expect(await entries("crew12")).not.toContain("Enable");
  expect(await entries("crew11")).toContain("Enable");
  expect(await entries("crew10")).toContain("Disable");
  const next = page.waitForRequest((request) => /\/api\/user\/\?.*p=1&page_size=10/.test(request.url()));
  await page.getByRole("button", { name: "Next page" }).click();
  await next;
  await row("root").waitFor();
  expect(await page.locator(".grid-row").count()).toBe(4);
  await page.getByLabel("Rows per page").selectOption("50");
});

test("an own profile is saved without group and balance (C-121)", async () => {
  const { page: own } = await openPage(browser, gateway.url);
  await signIn(own, USER.username, USER.password);
  await own.goto("/setting");
  await own.getByLabel("Display name").fill("Grace");
  const saving = own.waitForRequest((request) => request.method() === "PUT");
  await own.getByRole("group", { name: "Profile" }).getByRole("button", { name: "Save" }).click();
  const request = await saving;
  expect(new URL(request.url()).pathname).toBe("/api/user/self");
  expect(request.postDataJSON()).toEqual({ username: "grace", display_name: "Grace" });
  await own.getByText("Saved.").waitFor();
  await own.context().close();
});

test("every button that binds an account does something (C-389)", async () => {
  for (const [key, value] of [
    ["GitHubClientId", "client"],
    ["GitHubClientSecret", "secret"],
    ["GitHubOAuthEnabled", "true"],
    ["WeChatServerAddress", "https://wechat.example.test"],
    ["WeChatServerToken", "secret"],
    ["WeChatAuthEnabled", "true"],
    ["TelegramBotName", "bot"],
    ["TelegramBotToken", "1:secret"],
    ["TelegramOAuthEnabled", "true"],
  ] as const)
    expect(await setOption(page, key, value), key).toMatchObject({ success: true });
  await page
    .context()
    .route(/https:\/\/(github\.com|wechat\.example\.test)\//, (route) =>
      route.fulfill({ contentType: "text/html", body: "<title>service</title>" }),
    );
  await page
    .context()
    .route("https://telegram.org/**", (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
  await page.goto("/setting");
  const card = page.getByRole("group", { name: "Accounts" });
  const buttons = card.getByRole("button", { name: /^Bind/ });
  await expect.poll(() => buttons.count()).toBe(4);
  for (const name of ["E-mail", "WeChat", "Telegram"]) {
    await card.getByRole("button", { name: `Bind: ${name}` }).click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  await card.getByRole("button", { name: "Bind: GitHub" }).click();
  await page.waitForURL(/^https:\/\/github\.com\/login\/oauth\/authorize\?client_id=client/);
});

test("model ratios go back to the built-in ones after a question (C-139)", async () => {
  await page.goto("/");
  await setOption(page, "ModelRatio", '{"gpt-4o": 99}');
  const ratios = async () => {
    const { data } = (await asUser(page, "GET", "/api/option/")) as { data: { key: string; value: string }[] };
    return JSON.parse(data.find(({ key }) => key === "ModelRatio")?.value ?? "{}") as Record<string, number>;
  };
  expect((await ratios())["gpt-4o"]).toBe(99);
  await page.goto("/setting?tab=operation&section=prices");
  await page.getByRole("button", { name: "Reset the model ratios" }).click();
  const question = page.getByRole("alertdialog", { name: "Put the built-in model ratios back?" });
  await question.getByRole("button", { name: "Cancel" }).click();
  expect((await ratios())["gpt-4o"]).toBe(99);
  await page.getByRole("button", { name: "Reset the model ratios" }).click();
  await question.getByRole("button", { name: "Reset the model ratios" }).click();
  await page.getByText("The built-in ratios are back.").waitFor();
  expect((await ratios())["gpt-4o"]).not.toBe(99);
});

test("the stream cache of other consoles is accepted as an option, and has no field (C-141)", async () => {
  expect(await setOption(page, "StreamCacheQueueLength", "10")).toMatchObject({ success: true });
  await page.goto("/setting?tab=operation");
  await page.getByLabel("Find an option").fill("StreamCacheQueueLength");
  await page.getByText("No option has these words.").waitFor();
});

test("addresses are saved by their button, once, without the slash at their end (C-022, C-387)", async () => {
  const sent: unknown[] = [];
  page.on("request", (request) => {
    if (request.method() === "PUT") sent.push(request.postDataJSON());
  });
  await page.goto("/setting?tab=system&section=payment");
  const card = page.getByRole("group", { name: "Payment", exact: true });
  await card.locator('[name="CustomCallbackAddress"]').pressSequentially("https://back.example.test/");
  await card.locator('[name="MinTopUp"]').fill("3");
  await card.getByText("2 unsaved").waitFor();
  expect(sent).toEqual([]);
  await card.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  const { data } = (await asUser(page, "GET", "/api/option/")) as { data: { key: string; value: string }[] };
  const saved = Object.fromEntries(data.map(({ key, value }) => [key, value]));
  expect([saved["CustomCallbackAddress"], saved["MinTopUp"]]).toEqual(["https://back.example.test", "3"]);
  expect(sent.length).toBeLessThanOrEqual(2);
});

test("the log has the filters, types and columns of compatible consoles (C-310, C-311, C-312, C-314)", async () => {
  await page.setViewportSize({ width: 1800, height: 900 });
  const first = page.waitForRequest((request) => request.url().includes("/api/log/?"));
  await page.goto("/log");
  const asked = new URL((await first).url()).searchParams;
  const midnight = Math.floor(new Date().setHours(0, 0, 0, 0) / 1_000);
  expect(Number(asked.get("start_timestamp"))).toBe(midnight);
  const ahead = Number(asked.get("end_timestamp")) - Date.now() / 1_000;
  expect(ahead).toBeGreaterThan(3_500);
  expect(ahead).toBeLessThan(3_700);
  for (const name of ["Time", "Channel", "User", "Token", "Type", "Model", "Duration", "Input", "Output", "Cost"])
    await page.getByRole("table", { name: "Log" }).getByRole("columnheader", { name, exact: true }).waitFor();
  await expect.poll(() => row("shop").count()).toBe(2);
  const streamed = row("stream");
  await streamed.getByText(/west$/).first().waitFor();
  for (const text of ["root", "shop", "gpt-4o", "20", "10", "$0.000150"])
    await streamed.getByText(text, { exact: true }).first().waitFor();
  await streamed
    .getByText(/^(< )?\d+ s$/)
    .first()
    .waitFor();
  for (const [label, text] of [
    ["Spend", "$0.0003"],
    ["RPM", /\d/],
    ["TPM", /\d/],
  ] as const)
    await expect
      .poll(() => page.locator(".log-totals > span", { hasText: label }).textContent(), { message: label })
      .toMatch(text);
  const types = page.getByLabel("Type", { exact: true });
  const offered = await types
    .locator("option")
    .evaluateAll((all) => all.map((one) => `${(one as HTMLOptionElement).value} ${one.textContent ?? ""}`));
  expect(offered).toEqual(["0 All", "1 Top-up", "2 Consumption", "3 Management", "4 System", "5 Failed call"]);
  await types.selectOption("3");
  await expect.poll(() => row("shop").count()).toBe(0);
  await types.selectOption("2");
  await expect.poll(() => row("shop").count()).toBe(2);
  for (const [label, other, own] of [
    ["Token name", "no-such", "shop"],
    ["Username", "grace", "root"],
    ["Channel", "99", "1"],
  ] as const) {
    const box = page.getByRole("combobox", { name: label, exact: true });
    await box.fill(other);
    await expect.poll(() => row("shop").count(), { message: `${label} ${other}` }).toBe(0);
    await box.fill(own);
    await expect.poll(() => row("shop").count(), { message: `${label} ${own}` }).toBe(2);
  }
  const model = page.getByRole("searchbox", { name: "Model or request ID" });
  await model.fill("gpt-4o-mini");
  await expect.poll(() => row("shop").count()).toBe(0);
  await model.fill("gpt-4o");
  await expect.poll(() => row("shop").count()).toBe(2);
  await page.getByLabel("Time range").selectOption("custom");
  await page.getByLabel("To", { exact: true }).fill("2020-01-01T00:00:00");
  await expect.poll(() => row("shop").count()).toBe(0);
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("a row of the log has the fields of compatible gateways, and users do not see channels (C-314, C-319)", async () => {
  const { data } = (await asUser(page, "GET", "/api/log/?type=2&p=1&page_size=10")) as {
    data: { items: Record<string, unknown>[]; total: number };
  };
  expect(data.items[0]).toMatchObject({
    type: 2,
    channel: 1,
    user_id: 1,
    username: "root",
    token_name: "shop",
    model_name: "gpt-4o",
    use_time: expect.any(Number) as unknown,
    is_stream: true,
    prompt_tokens: 20,
    completion_tokens: 10,
    quota: 75,
    content: expect.any(String) as unknown,
    other: expect.stringContaining('"model_ratio"') as unknown,
    created_at: expect.any(Number) as unknown,
    id: expect.any(Number) as unknown,
  });
  const { page: own } = await openPage(browser, gateway.url);
  await own.setViewportSize({ width: 1800, height: 900 });
  await signIn(own, USER.username, USER.password);
  await own.goto("/log");
  await own.getByRole("combobox", { name: "Token name" }).waitFor();
  expect(await own.getByRole("combobox", { name: "Username" }).count()).toBe(0);
  expect(await own.getByRole("combobox", { name: "Channel", exact: true }).count()).toBe(0);
  await own.context().close();
});

test("prices explain themselves, and names of models are found, chosen and copied (C-347, C-349)", async () => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/pricing");
  await page
    .getByText(
      "Charge = group ratio × model ratio × (input tokens + output tokens × completion ratio) ÷ 500,000 dollars",
    )
    .waitFor();
  expect(await row("gpt-4o").first().locator("[title]").filter({ hasText: "1.25 · 4" }).getAttribute("title")).toBe(
    "Model ratio, and what output costs in input tokens",
  );
  const find = page.getByRole("searchbox", { name: "Model" });
  await find.fill("mini");
  await expect.poll(() => page.locator(".grid-row").count()).toBe(1);
  await find.fill("");
  await expect.poll(() => page.locator(".grid-row").count()).toBe(2);
  await page.getByRole("checkbox", { name: "Select all rows of this page" }).check();
  await page.getByRole("button", { name: "Copy names" }).click();
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()))
    .toMatch(/^gpt-4o(-mini)?,gpt-4o(-mini)?$/);
  await page.getByRole("button", { name: "Copy the name gpt-4o-mini" }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe("gpt-4o-mini");
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "pricing-chosen");
});

test("nothing went wrong behind the pages", () => {
  expect(faults).toEqual([]);
});
