import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage, shoot } from "./browser.ts";
import { insertUsage, type UsedHour } from "./usage-rows.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser, setOption, signIn } from "./session.ts";

// Usage by time and user: the dashboard over the sums of a busy week.

const HOUR = 3_600;
const MODELS = [
  "gpt-4o",
  "claude-sonnet-4-5",
  "gemini-2.5-pro",
  "gpt-4o-mini",
  "deepseek-chat",
  "qwen-max",
  "o3",
  "glm-4",
  "kimi-k2",
];

let opened: OpenConsole;
let gateway: OpenConsole["gateway"];
let browser: OpenConsole["browser"];
let page: Page;
let faults: readonly string[];
let file: string;

const heading = (name: string) => page.getByRole("heading", { level: 1, name });

beforeAll(async () => {
  opened = await openConsole();
  ({ gateway, browser, page, faults, file } = opened);
});

afterAll(() => opened?.close());

const ADA = 2;
const GRACE = 3;

/** Returns a week of hours, busier each day, with the models in descending order; only one user uses the last model. */
function listWeek(): UsedHour[] {
  const last = Math.floor(Date.now() / 1000 / HOUR) * HOUR;
  return Array.from({ length: 168 }, (_, index) => last - index * HOUR).flatMap((start, hour) =>
    MODELS.map((model, rank) => {
      const calls = Math.max(1, Math.round((12 + 10 * Math.sin(hour / 3.8)) / (rank + 1)));
      const userId = rank === MODELS.length - 1 ? GRACE : ADA;
      return { start, userId, model, calls, tokens: calls * 900, quota: calls * 4_000 };
    }),
  );
}

/** Returns sixty tokens, more than one answer lists by hour; each was used in each of the last twenty hours. */
function listTokens(): UsedHour[] {
  const last = Math.floor(Date.now() / 1000 / HOUR) * HOUR;
  return Array.from({ length: 60 }, (_, index) => index + 100).flatMap((tokenId) =>
    Array.from({ length: 20 }, (_, hour) => ({
      start: last - hour * HOUR,
      userId: ADA,
      tokenId,
      model: "gpt-4o",
      calls: 1,
      tokens: 10,
      quota: 500 * tokenId,
    })),
  );
}

/** Returns the text of the tile with this name. */
function readTile(name: string): Promise<string> {
  return page
    .locator("p", { hasText: new RegExp(`^${name}$`) })
    .first()
    .locator("..")
    .innerText();
}

/** Returns the dollars spent since a moment, as SQL sums them. */
function sumSpend(since: number): string {
  const database = new DatabaseSync(file, { timeout: 10_000 });
  const row = database
    .prepare("select sum(quota) as quota from usage_statistics where span = 3600 and dimension = 0 and start >= ?")
    .get(since);
  database.close();
  return `$${(Number(row?.["quota"]) / 500_000).toFixed(2)}`;
}

test("a gateway without usage says how to begin (C-364)", async () => {
  await heading("Token").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("d");
  await heading("Data Dashboard").waitFor();
  await page.getByRole("heading", { name: "No usage in this time" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
});

test("usage is drawn over time, by model (C-364)", async () => {
  for (const username of ["ada", "grace"])
    expect(await asUser(page, "POST", "/api/user/", { username, password: "harbour-light-1" })).toMatchObject({
      success: true,
    });
  insertUsage(file, listWeek());
  await page.getByRole("button", { name: "Refresh" }).click();
  const chart = page.getByRole("slider", { name: "Time in the chart; Enter opens its log" });
  await chart.waitFor();
  await page
    .getByRole("group", { name: /^Legend: click/ })
    .getByRole("button", { name: "gpt-4o", exact: true })
    .waitFor();
  await page
    .getByText(/vs. previous period/)
    .first()
    .waitFor();
  await shoot(page, "dashboard");
  expect(await axeFindings(page)).toEqual([]);
});

test("the chart is read by keyboard and leads to the log behind a bar", async () => {
  const chart = page.getByRole("slider");
  await page.getByRole("combobox", { name: "Time range" }).selectOption("7d");
  await expect.poll(() => chart.getAttribute("aria-valuemax"), { timeout: 15_000 }).toBe("7");
  await chart.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  expect(await chart.getAttribute("aria-valuenow")).toBe("1");
  expect(await chart.getAttribute("aria-valuetext")).toMatch(/^\w{3}, \w{3} \d+: \$\d/);
  await shoot(page, "dashboard-reading");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/log\?type=2&range=custom&from=\d+&to=\d+$/);
  await page.goBack();
  await heading("Data Dashboard").waitFor();
  expect(new URL(page.url()).search).toBe("?range=7d");
});

test("a model can be looked at alone, and its share and its numbers too", async () => {
  const legend = page.getByRole("group", { name: /^Legend: click/ });
  await legend.getByRole("button", { name: "o3", exact: true }).waitFor();
  await legend.getByRole("button", { name: "gpt-4o", exact: true }).click();
  expect(await legend.locator('[aria-pressed="true"]').count()).toBe(1);
  await legend.getByRole("button", { name: "gpt-4o", exact: true }).click();
  expect(await legend.locator('[aria-pressed="false"]').count()).toBe(0);
  await page.getByRole("button", { name: "Share", exact: true }).click();
  await page.getByRole("img", { name: /Spend, .*most of it by gpt-4o/ }).waitFor();
  await shoot(page, "dashboard-share");
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Requests", exact: true }).click();
  await page.getByRole("button", { name: "Table", exact: true }).click();
  await page.getByRole("columnheader", { name: "claude-sonnet-4-5" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  expect(new URL(page.url()).search).toBe("?range=7d&view=table&metric=requests");
});

test("tiles, days and groups of one span add up to what SQL says, beyond what one answer lists", async () => {
  insertUsage(
    file,
    listTokens().map((hour) => ({ ...hour, start: hour.start - 8 * 24 * HOUR })),
  );
  const since = Math.ceil((Date.now() / 1000 - 30 * 24 * HOUR) / HOUR) * HOUR;
  for (const dimension of ["model", "token", "user"]) {
    await page.goto(`/detail?range=30d&by=day&of=${dimension}&view=table`);
    await page.getByRole("columnheader", { name: "Share" }).waitFor();
    expect(await readTile("Spend"), dimension).toContain(sumSpend(since));
    const table = page.locator(".models-table");
    const amounts = await table.locator("td.strong").allInnerTexts();
    const sum = amounts.reduce((all, text) => all + Number(text.replace(/[$,]/g, "")), 0);
    // Each amount is rounded to a cent.
    const difference = Math.abs(sum - Number(sumSpend(since).slice(1)));
    expect(difference, dimension).toBeLessThanOrEqual(0.005 * (amounts.length + 1));
  }
  await page.goto("/detail?range=30d&of=token");
  await page.getByText(/^\d+ more$/).waitFor();
});

test("administrators see one user alone", async () => {
  await page.goto("/detail?range=7d");
  await page.getByRole("link", { name: "gpt-4o", exact: true }).waitFor();
  await page.getByRole("combobox", { name: "Username" }).fill("grace");
  await page.getByRole("link", { name: "gpt-4o", exact: true }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "kimi-k2" }).waitFor();
  expect(await page.getByRole("link", { name: "kimi-k2" }).getAttribute("href")).toContain("user=grace");
});

test("it is whole in the dark, on a phone, and in Chinese", async () => {
  await page.goto("/detail?range=7d&by=hour");
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(() => localStorage.setItem("theme-mode", "dark"));
    await page.reload();
    await page.getByRole("slider").waitFor();
    expect(await axeFindings(page), `at ${width}`).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await shoot(page, `dashboard-dark-${width}`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.evaluate(() => {
    localStorage.removeItem("theme-mode");
    localStorage.setItem("fairway:language", "zh");
  });
  await page.reload();
  await heading("数据看板").waitFor();
  await page.evaluate(() => localStorage.removeItem("fairway:language"));
});

test("a phone shows the whole name of the time range", async () => {
  const made = await asUser(page, "POST", "/api/user/", { username: "linus", password: "harbour-light-1" });
  expect(made).toMatchObject({ success: true });
  const { page: phone } = await openPage(browser, gateway.url);
  await signIn(phone, "linus", "harbour-light-1");
  await phone.setViewportSize({ width: 390, height: 844 });
  await phone.goto("/detail");
  const range = phone.getByRole("combobox", { name: "Time range" });
  await range.waitFor();
  expect((await range.boundingBox())?.width).toBeGreaterThanOrEqual(150);
  await phone.context().close();
});

test("shows a failure in its place and offers a retry", async () => {
  await page.route("**/api/statistics/usage**", (route) =>
    route.fulfill({ json: { success: false, message: "No such span." } }),
  );
  await page.goto("/detail");
  await page.getByText("No such span.").waitFor();
  await page.unrouteAll({ behavior: "wait" });
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("slider").waitFor();
});

test("switched off it leaves the sidebar and says who can switch it on", async () => {
  await setOption(page, "DataExportEnabled", "false");
  await page.goto("/detail");
  await page.getByRole("heading", { name: "Data Dashboard is switched off" }).waitFor();
  await page.getByRole("link", { name: "Open the settings" }).waitFor();
  expect(await page.getByRole("navigation").getByRole("link", { name: "Data Dashboard" }).count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);
  expect(faults).toEqual([]);
});
