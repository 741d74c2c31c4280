import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser } from "./session.ts";

// Names that people use: Han, very long words, right to left, emoji; and amounts with many digits.

const NAMES = [
  "生产环境主渠道（高优先级，请勿删除）",
  "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk",
  "قناة الإنتاج الرئيسية",
  "👩‍👩‍👧‍👦 <b>both</b> & “quotes”",
];
const HUGE = 900_000_000_000_000;

let opened: OpenConsole;
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  opened = await openConsole();
  ({ page, faults } = opened);
  for (const [index, name] of NAMES.entries()) {
    const short = Array.from(name).slice(0, 20).join("");
    const user = { username: `user${index}`, password: "harbour-1843", display_name: short };
    const token = { name: Array.from(name).slice(0, 30).join(""), remain_quota: HUGE };
    const channel = {
      name,
      type: 1,
      key: "k",
      models: `m${"x".repeat(200)}`,
      base_url: "https://example.com",
      tag: name,
    };
    const codes = { name: short, quota: HUGE, count: 1 };
    for (const [path, body] of [
      ["/api/user/", user],
      ["/api/token/", token],
      ["/api/channel/", channel],
      ["/api/redemption/", codes],
    ] as const)
      expect(await asUser(page, "POST", path, body), path).toMatchObject({ success: true });
  }
});

afterAll(() => opened?.close());

/** Returns texts that overflow their card or the page. */
function stickingOut(): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll(".grid-row, main h1, main section")].flatMap((box) => {
      const right = Math.min(innerWidth, box.getBoundingClientRect().right) + 1;
      const isCut = (one: Element | null): boolean =>
        one !== null &&
        (getComputedStyle(one).overflowX !== "visible" || isCut(one.parentElement?.closest(".grid-row *") ?? null));
      return [...box.querySelectorAll("*")]
        .filter((one) => one.getBoundingClientRect().right > right && !isCut(one))
        .map((one) => one.outerHTML.slice(0, 120));
    }),
  );
}

const PAGES = [
  "/",
  "/token",
  "/channel",
  "/user",
  "/redemption",
  "/log",
  "/pricing",
  "/playground",
  "/topup",
  "/budget",
];
const MORE = ["/audit", "/detail", "/setting", "/setting?tab=system", "/channel/edit/1", "/token/add", "/user/edit/2"];

test.each([...PAGES, ...MORE])("%s is whole at 360 px with any names", async (path) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(path);
  await page.locator("h1").first().waitFor();
  await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  expect(await stickingOut()).toEqual([]);
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, `names-360${path.replaceAll(/\W/g, "-")}`);
});

test("rows are selected and acted on at 360 px too", async () => {
  await page.goto("/channel");
  await page.getByRole("checkbox", { name: `Select ${NAMES[0]}` }).check();
  const bar = page.getByRole("region", { name: "1 selected" });
  for (const name of ["Enable", "Disable", "Test", "Tag", "Delete"])
    await bar.getByRole("button", { name, exact: true }).click({ trial: true });
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "names-360-selected");
});

test("long names leave all columns in sight, and nothing lies over another", async () => {
  for (const width of [1440, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto("/channel");
    await page.getByRole("link", { name: NAMES[1] ?? "" }).waitFor();
    const hidden = await page.evaluate(() => {
      const grid = document.querySelector(".grid-scroll");
      return grid ? grid.scrollWidth - grid.clientWidth : -1;
    });
    expect(hidden, `at ${width}`).toBe(0);
    expect(await axeFindings(page), `at ${width}`).toEqual([]);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("Han, kana and hangul have fonts of every system behind Geist", async () => {
  const fonts = await page.evaluate(() =>
    ["body", "code, .mono"].map((place) => getComputedStyle(document.querySelector(place) ?? document.body).fontFamily),
  );
  for (const family of fonts)
    for (const name of ["PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Color Emoji"])
      expect(family).toContain(name);
});

test("a name from right to left keeps to itself in a sentence, and in its field", async () => {
  const name = NAMES[2] ?? "";
  await page.goto("/channel");
  await page.getByRole("button", { name: new RegExp(`^Actions for .*${name}`) }).click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await page.getByText(`“\u2068${name}\u2069” is disabled.`).waitFor();
  await page.getByRole("link", { name }).click();
  const field = page.getByRole("dialog", { name: "Edit channel" }).getByLabel("Name");
  await expect.poll(() => field.evaluate((input) => getComputedStyle(input).direction)).toBe("rtl");
});

test("nothing went wrong behind the pages", () => {
  expect(faults).toEqual([]);
});
