import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { insertRows } from "./rows.ts";
import { asUser, signIn } from "./session.ts";

// Batches and stored files, as their operator and as their owner see them.

let opened: OpenConsole;
let page: Page;
let file: string;

const heading = (name: string) => page.getByRole("heading", { level: 1, name });
const row = (text: string) => page.getByRole("row").filter({ hasText: text });
const now = () => Math.floor(Date.now() / 1000);

beforeAll(async () => {
  opened = await openConsole();
  ({ page, file } = opened);
  await asUser(page, "POST", "/api/user/", { username: "grace", password: "hopper-1906", display_name: "Grace" });
});
afterAll(() => opened?.close());

/** The prices of a batch at half the price. */
const TERMS = {
  operation: "chat",
  group: "default",
  groupRatio: "1",
  quotaPerUnit: "500000",
  models: {
    "gpt-5.6": {
      price: {
        kind: "call",
        source: "operator",
        date: "",
        isSelfUse: false,
        hasImageFactors: false,
        exact: "0.04",
        unit: "call",
      },
      inputRatio: "0.5",
      outputRatio: "0.5",
      tools: {},
      tiers: {},
    },
  },
};

function batch(id: string, more: Readonly<Record<string, string | number>>): Record<string, string | number> {
  return {
    id,
    dialect: "openai",
    user_id: 1,
    token_id: 1,
    group: "default",
    channel_id: 1,
    key_mark: "0123456789abcdef",
    upstream_id: `up-${id}`,
    request_id: `r-${id}`,
    endpoint: "/v1/chat/completions",
    models: '{"gpt-5.6":{"upstream":"gpt-5.6","items":1200,"estimate":9000000,"promptTokens":1,"uncapped":0}}',
    input_file_id: "file-input",
    output_file_id: "",
    error_file_id: "",
    phase: "open",
    wire: "{}",
    total: 1200,
    succeeded: 540,
    failed: 0,
    expired: 0,
    cancelled: 0,
    deposit: 9_000_000,
    charged: 0,
    saved: 0,
    terms: JSON.stringify(TERMS),
    metadata: "{}",
    body_hash: "",
    error: "",
    created_at: now() - 3600,
    expires_at: now() + 82_800,
    ended_at: 0,
    settled_at: 0,
    deleted_at: 0,
    // Far away, so that no job changes the rows during the test.
    next_poll_at: Number.MAX_SAFE_INTEGER,
    polled_at: Date.now() + 600_000,
    polls: 3,
    failures: 0,
    revision: 1,
    ...more,
  };
}

function stored(id: string, more: Readonly<Record<string, string | number>>): Record<string, string | number> {
  return {
    id,
    user_id: 1,
    token_id: 1,
    kind: "file",
    dialect: "openai",
    channel_id: 1,
    key_mark: "0123456789abcdef",
    upstream_id: `up-${id}`,
    name: "requests.jsonl",
    mime: "application/jsonl",
    purpose: "batch",
    bytes: 3_000_000,
    state: "ready",
    facts: "{}",
    created_at: now() - 3600,
    expires_at: 0,
    next_check_at: 0,
    ...more,
  };
}

test("without batches the page says how to create one", async () => {
  await heading("Token").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("q");
  await heading("Batches").waitFor();
  await page.getByRole("heading", { name: "No batches yet" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "batches-empty");
});

test("batches show their state, progress and money, and their details at a click", async () => {
  insertRows(file, "batches", [
    batch("batch_running", {}),
    batch("batch_done", {
      phase: "settled",
      succeeded: 1190,
      failed: 10,
      charged: 2_400_000,
      saved: 2_400_000,
      output_file_id: "file-output",
      error_file_id: "file-errors",
      ended_at: now() - 600,
      settled_at: now() - 590,
      created_at: now() - 7200,
    }),
    batch("batch_stuck", { phase: "stuck", error: "channel_deleted", created_at: now() - 90_000, channel_id: 99 }),
    batch("batch_refused", {
      phase: "refused",
      error: "line_errors",
      total: 0,
      succeeded: 0,
      deposit: 0,
      terms: "{}",
      models: "{}",
      wire: '{"errors":{"data":[{"code":"invalid_json_line","line":40000,"message":"This line is not JSON.","param":null}]}}',
    }),
    batch("batch_other", {
      user_id: 99,
      phase: "settled",
      cancelled: 660,
      charged: 1_000_000,
      created_at: now() - 50,
    }),
  ]);
  await page.getByRole("button", { name: "Refresh" }).click();
  await row("batch_running").getByText("Running", { exact: true }).waitFor();
  expect(await row("batch_running").getByRole("progressbar").getAttribute("aria-valuenow")).toBe("45");
  await row("batch_done").getByText("Completed", { exact: true }).waitFor();
  await row("batch_stuck").getByText("Stuck", { exact: true }).waitFor();
  await row("batch_refused").getByText("Failed", { exact: true }).waitFor();
  await row("batch_other").getByText("Cancelled", { exact: true }).waitFor();
  await row("batch_done").getByRole("button", { name: "batch_done", exact: true }).click();
  await page.getByText("model_price * input_ratio * QuotaPerUnit * group_ratio").waitFor();
  await page.getByText("file-output").waitFor();
  await page.waitForURL(/[?&]row=batch_done/);
  await shoot(page, "batches");
  await page.emulateMedia({ colorScheme: "dark" });
  await shoot(page, "batches-dark");
  expect(await axeFindings(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
  expect(await axeFindings(page)).toEqual([]);
  await row("batch_refused").getByRole("button", { name: "Show details" }).click();
  await page.getByText("This line is not JSON.").waitFor();
  await page.getByRole("combobox", { name: "State" }).selectOption("stuck");
  await page.getByText("1–1 of 1").waitFor();
});

test("the super administrator abandons a stuck batch after a question", async () => {
  await row("batch_stuck")
    .getByRole("button", { name: /batch_stuck/ })
    .last()
    .click();
  await page.getByRole("menuitem", { name: "Abandon the batch" }).click();
  const question = page.getByRole("alertdialog").or(page.getByRole("dialog"));
  await question.getByText("Nothing is charged and the deposit is returned.").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await question.getByRole("button", { name: /^Cancel$/ }).click();
  await question.waitFor({ state: "detached" });
});

test("files show who may store how much, and are deleted after a question", async () => {
  await page.goto("/file");
  await heading("Files").waitFor();
  await page.getByRole("heading", { name: "No files stored" }).waitFor();
  await page.getByText("You store 0 B of 10 GiB, 0 of 10,000 files.").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  insertRows(file, "upstream_objects", [
    stored("file-one", {}),
    stored("file-two", { name: "photo.png", purpose: "vision", state: "lost", expires_at: now() + 86_400 }),
  ]);
  await page.reload();
  await row("requests.jsonl").getByText("2.9 MiB").waitFor();
  await row("photo.png").getByText("Lost").waitFor();
  await shoot(page, "files");
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("combobox", { name: "State" }).selectOption("lost");
  await page.getByText("1–1 of 1").waitFor();
});

test("the wallet names what is reserved in batches", async () => {
  await page.goto("/topup");
  await page.getByText("Reserved in batches").waitFor();
  await page.getByRole("link", { name: "$36.00" }).click();
  await heading("Batches").waitFor();
});

test("a channel at which batches run is deleted only after a second question that shows them", async () => {
  // The batches of the other tests name channel 1.
  for (const name of ["idle", "busy"]) {
    const form = { name, type: 1, key: "sk-1", models: "gpt-5.6", base_url: opened.upstream.url };
    expect(await asUser(page, "POST", "/api/channel/", form)).toMatchObject({ success: true });
  }
  const found = (await asUser(page, "GET", "/api/channel/?keyword=busy")) as { data: { id: number }[] };
  const id = found.data[0]?.id ?? 0;
  insertRows(file, "batches", [batch("batch_held", { channel_id: id })]);
  await page.goto("/channel");
  const remove = async () => {
    await page.getByRole("button", { name: "Actions for busy" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("alertdialog", { name: "Delete “busy”?" }).getByRole("button", { name: "Delete" }).click();
  };
  await remove();
  const question = page.getByRole("alertdialog", { name: "Batches run there" });
  await question.getByText(/^1 batches are running or unsettled at busy/).waitFor();
  await question
    .getByRole("listitem")
    .filter({ hasText: "gpt-5.6" })
    .getByText(/^1,200 requests, since /)
    .waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "channel-has-batches");
  await question.getByRole("button", { name: "Wait" }).click();
  await question.waitFor({ state: "detached" });
  await row("busy").waitFor();
  await remove();
  await question.getByRole("button", { name: "Delete anyway" }).click();
  await page.getByText("“busy” is deleted.").waitFor();
  expect(await row("busy").count()).toBe(0);
  const held = (await asUser(page, "GET", "/api/batch/batch_held")) as { data: { phase: string } };
  expect(held.data.phase).toBe("stuck");
});

test("users see their own batches only, without the channel", async () => {
  const { page: owner } = await openPage(opened.browser, opened.gateway.url);
  await signIn(owner, "grace", "hopper-1906");
  await owner.getByRole("heading", { level: 1, name: "Token" }).waitFor();
  const { data } = (await asUser(owner, "GET", "/api/user/self")) as { readonly data: { readonly id: number } };
  insertRows(file, "batches", [batch("batch_grace", { user_id: data.id })]);
  await owner.goto("/batch");
  await owner.getByRole("heading", { level: 1, name: "Batches" }).waitFor();
  await owner.getByRole("row").filter({ hasText: "batch_grace" }).waitFor();
  await shoot(owner, "batches-owner");
  expect(await owner.getByText("batch_done").count()).toBe(0);
  expect(await owner.getByRole("columnheader", { name: "Channel" }).count()).toBe(0);
  await owner.context().close();
});

test("the dashboard shows what prompt caches and batches saved, or that there was nothing", async () => {
  const { page: owner } = await openPage(opened.browser, opened.gateway.url);
  await signIn(owner, "grace", "hopper-1906");
  await owner.getByRole("heading", { level: 1, name: "Token" }).waitFor();
  await owner.goto("/detail?range=24h");
  const ofOwner = owner.getByRole("region", { name: "Prompt caches", exact: true });
  await ofOwner.getByText("No prompt was read from a cache or written to one in this time.").waitFor();
  await owner.context().close();

  const start = now() - (now() % 3_600);
  const sum = { user_id: 1, channel_id: 77, model: "gpt-5.6", start, requests: 4, hits: 3, storage: 250_000 };
  insertRows(file, "cache_sums", [
    { ...sum, token_id: 5, input_tokens: 1_000, cached_tokens: 400, written_tokens: 100, saved: 1_500_000 },
    { ...sum, token_id: 6, input_tokens: 1_000, cached_tokens: 100, written_tokens: 0, saved: -500_000 },
  ]);
  await page.goto("/detail?range=24h");
  const caches = page.getByRole("region", { name: "Prompt caches", exact: true });
  await caches.getByText("6 of 8 requests").waitFor();
  for (const text of ["25.0%", "500", "$2.00", "$1.00"]) await caches.getByText(text, { exact: true }).waitFor();
  await page.getByText("40.0% of 1,000 tokens").waitFor();
  await page.getByText("without a name (77)").waitFor();
  const batches = page.getByRole("region", { name: "Batches", exact: true });
  await batches.getByText("$4.80", { exact: true }).first().waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "dashboard-savings");
});
