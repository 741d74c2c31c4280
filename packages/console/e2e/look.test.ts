import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ENCRYPTION_KEY, startGateway } from "@fairway/testkit/gateway";
import { ROOT_PASSWORD, type GatewayProcess } from "@fairway/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, openPage, shoot } from "./browser.ts";
import { coveredRows, findHoles, innerScrollers, splitToolbars } from "./look-checks.ts";
import { cutLabels, visit } from "./page-checks.ts";
import { signIn } from "./session.ts";

// What a picky operator sees at once, on pages with a month of sample data.

const LISTS = ["/channel", "/token", "/log", "/user", "/budget", "/audit", "/event", "/team", "/redemption"];
const OTHERS = ["/", "/compare", "/detail", "/report", "/pricing", "/setting", "/setting?tab=prices", "/topup"];
const ROWS = ["/channel/1", "/token/1", "/user/1"];
const PAGES = [...LISTS, ...OTHERS, ...ROWS];
const USUAL = { width: 1440, height: 900 };
/** What a window of 1440 by 900 pixels has left at a zoom of 200 %. */
const ZOOMED = { width: 720, height: 450 };
const SWEEP_MS = 400_000;
/** A busy machine takes its time for a page of sample data. */
const PATIENCE_MS = 60_000;

let folder: string;
let gateway: GatewayProcess;
let browser: Browser;
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairway-look-"));
  const database = `sqlite:${join(folder, "fairway.db")}`;
  const seed = join(import.meta.dirname, "../../../scripts/seed.ts");
  const size = ["--logs", "4000", "--channels", "14", "--users", "24", "--tokens", "40", "--days", "30"];
  const env = { ...process.env, FAIRWAY_ENCRYPTION_KEY: ENCRYPTION_KEY, FAIRWAY_ROOT_PASSWORD: ROOT_PASSWORD };
  await promisify(execFile)(process.execPath, [seed, "--database", database, ...size], { env });
  gateway = await startGateway({ database });
  browser = await openBrowser();
  ({ page, faults } = await openPage(browser, gateway.url));
  page.setDefaultTimeout(PATIENCE_MS);
  await signIn(page, "root", ROOT_PASSWORD);
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function speak(language: "en" | "zh"): Promise<void> {
  await page.evaluate((name) => localStorage.setItem("fairway:language", name), language);
  await page.reload();
}

async function sweep(
  paths: readonly string[],
  look: (page: Page, path: string) => Promise<readonly string[]>,
): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    await visit(page, path);
    found.push(...(await look(page, path)).map((finding) => `${path}: ${finding}`));
  }
  return found;
}

test.each(["en", "zh"] as const)(
  "filters are one row, no hint is cut, no box scrolls in the page, no name leaves a hole (%s)",
  async (language) => {
    await speak(language);
    const found = await sweep(PAGES, async (shown, path) => [
      ...(await cutLabels(shown)),
      ...(await innerScrollers(shown)),
      ...(await findHoles(shown)),
      ...(LISTS.includes(path) ? await splitToolbars(shown) : []),
    ]);
    await speak("en");
    expect(found).toEqual([]);
  },
  SWEEP_MS,
);

test.each(["en", "zh"] as const)(
  "the tools of the log are one row next to a scroll bar, filtered and live (%s)",
  async (language) => {
    await speak(language);
    await page.setViewportSize({ ...USUAL, width: USUAL.width - 15 });
    for (const query of ["", "?model=gpt-4o", "?live=1", "?live=1&model=gpt-4o"]) {
      await page.goto(`/log${query}`);
      await page.getByRole("row").nth(1).waitFor();
      expect(await splitToolbars(page), query).toEqual([]);
    }
    await page.setViewportSize(USUAL);
    await speak("en");
  },
);

test(
  "at a zoom of 200 % the menu is icons, and rows stay in sight",
  async () => {
    await page.setViewportSize(ZOOMED);
    const found = await sweep(PAGES, async (shown) => {
      const menu = await shown.getByRole("navigation", { name: "Main navigation" }).boundingBox();
      const wide = await shown.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      return [
        ...(menu && menu.width > 60 ? [`the menu is ${menu.width} px wide`] : []),
        ...(wide > 0 ? [`${wide} px too wide`] : []),
        ...(await coveredRows(shown)),
      ];
    });
    await visit(page, "/channel");
    await shoot(page, "zoom-200");
    await page.getByRole("button", { name: "Expand the sidebar" }).click();
    await expect
      .poll(async () => (await page.getByRole("navigation", { name: "Main navigation" }).boundingBox())?.width)
      .toBe(216);
    await page.setViewportSize(USUAL);
    expect(found).toEqual([]);
  },
  SWEEP_MS,
);

test("paper has the content alone, dark on light, in the dark theme too", async () => {
  await page.evaluate(() => localStorage.setItem("theme-mode", "dark"));
  await page.goto("/channel");
  await page.getByRole("row").nth(1).waitFor();
  await page.emulateMedia({ media: "print" });
  for (const hidden of ["header", "nav", "[role=search]", ".grid-pager", ".site-footer", ".grid-actions"])
    expect(await page.locator(hidden).locator("visible=true").count(), hidden).toBe(0);
  expect(await page.locator("tbody tr").count()).toBeGreaterThan(5);
  const ink = await page.locator("h1").evaluate((title) => getComputedStyle(title).color);
  expect(Math.max(...(ink.match(/\d+/g) ?? ["255"]).slice(0, 3).map(Number)), ink).toBeLessThan(100);
  await shoot(page, "print");
  await page.emulateMedia({ media: "screen" });
  await page.evaluate(() => localStorage.removeItem("theme-mode"));
});

test("nothing went wrong behind the pages", () => {
  expect(faults).toEqual([]);
});
