import { ROOT_PASSWORD } from "@fairway/testkit";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser, setOption, signIn } from "./session.ts";

// The table of every list: columns that fit, keyboard, selection beyond the page, saved views.

const CHANNELS = 62;
const name = (index: number) => `harbour-channel-${String(index).padStart(3, "0")}`;

let opened: OpenConsole;
let gateway: OpenConsole["gateway"];
let browser: OpenConsole["browser"];
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  opened = await openConsole();
  ({ gateway, browser, page, faults } = opened);
  await setOption(page, "GroupRatio", JSON.stringify({ default: 1, vip: 1 }));
  for (let index = 1; index <= CHANNELS; index += 1) {
    const channel = { name: name(index), type: 1, key: `k${index}`, models: "gpt-4o", tag: index === 1 ? "quay" : "" };
    expect(await asUser(page, "POST", "/api/channel/", channel)).toMatchObject({ success: true });
  }
  await asUser(page, "POST", "/api/token/", { name: "a-token-with-a-long-name-of-40-letters", unlimited_quota: true });
  await page.evaluate(() => localStorage.setItem("page-size", "50"));
});

afterAll(() => opened?.close());

const rows = () => page.locator(".grid-row");
const focused = () => page.locator(":focus");

async function openChannels(query = "?sort=name"): Promise<void> {
  await page.goto(`/channel${query}`);
  await rows().first().waitFor();
}

const headers = () =>
  page.evaluate(() => [...document.querySelectorAll("thead th")].map((cell) => cell.textContent.trim()));

/** Returns the texts of a column that are cut, by its position among the cells of the row. */
const cutTexts = (selector: string) =>
  page.evaluate(
    (cells) =>
      [...document.querySelectorAll<HTMLElement>(cells)]
        .filter((one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 4)
        .map((one) => one.textContent),
    selector,
  );

test.each([1280, 1024, 768])("shows the columns that fit at %i px, with whole names and amounts", async (width) => {
  await page.setViewportSize({ width, height: 800 });
  for (const path of ["/channel", "/token", "/user", "/log"]) {
    await page.goto(path);
    await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0);
    const room = await page.evaluate(() => {
      const grid = document.querySelector(".grid-scroll");
      return grid ? grid.clientWidth - (grid.firstElementChild?.clientWidth ?? 0) : 0;
    });
    expect(room, path).toBeGreaterThanOrEqual(-1);
    expect(await cutTexts(".grid-row .link, .grid-row td.end"), path).toEqual([]);
  }
  await openChannels();
  expect(await headers()).toEqual(expect.arrayContaining(["Name", "State", "Used"]));
  await shoot(page, `grid-${width}`);
});

test.each([390, 320])("shows rows as cards at %i px, without overflow", async (width) => {
  await page.setViewportSize({ width, height: 740 });
  for (const path of ["/channel", "/token", "/user", "/log", "/redemption", "/budget", "/audit", "/pricing"]) {
    await page.goto(path);
    await page.locator("h1").waitFor();
    await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), path).toBeLessThanOrEqual(0);
    const bars = await page.evaluate(() =>
      [...document.querySelectorAll("[role=search]")].map((bar) => bar.getBoundingClientRect().height),
    );
    for (const height of bars) expect(height, `toolbar of ${path}`).toBeLessThanOrEqual(44);
  }
  await shoot(page, `grid-cards-${width}`);
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("is one tab stop, whose rows and controls are walked by arrow keys (WCAG 2.1.1)", async () => {
  await openChannels();
  expect(await rows().count()).toBe(50);
  const stops = await page.evaluate(
    () => [...document.querySelectorAll<HTMLElement>("tbody *")].filter((one) => one.tabIndex === 0).length,
  );
  expect(stops).toBe(1);
  await rows().first().focus();
  await page.keyboard.press("ArrowDown");
  expect(await focused().textContent()).toContain(name(2));
  await page.keyboard.press("End");
  expect(await focused().textContent()).toContain(name(50));
  expect(await focused().evaluate((row) => row.getBoundingClientRect().bottom <= innerHeight)).toBe(true);
  await page.keyboard.press("Home");
  expect(await focused().textContent()).toContain(name(1));
  expect(await focused().evaluate((row) => row.getBoundingClientRect().top >= 84)).toBe(true);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  expect(await focused().textContent()).toBe(name(1));
  await page.keyboard.press("Escape");
  await page.keyboard.press("Space");
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Shift+ArrowDown");
  await page.getByRole("region", { name: "3 selected" }).waitFor();
  await page.keyboard.press("Tab");
  expect(await focused().evaluate((one) => one.closest("tbody"))).toBe(null);
  await page.keyboard.press("Shift+Tab");
  expect(await focused().textContent()).toContain(name(3));
  await page.keyboard.press("e");
  await page.getByRole("dialog", { name: "Edit channel" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Edit channel" }).waitFor({ state: "detached" });
});

test("opens a row by a click on it, under an address of its own", async () => {
  await openChannels();
  await rows().nth(1).locator("td").nth(4).click();
  const peek = page.getByRole("dialog", { name: name(2) });
  await peek.waitFor();
  expect(new URL(page.url()).searchParams.get("row")).toMatch(/^\d+$/);
  await page.goBack();
  await peek.waitFor({ state: "detached" });
});

test("keeps the head in sight while the page scrolls, and jumps to a page by its number", async () => {
  await openChannels();
  await page.mouse.wheel(0, 900);
  await page.waitForFunction(() => scrollY > 400);
  const top = await page
    .getByRole("columnheader", { name: "Name" })
    .evaluate((cell) => cell.getBoundingClientRect().top);
  expect(Math.round(top)).toBe(48);
  await page.getByRole("textbox", { name: "Page" }).fill("2");
  await page.keyboard.press("Enter");
  await page.getByText("51–62 of 62").waitFor();
  expect(new URL(page.url()).searchParams.get("p")).toBe("2");
});

test("selects all rows that match, beyond the page, and a range by Shift", async () => {
  await openChannels();
  await rows().nth(2).getByRole("checkbox").click();
  await rows()
    .nth(5)
    .getByRole("checkbox")
    .click({ modifiers: ["Shift"] });
  await page.getByRole("region", { name: "4 selected" }).waitFor();
  await page.getByRole("checkbox", { name: "Select all rows of this page" }).check();
  await page.getByText("All 50 rows of this page are selected.").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Select all 62 that match" }).click();
  const bar = page.getByRole("region", { name: "62 selected" });
  await bar.getByRole("button", { name: "Disable", exact: true }).click();
  await page.getByText("62 channels are changed.").waitFor();
  const { total } = (await page.evaluate(async () => {
    const user = JSON.parse(localStorage.getItem("user") ?? "{}") as { id: number };
    const answer = await fetch("/api/channel/?status=2&page_size=1", { headers: { "New-Api-User": String(user.id) } });
    return { total: answer.headers.get("x-total-count") };
  })) as { total: string };
  expect(total).toBe(String(CHANNELS));
  await page.getByRole("button", { name: "Undo" }).click();
  await rows().first().getByText("Enabled", { exact: true }).waitFor();
});

test("changes many channels at once after a preview, and takes it back", async () => {
  await openChannels();
  for (const index of [0, 1, 2]) await rows().nth(index).getByRole("checkbox").check();
  await page.getByRole("button", { name: "Change…" }).click();
  const dialog = page.getByRole("dialog", { name: "Change 3 channels" });
  await dialog.getByText("Nothing changes yet.").waitFor();
  await dialog.getByLabel("Tag", { exact: true }).selectOption({ label: "Set to…" });
  await dialog.getByLabel("Groups", { exact: true }).selectOption({ label: "Add…" });
  await dialog.getByLabel("Group names").fill("vip");
  await dialog.getByLabel("Priority").fill("1.5");
  await dialog.getByRole("button", { name: /^Change/ }).click();
  await dialog.getByText("Enter a tag.").waitFor();
  await dialog.getByText("Enter a whole number from -999.").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByLabel("New tag").fill("quay");
  await dialog.getByLabel("Priority").fill("7");
  await dialog.getByLabel("Model mapping").selectOption({ label: "Add…" });
  await dialog.getByLabel("Models and what they become").fill('{"gpt-4o": "gpt-4o-mini"}');
  await dialog.getByText("3 channels change, 0 stay as they are.").waitFor();
  await shoot(page, "grid-bulk-patch");
  await dialog.getByRole("button", { name: "Change 3" }).click();
  await page.getByText("3 channels are changed.").waitFor();
  const found = async () =>
    (
      (await asUser(page, "GET", "/api/channel/search?keyword=harbour-channel-00&page_size=3&sort=name&order=asc")) as {
        data: { tag: string | null; group: string; priority: number; model_mapping: string }[];
      }
    ).data.map(({ tag, group, priority, model_mapping: mapping }) => [tag ?? "", group, priority, mapping]);
  const mapping = '{"gpt-4o":"gpt-4o-mini"}';
  expect(await found()).toEqual(Array.from({ length: 3 }, () => ["quay", "default,vip", 7, mapping]));
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("3 channels are as they were.").waitFor();
  expect(await found()).toEqual([
    ["quay", "default", 0, ""],
    ...Array.from({ length: 2 }, () => ["", "default", 0, ""]),
  ]);
});

test("a filter drops the selection", async () => {
  await openChannels();
  await page.getByRole("checkbox", { name: "Select all rows of this page" }).check();
  await page.getByRole("searchbox", { name: "ID, name or key" }).fill("channel-00");
  await page.getByRole("region", { name: /selected/ }).waitFor({ state: "detached" });
});

test("hides, shows and orders columns, and remembers that at the server", async () => {
  await openChannels();
  await page.getByRole("button", { name: "Columns and views" }).click();
  const menu = page.getByRole("dialog", { name: "Columns and views" });
  await menu.getByRole("checkbox", { name: "Weight" }).uncheck();
  await menu.getByRole("button", { name: "Move State forward" }).click();
  await menu.getByRole("radio", { name: "Compact" }).check();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "grid-menu");
  await page.keyboard.press("Escape");
  await expect
    .poll(async () => (await asUser(page, "GET", "/api/user/self/prefs")) as object)
    .toMatchObject({
      data: { lists: { channel: { layout: { hidden: ["weight"], density: "compact" } } } },
    });
  await page.evaluate(() => localStorage.removeItem("page-size"));
  await page.reload();
  await rows().first().waitFor();
  const shown = await headers();
  expect(shown).not.toContain("Weight");
  expect(shown.indexOf("State")).toBeLessThan(shown.indexOf("Type"));
});

test("saves a view under a name, opens it from elsewhere and deletes it", async () => {
  await openChannels("?sort=name&tag=quay");
  await page.getByText("1–1 of 1").waitFor();
  await page.getByRole("button", { name: "Columns and views" }).click();
  const menu = page.getByRole("dialog", { name: "Columns and views" });
  await menu.getByLabel("Name of this view").fill("At the quay");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  const tabs = page.getByRole("group", { name: "Views of this list" });
  const tab = tabs.getByRole("button", { name: "At the quay" });
  await tab.and(page.locator("[aria-pressed=true]")).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await tabs.getByRole("button", { name: "All" }).click();
  await page.getByText(/^1–\d+ of 62$/).waitFor();

  const other = await openPage(browser, gateway.url);
  await signIn(other.page, "root", ROOT_PASSWORD);
  await other.page.goto("/channel");
  await other.page.getByRole("button", { name: "At the quay" }).click();
  await other.page.getByText("1–1 of 1").waitFor();
  expect(new URL(other.page.url()).searchParams.get("tag")).toBe("quay");
  await other.page.context().close();

  await page.getByRole("button", { name: "Columns and views" }).click();
  await menu.getByRole("button", { name: "Delete the view At the quay" }).click();
  await tabs.waitFor({ state: "detached" });
});

test("nothing went wrong behind the pages", () => {
  expect(faults).toEqual([]);
});
