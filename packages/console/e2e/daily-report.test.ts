import { readFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import type { UsageReport } from "@fairway/wire";
import type { Download, Page } from "playwright-core";
import { expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { useVisits } from "./clicks.ts";
import { insertRows } from "./rows.ts";

// What a group, a user, a key or a tag spent by model this week, as a file, from a cold sign-in.

const DAY = 86_400;

const visits = useVisits((opened) => {
  insertRows(opened.file, "logs", buildCalls());
  return Promise.resolve();
});

/** Returns calls of two groups, users, keys and tags over ten days, with amounts that no other sum has. */
function buildCalls() {
  const now = Math.floor(Date.now() / 1000);
  return Array.from({ length: 40 }, (_, at) => {
    const isResearch = at % 3 !== 0;
    return {
      user_id: isResearch ? 1 : 2,
      username: isResearch ? "root" : "ada",
      created_at: now - 3_600 - Math.floor((at * DAY) / 4),
      type: 2,
      model_name: ["gpt-5.6", "claude-opus-5"][at % 2] ?? "",
      token_name: at % 7 < 3 ? "nightly" : "ci",
      token_id: at % 7 < 3 ? 2 : 1,
      group: isResearch ? "research" : "default",
      channel_id: 1,
      quota: 1_000 + 17 * at * at,
      prompt_tokens: 100 + at,
      completion_tokens: 20,
      use_time: 1,
      is_stream: 0,
      content: "",
      ip: "",
      request_id: `call-${at}`,
      other: "",
      tags: at % 5 === 0 ? "app=shop" : "",
      end_user: "",
    };
  });
}

/** Returns the spend by model of the calls since a time, straight from the rows. */
function readSpend(condition: string, start: number): Record<string, number> {
  const database = new DatabaseSync(visits.opened.file, { timeout: 10_000 });
  const rows = database
    .prepare(
      `select model_name, sum(quota) as quota from logs where ${condition} and created_at >= ? group by model_name`,
    )
    .all(start) as { model_name: string; quota: number }[];
  database.close();
  return Object.fromEntries(rows.map(({ model_name: model, quota }) => [model, quota]));
}

async function download(page: Page, format: string): Promise<string> {
  const [file] = await Promise.all([
    page.waitForEvent("download") as Promise<Download>,
    (async () => {
      await page.getByRole("button", { name: "Download" }).click();
      await page.getByRole("menuitem", { name: format }).click();
    })(),
  ]);
  return readFile(await file.path(), "utf8");
}

/** Returns the spend by model of a file with one row for each. */
function readCsv(text: string): Record<string, number> {
  const [head = "", ...lines] = text.replace("\uFEFF", "").trim().split(/\r?\n/);
  const columns = head.split(",");
  const rows = lines.map((line) => line.split(","));
  return Object.fromEntries(
    rows.map((row) => [row[columns.indexOf("model")] ?? "", Number(row[columns.indexOf("quota")])]),
  );
}

test("what did a group spend by model this week, as a file: five clicks", async () => {
  const { page } = visits.visitor;
  await page.getByRole("link", { name: "Reports", exact: true }).click();
  await page.getByRole("searchbox", { name: "Group", exact: true }).fill("research");
  await page.getByRole("combobox", { name: "Time range" }).selectOption("7d");
  await page.getByRole("combobox", { name: "Rows for each" }).selectOption("none");
  const table = page.getByRole("region", { name: "Rows of the report" });
  await expect.poll(() => table.locator("tbody tr").count()).toBe(2);
  expect(await page.getByRole("combobox", { name: "Group by" }).inputValue()).toBe("model");
  const text = await download(page, "CSV, for spreadsheets");
  expect(await visits.visitor.countClicks()).toBeLessThanOrEqual(5);
  await shoot(page, "daily-report");
  expect(await axeFindings(page)).toEqual([]);
  const report = JSON.parse(await download(page, "JSON")) as UsageReport;
  expect(report.start).toBeGreaterThan(Date.now() / 1000 - 8 * DAY);
  expect(Object.keys(readCsv(text))).toHaveLength(2);
  expect(readCsv(text)).toEqual(readSpend(`"group" = 'research'`, report.start));
});

test.each([
  ["User name", "ada", "username = 'ada'"],
  ["Token name", "nightly", "token_name = 'nightly'"],
  ["Tags, such as app=shop", "app=shop", "tags = 'app=shop'"],
])(
  "the filter %s leaves the grouping by model, and its file has the sums of the rows",
  async (filter, text, condition) => {
    const { page } = visits.visitor;
    await page.goto("/report?interval=none&range=7d");
    const [answer] = await Promise.all([
      page.waitForResponse((reply) => {
        // Suggestions of names ask for the text too.
        const { pathname, search } = new URL(reply.url());
        return pathname.endsWith("/report/usage") && search.includes(encodeURIComponent(text));
      }),
      page.getByRole("main").getByLabel(filter, { exact: true }).fill(text),
    ]);
    const { data } = (await answer.json()) as { data: UsageReport };
    const table = page.getByRole("region", { name: "Rows of the report" });
    await table.locator("tfoot").getByText(`$${data.total.cost_usd}`).waitFor();
    const report = JSON.parse(await download(page, "JSON")) as UsageReport;
    const spend = Object.fromEntries(report.rows.map((row) => [String(row["model"]), row.quota]));
    expect(Object.keys(spend)).toHaveLength(2);
    expect(spend).toEqual(readSpend(condition, report.start));
  },
);
