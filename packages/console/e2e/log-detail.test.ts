import { ROOT_PASSWORD, startGateway, type GatewayProcess } from "@fairway/testkit";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openBrowser, openPage, shoot } from "./browser.ts";
import { insertRows } from "./rows.ts";
import { signIn } from "./session.ts";

let folder: string;
let gateway: GatewayProcess;
let browser: Browser;
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "fairway-log-"));
  gateway = await startGateway({ database: `sqlite:${join(folder, "fairway.db")}` });
  browser = await openBrowser();
  ({ page, faults } = await openPage(browser, gateway.url));
  await signIn(page, "root", ROOT_PASSWORD);
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  rmSync(folder, { recursive: true, force: true });
});

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

test("a row tells of the response cache and of the guardrail", async () => {
  insertRows(join(folder, "fairway.db"), "logs", [
    row("repeated", { cache_hit: true, cache_age: 125, admin_info: { use_channel: [] } }),
    row("refused", { guardrail: "block", admin_info: { use_channel: [], guardrail_reason: "insults" } }),
    row("unjudged", { guardrail: "failed", admin_info: { use_channel: [], guardrail_reason: "timeout" } }),
    row("ordinary", { admin_info: { use_channel: [] } }),
  ]);
  await page.goto("/log");
  const open = async (model: string) => {
    await page.getByRole("row").filter({ hasText: model }).getByRole("button", { name: "Show details" }).click();
  };
  await open("repeated");
  await page.getByText("Repeated from the response cache: the answer was 2 min 05 s old").waitFor();
  await page.getByText("A repeated answer costs the part of this price that the operator set.").waitFor();
  const isCut = await page
    .locator(".log-detail section")
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
  await page.getByRole("heading", { name: "Charge" }).waitFor();
  expect(await page.getByRole("heading", { name: "What happened" }).count()).toBe(0);
  expect(faults).toEqual([]);
});
