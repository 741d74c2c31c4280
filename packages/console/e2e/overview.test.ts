import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { insertRows } from "./rows.ts";
import { asUser, signIn } from "./session.ts";

// The first page of operators and users, and the page of one channel: from the figures to their calls.

const HOUR = 3_600;
const DAY = 86_400;
/** Numbers in the column `dimension` of the sums. */
const ALL = 0;
const USER = 1;
const CHANNEL = 3;

let opened: OpenConsole;
let gateway: OpenConsole["gateway"];
let browser: OpenConsole["browser"];
let page: Page;
let faults: readonly string[];

const file = () => opened.file;
const heading = (name: string) => page.getByRole("heading", { level: 1, name });

beforeAll(async () => {
  opened = await openConsole();
  ({ gateway, browser, page, faults } = opened);
});

afterAll(() => opened?.close());

interface Span {
  readonly span: number;
  readonly start: number;
  readonly hours: number;
}

/** Returns the last two days by hour and by day: the server reads whole days from separate rows. */
function spans(): Span[] {
  const last = Math.floor(Date.now() / 1000 / HOUR) * HOUR;
  const hours = Array.from({ length: 48 }, (_, index) => ({ span: HOUR, start: last - index * HOUR, hours: 1 }));
  const days = Map.groupBy(hours, ({ start }) => Math.floor(start / DAY) * DAY);
  return [...hours, ...[...days].map(([start, all]) => ({ span: DAY, start, hours: all.length }))];
}

/** Returns two days of calls, ten an hour of 100 ms to 10 s, one of them failed. */
function buildHours(dimension: number, owner: number, subject: string): Record<string, string | number>[] {
  return spans().map(({ span, start, hours }) => ({
    span,
    dimension,
    owner_id: owner,
    subject,
    start,
    calls: 10 * hours,
    errors: hours,
    refused: 0,
    quota: 50_000 * hours,
    input_tokens: 900 * hours,
    output_tokens: 100 * hours,
    latency: `118:${8 * hours} 200:${hours}`,
    first_token: `100:${8 * hours}`,
  }));
}

/** The content of failures is English; their code is translated into every language. */
const TIMED_OUT = { content: "The upstream timed out", other: '{"error_code":"upstream_timeout"}' };

function failedCall(channel: number): Record<string, string | number> {
  return {
    user_id: 1,
    created_at: Math.floor(Date.now() / 1000) - 60,
    type: 5,
    content: "The upstream is overloaded",
    username: "root",
    token_name: "app",
    model_name: "gpt-4o",
    quota: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    use_time: 1,
    is_stream: 0,
    channel_id: channel,
    token_id: 1,
    group: "default",
    ip: "",
    request_id: "failed-1",
    other: "{}",
  };
}

test("an operator without calls is led to the first one", async () => {
  await page.goto("/");
  await heading("Overview").waitFor();
  await page.getByRole("heading", { name: "Next steps" }).waitFor();
  await page.getByText("Every channel answers").waitFor();
  // The steps replace charts, which would be empty.
  expect(await page.getByRole("heading", { name: "Latency" }).count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);
});

test("the overview names figures, channels in trouble, budgets near their end, and replicas", async () => {
  for (const name of ["Harbour", "Pier"]) {
    const channel = { name, key: "sk-1", models: "gpt-4o,o3", base_url: "http://127.0.0.1:9" };
    expect(await asUser(page, "POST", "/api/channel/", channel)).toMatchObject({ success: true });
  }
  const token = { name: "build-bot", unlimited_quota: true };
  expect(await asUser(page, "POST", "/api/token/", token)).toMatchObject({ success: true, data: { id: 1 } });
  for (const subject of [
    { scope: "model", subject: "gpt-4o" },
    { scope: "token", subject: "1" },
    { scope: "user", subject: "1" },
  ]) {
    const budget = { ...subject, period: "month", quota_limit: 1_000 };
    expect(await asUser(page, "POST", "/api/budget/", budget)).toMatchObject({ success: true });
  }
  const database = new DatabaseSync(file(), { timeout: 10_000 });
  database.exec(`update channels set status = 3, other_info = '{"status_reason":"401 invalid key"}' where id = 1`);
  database.exec("update budgets set used = 900");
  database.close();
  insertRows(file(), "usage_statistics", [
    ...buildHours(ALL, 0, ""),
    ...buildHours(USER, 1, "1"),
    ...buildHours(CHANNEL, 0, "2"),
  ]);
  insertRows(file(), "logs", [failedCall(2), { ...failedCall(2), ...TIMED_OUT, request_id: "failed-3" }]);
  await page.reload();
  await heading("Overview").waitFor();
  await page.getByText("$2.40").first().waitFor();
  await page.getByText("10%", { exact: true }).waitFor();
  await page.getByText("0% vs. previous period").first().waitFor();
  await page.getByText("disabled by the system: 401 invalid key").waitFor();
  await page.getByText(/2\d of 2\d0 attempts failed in 24 hours/).waitFor();
  await page.getByText("90%").first().waitFor();
  await page.getByRole("link", { name: "root #1" }).waitFor();
  await page.getByRole("link", { name: "build-bot #1" }).waitFor();
  await page.getByText("leader").waitFor();
  await page.getByRole("slider").nth(1).waitFor();
  await shoot(page, "overview-operator");
  expect(await axeFindings(page)).toEqual([]);
});

test("a chart is read as a table, and a bar leads to its log", async () => {
  await page.getByRole("button", { name: "Requests: show as table" }).click();
  await page.getByRole("columnheader", { name: "Failed" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Requests: show as table" }).click();
  const chart = page.getByRole("slider").first();
  await chart.focus();
  await page.keyboard.press("End");
  expect(await chart.getAttribute("aria-valuetext")).toMatch(/^\w{3}, \w{3} \d+, \d\d:00: 10$/);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/log\?type=2&range=custom&from=\d+&to=\d+$/);
  await page.goBack();
  await heading("Overview").waitFor();
});

test("a channel in trouble leads to its failing calls and to its page", async () => {
  await page.getByRole("link", { name: "Failing calls" }).nth(1).click();
  await page.waitForURL(/\/log\?type=5&channel=2&range=24h$/);
  await page.getByText("gpt-4o").first().waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "Pier" }).click();
  await heading("Pier").waitFor();
  await page.getByText("The upstream is overloaded").waitFor();
  await page.getByText("the upstream did not answer in time").waitFor();
  await page.getByText("1 of 1 healthy").waitFor();
  await page.getByText("$2.40").first().waitFor();
  await shoot(page, "channel-page");
  expect(await axeFindings(page)).toEqual([]);
});

test("every model of a channel is tested from its page", async () => {
  await page.getByRole("button", { name: "Test all 2" }).click();
  await expect.poll(() => page.getByText(/could not be reached/).count(), { timeout: 15_000 }).toBe(2);
  await page.getByRole("button", { name: "Test all 2" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
});

test("failures of calls and tests of a channel are read in Chinese", async () => {
  await page.evaluate(() => localStorage.setItem("fairway:language", "zh"));
  await page.reload();
  await page.getByText("上游未及时响应").waitFor();
  expect(await page.getByText("The upstream timed out").count()).toBe(0);
  await page.getByRole("button", { name: "测试全部 2 个" }).click();
  await expect.poll(() => page.getByText("无法连接上游（ECONNREFUSED）。").count(), { timeout: 15_000 }).toBe(2);
  await page.evaluate(() => localStorage.setItem("fairway:language", "en"));
  await page.reload();
  await page.getByText("the upstream did not answer in time").waitFor();
});

test("a channel that the system disabled says why, and is enabled again (C-239)", async () => {
  await page.goto("/channel/1");
  await page.getByText("Disabled by the system: 401 invalid key").waitFor();
  await page.goto("/channel/edit/1");
  const form = page.getByRole("dialog", { name: "Edit channel" });
  await form.getByRole("note").getByText("Disabled by the system: 401 invalid key").waitFor();
  await page.goto("/channel/1");
  await page.getByRole("button", { name: "Enable", exact: true }).click();
  await page.getByText("Disabled by the system").waitFor({ state: "detached" });
  await page.getByText("Enabled", { exact: true }).waitFor();
});

test("a channel that does not exist leads back to the list", async () => {
  await page.goto("/channel/4711");
  await page.getByRole("heading", { name: "This channel does not exist" }).waitFor();
  await page.getByRole("link", { name: "All channels" }).click();
  await heading("Channel").waitFor();
});

test("a budget shows what is used and when it ends", async () => {
  await page.goto("/");
  await page.getByRole("link", { name: "gpt-4o" }).click();
  await page.waitForURL(/\/budget\/1$/);
  await heading("Model gpt-4o").waitFor();
  await page.getByText("Spending of the window").waitFor();
  await page.getByRole("slider", { name: "Time in the chart" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
});

test("the dashboard shows channels, and each leads to its log", async () => {
  await page.goto("/detail");
  await page.getByRole("combobox", { name: "Shown by" }).selectOption("channel");
  await page.getByRole("columnheader", { name: "Errors" }).waitFor();
  expect(new URL(page.url()).search).toBe("?of=channel");
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("link", { name: "Pier" }).click();
  await page.waitForURL(/\/log\?type=2&channel=2&range=custom&from=\d+&to=\d+$/);
});

test("a user and a token have pages of their own", async () => {
  await page.goto("/user/1?range=24h");
  await heading("root").waitFor();
  await page.getByText("$2.40").first().waitFor();
  await page
    .getByText(/^created /)
    .first()
    .waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.goto("/token/1");
  await heading("build-bot").waitFor();
  await page.getByText("About this token").waitFor();
  await page.getByText("No requests in this time.").first().waitFor();
  expect(await axeFindings(page)).toEqual([]);
});

test("both pages are whole in the dark, in Chinese and on a phone", async () => {
  await page.emulateMedia({ colorScheme: "dark" });
  for (const path of ["/", "/channel/2"]) {
    for (const width of [1280, 1024, 390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(path);
      await page.getByText("$2.40").first().waitFor();
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow, `${path} at ${width}`).toBeLessThanOrEqual(0);
    }
    await page.evaluate(() => localStorage.setItem("fairway:language", "zh"));
    await page.reload();
    await page.getByText("延迟 p50 / p95").waitFor();
    expect(await axeFindings(page), path).toEqual([]);
    await page.evaluate(() => localStorage.setItem("fairway:language", "en"));
  }
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("a user sees balance, spending and newest failures", async () => {
  const password = "a-long-password";
  const added = await asUser(page, "POST", "/api/user/", { username: "ada", password, display_name: "Ada" });
  expect(added).toMatchObject({ success: true });
  const { page: own } = await openPage(browser, gateway.url);
  await signIn(own, "ada", password);
  await own.goto("/");
  await own.getByRole("heading", { name: "Next steps" }).waitFor();
  insertRows(file(), "usage_statistics", buildHours(USER, 2, "2"));
  insertRows(file(), "logs", [
    { ...failedCall(2), user_id: 2, username: "ada", request_id: "failed-2" },
    { ...failedCall(2), ...TIMED_OUT, user_id: 2, username: "ada", request_id: "failed-4" },
  ]);
  await own.goto("/?range=24h");
  await own.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await own.getByText("The upstream is overloaded").waitFor();
  await own.getByText("the upstream did not answer in time").waitFor();
  await own.getByText("$2.40").first().waitFor();
  await own.getByText("lasts 0 days at this pace").waitFor();
  expect(await axeFindings(own)).toEqual([]);
  await own.evaluate(() => localStorage.setItem("fairway:language", "zh"));
  await own.reload();
  await own.getByText("上游未及时响应").waitFor();
  await own.context().close();
});

test("nothing went wrong in the browser", () => {
  expect(faults.filter((fault) => !fault.includes("404"))).toEqual([]);
});
