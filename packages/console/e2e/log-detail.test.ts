import {
  GUARDRAIL_REASON,
  makeExplainedCalls,
  ROOT_PASSWORD,
  signIn as openSession,
  type Session,
} from "@fairway/testkit";
import type { LogExplanation, LogPage } from "@fairway/wire";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { insertRows } from "./rows.ts";
import { asUser } from "./session.ts";

let opened: OpenConsole;
let gateway: OpenConsole["gateway"];
let upstream: OpenConsole["upstream"];
let page: Page;
let faults: readonly string[];
let root: Session;

beforeAll(async () => {
  opened = await openConsole();
  ({ gateway, upstream, page, faults } = opened);
  root = await openSession(gateway.url, "root", ROOT_PASSWORD);
});

afterAll(() => opened?.close());

function row(model: string, other: object): Record<string, string | number> {
  return {
    user_id: 1,
    created_at: Math.floor(Date.now() / 1000) - 60,
    type: 2,
    content: "",
    username: "root",
    token_name: "app",
    model_name: model,
    quota: 100,
    prompt_tokens: 20,
    completion_tokens: 10,
    use_time: 1,
    is_stream: 0,
    channel_id: 0,
    token_id: 1,
    group: "default",
    ip: "",
    request_id: model,
    other: JSON.stringify({ model_ratio: 1, completion_ratio: 2, group_ratio: 1, model_price: -1, ...other }),
  };
}

test("the columns of administrators fit next to the menu with names of any length", async () => {
  const channel = { name: "azure-europe-west-primary", key: "sk-1", models: "gpt-4o" };
  expect(await asUser(page, "POST", "/api/channel/", channel)).toMatchObject({ success: true });
  const long = {
    ...row("claude-opus-4-5-20251101-thinking-high", { frt: 12_340, admin_info: { use_channel: [3, 2, 1] } }),
    username: "margaret.hamilton.20",
    token_name: "production-of-the-night-shift",
    channel_id: 1,
    prompt_tokens: 1_048_576,
    completion_tokens: 128_000,
    quota: 617_283_945,
    use_time: 302,
    is_stream: 1,
  };
  insertRows(opened.file, "logs", [long]);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto("/log");
  const shown = page.getByRole("row").filter({ hasText: "$1,234.567890" });
  await shown.waitFor();
  const scroll = page.locator(".grid-scroll");
  expect(await scroll.evaluate((part) => part.scrollWidth - part.clientWidth)).toBe(0);
  expect(await shown.getByText("claude-opus-4-5-20251101-thinking-high").isVisible()).toBe(true);
  await shoot(page, "log-1280");
  await shown.getByRole("button", { name: "Show details" }).click();
  const peek = page.locator(".peek");
  await peek.getByRole("heading", { name: "Request" }).waitFor();
  for (const text of ["Consumption", "302 s", "stream", "margaret.hamilton.20", "1,048,576 in, 128,000 out"]) {
    expect(await peek.getByText(text, { exact: true }).isVisible(), text).toBe(true);
  }
  expect(await axeFindings(page)).toEqual([]);
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("what is searched for can be read on a phone while filters are set", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/log?range=7d");
  const box = await page.getByRole("searchbox", { name: "Model" }).boundingBox();
  expect(box?.width).toBeGreaterThanOrEqual(150);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("all rows of the filters are saved as CSV, and an export that is called off saves nothing", async () => {
  const rows = Array.from({ length: 250 }, (_, n) => ({ ...row("bulk", { frt: 120 }), request_id: `bulk-${n}` }));
  insertRows(opened.file, "logs", rows);
  await page.goto("/log?model=bulk");
  await page.route(/before=/, () => undefined);
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await page.getByText("100 of 250 rows").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "log-export");
  await page.getByRole("button", { name: "Cancel the export" }).click();
  await page.unroute(/before=/);
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export", exact: true }).click();
  const file = await saving;
  expect(file.suggestedFilename()).toMatch(/^log-.*\.csv$/);
  const lines = readFileSync(await file.path(), "utf8")
    .trimEnd()
    .split("\r\n");
  expect(lines[0]).toMatch(/time,type,token,.*,user,channel_id,channel$/);
  expect(new Set(lines.map((line) => /bulk-\d+/.exec(line)?.[0])).size).toBe(251);
  await page.getByText("250 rows saved.").waitFor();
});

test("a row shows the response cache and the guardrail", async () => {
  insertRows(opened.file, "logs", [
    row("repeated", { cache_hit: true, cache_age: 125, admin_info: { use_channel: [] } }),
    row("refused", { guardrail: "block", admin_info: { use_channel: [], guardrail_reason: "insults" } }),
    row("unjudged", { guardrail: "failed", admin_info: { use_channel: [], guardrail_reason: "timeout" } }),
    row("ordinary", { admin_info: { use_channel: [] } }),
  ]);
  await page.goto("/log");
  const open = async (model: string) => {
    const row = page.locator(".log-grid").getByRole("row").filter({ hasText: model });
    await row.getByRole("button", { name: "Show details" }).click();
    await page.locator(".peek").getByRole("heading", { name: model }).waitFor();
  };
  await open("repeated");
  await page.getByText(/^Answered from the response cache; the answer was 2 min 05 s old/).waitFor();
  await page.getByText("A repeated answer costs the part of this price that the operator set.").waitFor();
  const isCut = await page
    .locator(".peek section")
    .evaluateAll((parts) => parts.some((part) => part.scrollWidth > part.clientWidth));
  expect(isCut, "a part of the detail runs into the next").toBe(false);
  await shoot(page, "log-repeated");
  expect(await axeFindings(page)).toEqual([]);
  await open("refused");
  await page.getByText("The guardrail refused a text of this request").waitFor();
  await page.getByText("Reason: insults").waitFor();
  await open("unjudged");
  await page.getByText("The guardrail gave no verdict").waitFor();
  await open("ordinary");
  await page.getByRole("heading", { name: "Why this price" }).waitFor();
  expect(await page.getByRole("heading", { name: "What else happened" }).count()).toBe(0);
  expect(faults).toEqual([]);
});

/** Returns the explanation of a call from its API. */
async function loadExplanation(request: string): Promise<LogExplanation> {
  const { items } = await root.must<LogPage>("GET", `/api/log/?request_id=${request}`);
  return root.must("GET", `/api/log/${items[0]?.id ?? 0}/explain`);
}

test("one click says why a call failed, why it went there and why it cost that", async () => {
  const calls = await makeExplainedCalls(root, upstream.url);
  const failed = { price: { kind: "none", charged: 0 } };
  const ends: [keyof typeof calls, object, string[]][] = [
    [
      "limit",
      { status: 429, code: "rate_limit_exceeded", route: "none", ...failed },
      [
        "Failed with 429",
        "Limit of this token reached: 1 requests per minute",
        "No upstream was called.",
        "Failed calls are not charged",
      ],
    ],
    [
      "failover",
      {
        status: 200,
        outcome: "ok",
        attempts: [
          { status: 500, next: "retry" },
          { status: 200, outcome: "ok" },
        ],
      },
      ["Answered by attempt 2", "the next channel was tried", "Drawn by weight", "Reserved"],
    ],
    [
      "guardrail",
      { status: 400, code: "prompt_blocked", guardrail: "block", guardrail_reason: GUARDRAIL_REASON, ...failed },
      [
        "Failed with 400",
        "The guardrail refused a text",
        `Reason: ${GUARDRAIL_REASON}`,
        "Failed calls are not charged",
      ],
    ],
    [
      "guardedStream",
      { status: 200, code: "guardrail", guardrail: "block", guardrail_reason: GUARDRAIL_REASON },
      ["The guardrail stopped the answer", `Reason: ${GUARDRAIL_REASON}`, "only channel", "Reserved"],
    ],
    [
      "cut",
      { code: "upstream_cut", attempts: [{ status: 200, outcome: "upstream_error", next: "begun" }] },
      ["The upstream cut its answer off", "the client already had a part", "tried, failed", "Reserved"],
    ],
    [
      "budget",
      { status: 403, code: "budget_exceeded", budget: { scope: "model", quota_limit: 1 }, ...failed },
      ["Failed with 403", "This budget was used up", "Budget of model ask-budget", "Failed calls are not charged"],
    ],
    [
      "budgetStream",
      { code: "quota_exhausted", budget: { scope: "model", subject: "ask-budget-stream", quota_limit: 2_500 } },
      ["A budget was used up during the answer", "Budget of model ask-budget-stream", "only channel", "Reserved"],
    ],
    [
      "cached",
      { status: 200, route: "cache", cache: { is_hit: true }, attempts: [] },
      [
        "Answered from the response cache",
        "The response cache answered.",
        "No upstream was called.",
        "A repeated answer costs",
      ],
    ],
  ];
  for (const [name, explanation, texts] of ends) {
    expect(await loadExplanation(calls[name]), name).toMatchObject(explanation);
    await page.goto(`/log?request=${calls[name]}`);
    await page.locator(".log-grid .grid-row").first().getByRole("button", { name: "Show details" }).click();
    for (const text of texts)
      await expect.poll(() => page.locator(".peek").textContent(), { message: name }).toContain(text);
    await shoot(page, `log-explained-${name}`);
  }
  expect(await axeFindings(page)).toEqual([]);
});
