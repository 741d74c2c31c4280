import { readFile } from "node:fs/promises";
import type { Download, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { insertRows } from "./rows.ts";
import { asUser, signIn } from "./session.ts";

// Reports by what operators and users choose, from rows of the log.

let opened: OpenConsole;
let page: Page;

const heading = (name: string) => page.getByRole("heading", { level: 1, name });
const table = () => page.getByRole("region", { name: "Rows of the report" });
const row = (text: string) => table().getByRole("row").filter({ hasText: text });
const total = () => table().locator("tfoot tr");

function call(tags: string, endUser: string, more: Readonly<Record<string, string | number>> = {}) {
  return {
    user_id: 1,
    username: "root",
    created_at: Math.floor(Date.now() / 1000) - 7_200,
    type: 2,
    model_name: "gpt-5.6",
    token_name: "ci",
    token_id: 1,
    group: "default",
    channel_id: 1,
    quota: 500_000,
    prompt_tokens: 100,
    completion_tokens: 20,
    use_time: 1,
    is_stream: 0,
    content: "",
    ip: "",
    request_id: "",
    other: "",
    tags,
    end_user: endUser,
    ...more,
  };
}

beforeAll(async () => {
  opened = await openConsole();
  ({ page } = opened);
  await asUser(page, "POST", "/api/user/", { username: "grace", password: "hopper-1906", display_name: "Grace" });
});
afterAll(() => opened?.close());

async function save(format: string): Promise<Buffer> {
  const [file] = await Promise.all([
    page.waitForEvent("download") as Promise<Download>,
    (async () => {
      await page.getByRole("button", { name: "Download" }).click();
      await page.getByRole("menuitem", { name: format }).click();
    })(),
  ]);
  return readFile(await file.path());
}

test("without calls the page says what a report is for", async () => {
  await heading("Token").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("k");
  await heading("Reports").waitFor();
  await page.getByRole("heading", { name: "No calls in this period" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "reports-empty");
});

test("a report sums calls by the tags that applications send, and its rows add up", async () => {
  insertRows(opened.file, "logs", [
    call("app=shop|env=prod", "42"),
    call("app=shop|env=prod", "43", { quota: 1_000_000 }),
    call("app=crm", "42", { model_name: "claude-opus-5" }),
    call("", "", { quota: 250_000, created_at: Math.floor(Date.now() / 1000) - 3 * 86_400 }),
    call("app=crm", "42", { type: 5, quota: 0 }),
  ]);
  await page.getByRole("button", { name: "Refresh" }).click();
  await row("gpt-5.6").first().waitFor();
  expect(await page.getByRole("combobox", { name: "Shared cost" }).count()).toBe(0);
  await page.getByRole("combobox", { name: "Group by" }).selectOption("tag:");
  await page.getByRole("searchbox", { name: "Key of the tag (Group by)" }).fill("app");
  await page.getByRole("combobox", { name: "Rows for each" }).selectOption("none");
  await row("shop").getByText("$3.000000").waitFor();
  await row("crm").getByText("$1.000000").waitFor();
  await row("Without a value").getByText("$0.500000").waitFor();
  await total().getByText("$4.500000").waitFor();
  await page.getByRole("combobox", { name: "Then by" }).selectOption("end_user");
  await row("43").getByText("$2.000000").waitFor();
  await total().getByText("$4.500000").waitFor();
  expect(new URL(page.url()).searchParams.get("by")).toBe("tag:app,end_user");
  await page.getByRole("combobox", { name: "Rows for each" }).selectOption("day");
  await table().getByRole("columnheader", { name: "From" }).waitFor();
  await shoot(page, "reports");
  await page.emulateMedia({ colorScheme: "dark" });
  await shoot(page, "reports-dark");
  expect(await axeFindings(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
  expect(await axeFindings(page)).toEqual([]);
});

test("choices that follow each other at once all hold, on a slow processor too", async () => {
  const before = page.url();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 6 });
  await page.getByRole("combobox", { name: "User name" }).fill("root");
  await page.getByRole("combobox", { name: "Time range" }).selectOption("7d");
  await page.getByRole("combobox", { name: "Rows for each" }).selectOption("week");
  await page.getByRole("searchbox", { name: "Group", exact: true }).fill("default");
  const address = () => new URL(page.url()).searchParams;
  const read = () => ["user", "range", "interval", "group"].map((name) => address().get(name));
  await expect.poll(read).toEqual(["root", "7d", "week", "default"]);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  await devtools.detach();
  await page.goto(before);
  await table().waitFor();
});

test("the files have the numbers of the page", async () => {
  const csv = (await save("CSV, for spreadsheets")).toString("utf8");
  expect(csv.startsWith("\uFEFFstart,tag:app,end_user,calls,")).toBe(true);
  expect(csv).toContain(",shop,43,1,0,100,20,1000000,2.000000");
  const json = JSON.parse((await save("JSON")).toString("utf8")) as { total: { quota: number } };
  expect(json.total.quota).toBe(2_250_000);
  const parquet = await save("Parquet, with exact numbers");
  expect([parquet.subarray(0, 4).toString(), parquet.subarray(-4).toString()]).toEqual(["PAR1", "PAR1"]);
});

test("the cost of some values is shared among the others, in the address, files and saved reports too", async () => {
  const before = page.url();
  const part = page.getByRole("region", { name: "Shared cost" });
  const chosen = page.getByRole("combobox", { name: "Shared cost" });
  const amounts = async (name: string) =>
    (await row(name).getByRole("cell").allInnerTexts()).filter((text) => text.includes("$"));
  const address = () => new URL(page.url()).searchParams;
  await page.goto("/report?by=tag:app&interval=none");
  await expect.poll(() => amounts("shop")).toEqual(["$3.000000"]);
  await chosen.selectOption("app");
  await part.getByText("Choose the values of app whose cost the others share").waitFor();
  expect(await amounts("shop")).toEqual(["$3.000000"]);
  const values = part.getByRole("group", { name: "Values of app whose cost the others share" });
  expect(await values.getByRole("button").allInnerTexts()).toEqual(["shop", "crm", "Calls without the tag"]);
  await values.getByRole("button", { name: "Calls without the tag" }).click();
  await expect.poll(() => amounts("shop")).toEqual(["$3.000000", "$0.375000", "$3.375000"]);
  expect(await amounts("crm")).toEqual(["$1.000000", "$0.125000", "$1.125000"]);
  expect(await amounts("Without a value")).toEqual(["$0.500000", "-$0.500000", "$0.000000"]);
  expect(await amounts("Total")).toEqual(["$4.500000", "$0.000000", "$4.500000"]);
  for (const name of ["Own cost", "Shared", "Total cost"])
    await table().getByRole("columnheader", { name, exact: true }).waitFor();
  await part.getByText("share the cost of Calls without the tag in proportion to their own cost").waitFor();
  await part.getByRole("combobox", { name: "Split" }).selectOption("even");
  await expect.poll(() => amounts("crm")).toEqual(["$1.000000", "$0.250000", "$1.250000"]);
  await part.getByRole("combobox", { name: "Split" }).selectOption("weights");
  await part.getByRole("textbox", { name: "Weight of shop" }).fill("2");
  await expect.poll(() => amounts("shop")).toEqual(["$3.000000", "$0.333334", "$3.333334"]);
  expect(await amounts("crm")).toEqual(["$1.000000", "$0.166666", "$1.166666"]);
  expect([address().get("shared"), address().get("split")]).toEqual(["app=~none", "shop=2|crm=1"]);
  await part.getByRole("textbox", { name: "Weight of crm" }).fill("many");
  await part.locator("input[aria-invalid=true]").waitFor();
  await part.getByRole("textbox", { name: "Weight of crm" }).fill("1");
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "reports-shared");
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await axeFindings(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });

  const [head = "", ...lines] = (await save("CSV, for spreadsheets")).toString("utf8").trim().split("\r\n");
  expect(head).toMatch(/quota,cost_usd,shared,total,total_usd$/);
  expect(lines.reduce((sum, line) => sum + Number(line.split(",").at(-2)), 0)).toBe(2_250_000);
  const json = JSON.parse((await save("JSON")).toString("utf8")) as { rows: { total: number }[] };
  expect(json.rows.map(({ total }) => total)).toEqual([1_666_667, 583_333, 0]);
  expect((await save("Parquet, with exact numbers")).includes("total_usd")).toBe(true);

  await page.getByRole("button", { name: "Save report…" }).click();
  const dialog = page.getByRole("dialog", { name: "Save report…" });
  await dialog.getByRole("textbox", { name: /^Name/ }).fill("Showback");
  await dialog.getByRole("button", { name: "Save" }).click();
  const saved = page.getByRole("group", { name: "Saved reports" });
  await saved.getByRole("button", { name: "Showback", exact: true, pressed: true }).waitFor();
  await page.goto("/report");
  await row("gpt-5.6").first().waitFor();
  await saved.getByRole("button", { name: "Showback", exact: true }).click();
  await expect.poll(() => amounts("shop")).toEqual(["$3.000000", "$0.333334", "$3.333334"]);
  const stored = (await asUser(page, "GET", "/api/report/saved/")) as { data: { id: number }[] };
  expect(stored.data).toMatchObject([{ question: { shared: "app=~none", split: "shop=2|crm=1" } }]);
  await values.getByRole("button", { name: "crm" }).click();
  await expect.poll(() => amounts("shop")).toEqual(["$3.000000", "$1.500000", "$4.500000"]);
  expect(await part.getByRole("textbox", { name: "Weight of crm" }).count()).toBe(0);
  // Without its tag among the fields, nothing is shared and nothing is asked.
  await page.getByRole("combobox", { name: "Group by" }).selectOption("model");
  await expect.poll(() => part.count()).toBe(0);
  expect([address().get("shared"), address().get("split")]).toEqual([null, null]);
  await expect.poll(() => amounts("Total")).toEqual(["$4.500000"]);
  await asUser(page, "DELETE", `/api/report/saved/${stored.data[0]?.id}`);
  await page.goto(before);
  await table().waitFor();
});

test("a report is saved with a schedule, opened by a click and deleted", async () => {
  await page.getByRole("button", { name: "Save report…" }).click();
  const dialog = page.getByRole("dialog", { name: "Save report…" });
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("Please enter a name.").waitFor();
  await dialog.getByRole("textbox", { name: /^Name/ }).fill("By application");
  await dialog.getByRole("combobox", { name: "Schedule" }).selectOption("week");
  await dialog.getByRole("combobox", { name: "Hour" }).selectOption("8");
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "reports-save");
  await dialog.getByRole("button", { name: "Save" }).click();
  const saved = page.getByRole("group", { name: "Saved reports" });
  await saved.getByRole("button", { name: "By application", exact: true, pressed: true }).waitFor();
  await page.goto("/report");
  await row("gpt-5.6").first().waitFor();
  await saved.getByRole("button", { name: "By application", exact: true }).click();
  await row("shop").first().waitFor();
  expect(new URL(page.url()).searchParams.get("by")).toBe("tag:app,end_user");
  const stored = (await asUser(page, "GET", "/api/report/saved/")) as { data: object[] };
  expect(stored.data).toMatchObject([{ name: "By application", cadence: "week", hour: 8, mail: true }]);
  await saved.getByRole("button", { name: "Change the report By application" }).click();
  await page.getByRole("menuitem", { name: "Delete the report" }).click();
  const question = page.getByRole("alertdialog").or(page.getByRole("dialog"));
  await question.getByText("Its schedule ends. Calls and their costs stay.").waitFor();
  await question.getByRole("button", { name: "Delete the report" }).click();
  await expect.poll(() => saved.getByRole("button", { name: "By application", exact: true }).count()).toBe(0);
  await shoot(page, "reports-saved");
});

test("a row leads to its calls, whose tags the log shows and filters by", async () => {
  await page.getByRole("searchbox", { name: "Tags, such as app=shop" }).fill("app=shop");
  await page.getByRole("combobox", { name: "Rows for each" }).selectOption("none");
  await expect.poll(() => total().innerText()).toContain("$3.000000");
  await row("43").getByRole("link", { name: "shop" }).click();
  await heading("Log").waitFor();
  const calls = page.getByRole("row").filter({ hasText: "gpt-5.6" });
  await expect.poll(() => calls.count()).toBe(1);
  await page.getByRole("columnheader", { name: "Tags" }).waitFor();
  await calls.getByText("app=shop, env=prod, 43").waitFor();
  await page.getByRole("button", { name: "Remove the filter End user 43" }).click();
  await expect.poll(() => calls.count()).toBe(2);
  await page.getByRole("searchbox", { name: "Tag or user" }).fill("app=crm");
  await page.getByRole("row").filter({ hasText: "claude-opus-5" }).first().waitFor();
  await expect.poll(() => calls.count()).toBe(1);
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "log-tags");
});

test("users report their own calls, without fields of others", async () => {
  const { page: owner } = await openPage(opened.browser, opened.gateway.url);
  await signIn(owner, "grace", "hopper-1906");
  await owner.getByRole("heading", { level: 1, name: "Token" }).waitFor();
  await owner.goto("/report?by=channel,model");
  await owner.getByRole("heading", { name: "No calls in this period" }).waitFor();
  const choices = await owner.getByRole("combobox", { name: "Group by" }).locator("option").allInnerTexts();
  expect(choices).toEqual(["All calls", "Model", "Token", "Group", "End user", "Tag…"]);
  const grace = { user_id: 2, username: "grace" };
  insertRows(opened.file, "logs", [call("app=shop", "7", grace), call("app=platform", "7", grace)]);
  await owner.goto("/report?by=tag:app&interval=none&shared=app%3Dplatform");
  const shop = owner.getByRole("region", { name: "Rows of the report" }).getByRole("row").filter({ hasText: "shop" });
  await shop.getByText("$2.000000").waitFor();
  const part = owner.getByRole("region", { name: "Shared cost" });
  await part.getByRole("button", { name: "platform", pressed: true }).waitFor();
  await owner.context().close();
});
