import { freePort } from "@fairway/testkit";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";

// The database of the log is away: its page says so in words, asks again by itself, and shows the rows when it is back.

let open: OpenConsole;
let page: Page;

beforeAll(async () => {
  const address = `clickhouse://127.0.0.1:${await freePort()}/default`;
  open = await openConsole({ env: { FAIRWAY_LOG_DATABASE_URL: address } });
  ({ page } = open);
});

afterAll(() => open?.close());

const isList = (url: string) => new URL(url).pathname === "/api/log/";

test("the page says that the database is away and nothing is lost, in the reader's language", async () => {
  await page.goto("/log");
  await page.getByText("The log database cannot be reached.", { exact: false }).first().waitFor();
  await page.getByText("nothing is lost", { exact: false }).first().waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.evaluate(() => localStorage.setItem("fairway:language", "zh"));
  await page.reload();
  await page.getByText("无法连接日志数据库", { exact: false }).first().waitFor();
  await page.evaluate(() => localStorage.setItem("fairway:language", "en"));
});

test("it asks again by itself and shows the log when it is back", async () => {
  await page.goto("/log");
  const words = page.getByText("The log database cannot be reached.", { exact: false });
  await words.first().waitFor();
  await page.waitForResponse((response) => isList(response.url()) && response.status() === 503);
  await page.route(
    (url) => isList(url.href),
    (route) => {
      const data = { items: [], total: 0, page: 1, page_size: 20, next: "" };
      return route.fulfill({ json: { success: true, message: "", data } });
    },
  );
  await words.waitFor({ state: "detached" });
});
