import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser } from "./session.ts";

// The list of budgets: a row can be read next to it.

let opened: OpenConsole;
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  opened = await openConsole();
  ({ page, faults } = opened);
  for (const subject of ["gpt-4o", "o3"]) {
    const budget = { scope: "model", subject, period: "month", quota_limit: 1_000_000 };
    expect(await asUser(page, "POST", "/api/budget/", budget)).toMatchObject({ success: true });
  }
  const database = new DatabaseSync(opened.file, { timeout: 10_000 });
  database.exec("update budgets set used = 900000 where id = 1");
  database.close();
});

afterAll(() => opened?.close());

const peek = (name: string) => page.getByRole("dialog", { name, exact: true });

test("a click on a budget shows what is left and how long it lasts", async () => {
  await page.goto("/budget");
  const row = page.locator(".grid-row").filter({ hasText: "gpt-4o" });
  await row.locator("td").nth(1).click();
  const panel = peek("Model gpt-4o");
  for (const text of ["Near the limit", "$1.80", "$0.20", "$2.00", "Pace per day"])
    await panel.getByText(text, { exact: true }).first().waitFor();
  await panel.getByText(/Runs out on|Lasts until the window ends/).waitFor();
  expect(new URL(page.url()).search).toBe("?row=1");
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "peek-budget");
  await page.keyboard.press("j");
  await peek("Model o3").waitFor();
  await page.keyboard.press("k");
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  await expect.poll(() => row.evaluate((element) => element === document.activeElement)).toBe(true);
});

test("from the panel a budget is edited over its list, and has its page", async () => {
  await page.goto("/budget?row=2");
  await peek("Model o3").getByRole("link", { name: "Edit" }).click();
  await page.getByRole("dialog", { name: "Edit budget" }).waitFor();
  await page.keyboard.press("Escape");
  await peek("Model o3").getByRole("link", { name: "Spending over time" }).click();
  await page.waitForURL(/\/budget\/2$/);
  await page.goto("/budget?row=99");
  await peek("Budgets").getByText("This budget does not exist").waitFor();
  expect(faults).toEqual([]);
});
