import { ROOT_PASSWORD, startGateway, type GatewayProcess } from "@fairway/testkit";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openBrowser, openPage, shoot } from "./browser.ts";
import { DEFAULTS, PARTS, TYPES } from "./channel-types.ts";
import { asUser, signIn } from "./session.ts";

// The list of channels and the form of one, as operators of compatible consoles know them.

let provider: Server;
let base = "";
/** `authorization` of the calls that reached the provider. */
const keysSeen: string[] = [];
let gateway: GatewayProcess;
let browser: Browser;
let page: Page;
let faults: readonly string[];

/** Cents. */
const USAGE = { total_usage: 750 };
const ANSWERS: Readonly<Record<string, object>> = {
  "/v1/dashboard/billing/subscription": { hard_limit_usd: 50, has_payment_method: true },
  "/v1/dashboard/billing/usage": USAGE,
  "/v1/models": { data: [{ id: "gpt-quay" }, { id: "gpt-buoy" }] },
};

beforeAll(async () => {
  provider = createServer((request, response) => {
    keysSeen.push(request.headers.authorization ?? "");
    const answer = ANSWERS[(request.url ?? "").split("?")[0] ?? ""];
    response.writeHead(answer ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  gateway = await startGateway();
  browser = await openBrowser();
  ({ page, faults } = await openPage(browser, gateway.url));
  await signIn(page, "root", ROOT_PASSWORD);
  for (const channel of [
    { name: "Alder", type: 1, key: "sk-alder", models: "gpt-4o,gpt-4o-mini", group: "default", priority: 1, weight: 4 },
    { name: "Birch", type: 43, key: "sk-birch", models: "deepseek-chat", group: "vip", priority: 9 },
    { name: "Cedar", type: 3, key: "sk-cedar", models: "gpt-4o", group: "default,vip", other: "2024-10-21" },
  ])
    expect(await asUser(page, "POST", "/api/channel/", { ...channel, base_url: base })).toMatchObject({
      success: true,
    });
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  provider?.close();
});

const row = (name: string) => page.getByRole("row").filter({ hasText: name });
const names = () => page.locator(".grid-row .channel-name a").allTextContents();
const act = async (name: string, entry: string) => {
  await page.getByRole("button", { name: `Actions for ${name}`, exact: true }).click();
  await page.getByRole("menuitem", { name: entry, exact: true }).click();
};
const list = async (query: string) =>
  ((await asUser(page, "GET", `/api/channel/${query}`)) as { data: Record<string, unknown>[] }).data;

test("channels are found by id, name, key, model and group, and ordered by priority or id (C-200, C-201)", async () => {
  await page.goto("/channel");
  await expect.poll(names).toEqual(["Birch", "Alder", "Cedar"]);
  await page.getByLabel("Order").selectOption("id");
  await expect.poll(names).toEqual(["Cedar", "Birch", "Alder"]);
  await page.reload();
  await expect.poll(names).toEqual(["Cedar", "Birch", "Alder"]);
  await page.getByLabel("Order").selectOption("priority");
  const keyword = page.getByRole("searchbox", { name: "ID, name or key" });
  for (const [text, found] of [
    ["alder", ["Alder"]],
    ["2", ["Birch"]],
    ["sk-cedar", ["Cedar"]],
  ] as const) {
    await keyword.fill(text);
    await expect.poll(names, { message: text }).toEqual(found);
  }
  await keyword.fill("");
  await page.getByRole("searchbox", { name: "Model" }).fill("gpt-4o");
  await expect.poll(names).toEqual(["Alder", "Cedar"]);
  await page.getByLabel("Group", { exact: true }).selectOption("vip");
  await expect.poll(names).toEqual(["Cedar"]);
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ model: "gpt-4o", group: "vip" });
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await expect.poll(names).toEqual(["Birch", "Alder", "Cedar"]);
});

test("a row has the columns of compatible consoles (C-202)", async () => {
  await page.setViewportSize({ width: 1800, height: 900 });
  for (const name of ["ID", "Name", "Type", "State", "Group", "Response", "Used", "Balance", "Priority", "Weight"])
    await page.getByRole("columnheader", { name, exact: true }).waitFor();
  const cells = row("Cedar");
  for (const text of ["3", "Cedar", "Enabled", "default", "vip", "not tested", "$0.00"])
    await cells.getByText(text, { exact: true }).first().waitFor();
  expect(await cells.locator(".type-cell").textContent()).toContain("Azure OpenAI");
  await row("Alder").getByRole("button", { name: "Priority of Alder: 1. Edit" }).waitFor();
  await row("Alder").getByRole("button", { name: "Weight of Alder: 4. Edit" }).waitFor();
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("a click on a balance asks the provider for it, and all are asked at once (C-205, C-216)", async () => {
  await page.setViewportSize({ width: 1800, height: 900 });
  await row("Alder").getByRole("button", { name: "Balance of Alder: –. Refresh" }).click();
  await row("Alder").getByText("$42.5", { exact: false }).waitFor();
  expect(keysSeen).toContain("Bearer sk-alder");
  expect(
    await row("Cedar")
      .getByRole("button", { name: /^Balance of/ })
      .count(),
  ).toBe(0);
  await shoot(page, "channel-balances");
  expect(await axeFindings(page)).toEqual([]);
  USAGE.total_usage = 2_000;
  await page.getByRole("button", { name: "All channels…" }).click();
  await page.getByRole("menuitem", { name: "Update all balances" }).click();
  await row("Alder").getByText("$30", { exact: false }).waitFor();
  await page.getByText(/^Balances are updated: \d+ answered, \d+ did not\.$/).waitFor();
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("Refresh reads the list again (C-207)", async () => {
  await asUser(page, "PUT", "/api/channel/", { id: 2, name: "Beech" });
  expect(await names()).not.toContain("Beech");
  await page.getByRole("button", { name: "Refresh", exact: true }).click();
  await expect.poll(names).toContain("Beech");
  await asUser(page, "PUT", "/api/channel/", { id: 2, name: "Birch" });
});

test("a copy has the key of its channel, and neither its balance nor its spending (C-214, C-382)", async () => {
  await page.goto("/channel");
  await act("Alder", "Copy");
  await page.getByText(/^“Alder.*Copy” is created, with the same key\.$/).waitFor();
  const copy = (await list("?p=0&page_size=10&keyword=copy"))[0];
  expect(copy).toMatchObject({
    balance: 0,
    used_quota: 0,
    models: "gpt-4o,gpt-4o-mini",
    priority: 1,
    weight: 4,
    type: 1,
  });
  expect(String(copy?.["name"])).toMatch(/^Alder.*Copy$/);
  keysSeen.length = 0;
  await asUser(page, "GET", `/api/channel/update_balance/${String(copy?.["id"])}/`);
  expect(new Set(keysSeen)).toEqual(new Set(["Bearer sk-alder"]));
  // A failure shows its reason, and a channel that was deleted meanwhile is reported as deleted.
  await page.route("**/api/channel/*/copy", (route) =>
    route.fulfill({ json: { success: false, message: "the disk is full" } }),
  );
  await act("Birch", "Copy");
  await page.getByText("Channel replication failed: the disk is full").waitFor();
  await page.unroute("**/api/channel/*/copy");
  await asUser(page, "DELETE", `/api/channel/${String(copy?.["id"])}/`);
  await act(String(copy?.["name"]), "Copy");
  await page.getByText("Channel not found, please refresh the page and try again.").waitFor();
});

test("a row is switched, edited, weighed and deleted (C-211, C-212, C-213, C-215, C-217)", async () => {
  await page.goto("/channel");
  await act("Cedar", "Disable");
  await row("Cedar").getByText("Disabled", { exact: true }).waitFor();
  await expect.poll(() => row("Cedar").getAttribute("class")).toContain("is-muted");
  await act("Cedar", "Enable");
  await expect.poll(() => row("Cedar").getAttribute("class")).not.toContain("is-muted");
  const updates: unknown[] = [];
  page.on("request", (request) => {
    if (request.method() === "PUT" && request.url().endsWith("/api/channel/")) updates.push(request.postDataJSON());
  });
  const enter = async (label: RegExp, text: string) => {
    await row("Cedar").getByRole("button", { name: label }).click();
    await row("Cedar").getByRole("spinbutton").or(row("Cedar").getByRole("textbox")).fill(text);
    await page.keyboard.press("Enter");
  };
  await enter(/^Priority of Cedar/, "-1200");
  await row("Cedar").getByRole("button", { name: "Priority of Cedar: -999. Edit" }).waitFor();
  await enter(/^Weight of Cedar/, "5");
  await row("Cedar").getByRole("button", { name: "Weight of Cedar: 5. Edit" }).waitFor();
  await enter(/^Weight of Cedar/, "-4");
  await row("Cedar").getByRole("button", { name: "Weight of Cedar: 0. Edit" }).waitFor();
  await enter(/^Weight of Cedar/, "");
  await row("Cedar").getByRole("button", { name: "Weight of Cedar: 0. Edit" }).waitFor();
  expect(updates).toEqual([
    { id: 3, priority: -999 },
    { id: 3, weight: 5 },
    { id: 3, weight: 0 },
  ]);
  await act("Cedar", "Edit");
  const drawer = page.getByRole("dialog", { name: "Edit channel" });
  await drawer.getByLabel("Name").fill("Cypress");
  await drawer.getByRole("button", { name: "Save" }).click();
  await drawer.waitFor({ state: "detached" });
  await row("Cypress").waitFor();
  await act("Cypress", "Delete");
  const question = page.getByRole("alertdialog", { name: "Delete “Cypress”?" });
  await question.getByRole("button", { name: "Cancel" }).click();
  await row("Cypress").waitFor();
  await act("Cypress", "Delete");
  await question.getByRole("button", { name: "Delete" }).click();
  await row("Cypress").waitFor({ state: "detached" });
});

test("every field of the form is sent and comes back, and a row carries them all (C-219, C-231, C-232, C-234)", async () => {
  await page.goto("/channel/add");
  const drawer = page.getByRole("dialog", { name: "Add channel" });
  const field = (name: string) => drawer.getByRole("textbox", { name, exact: true });
  expect(await drawer.getByLabel("Type").inputValue()).toBe("1");
  await drawer.getByRole("button", { name: "Remove default", exact: true }).waitFor();
  expect(await drawer.getByRole("checkbox", { name: /^Disable by itself/ }).isChecked()).toBe(true);
  await drawer.getByLabel("Name").fill("Dogwood");
  await drawer.getByRole("textbox", { name: "Key" }).fill("sk-dogwood");
  await drawer.getByLabel("Base address").fill(base);
  await field("Organization").fill("org-1");
  const models = drawer.getByRole("combobox", { name: "Models" });
  await drawer.getByRole("button", { name: "Clear" }).click();
  await models.fill("own-1,own-2,own-1");
  await models.press("Enter");
  await page.getByText("Some models already exist!").waitFor();
  await field("Tag").fill("eu");
  await field("Priority").fill("7");
  await field("Weight").fill("3");
  await field("Most input tokens").fill("many");
  for (const name of ["Model mapping", "Status mapping"])
    await drawer
      .getByRole("group", { name: new RegExp(`^${name}: `) })
      .getByRole("button", { name: "JSON" })
      .click();
  await field("Model mapping").fill('{"own-1": ');
  await drawer.getByRole("button", { name: "Create channel" }).click();
  await drawer.getByText("The model mapping must be in a valid JSON format!").waitFor();
  await field("Model mapping").fill('{"own-1": "real-1"}');
  await field("Status mapping").fill('{"400": "500"}');
  await drawer.getByText("Enter a whole number of tokens, or nothing.").waitFor();
  await field("Most input tokens").fill("8000");
  await drawer.getByText("Disable by itself when the key fails").click();
  await field("Test model").fill("own-2");
  await shoot(page, "channel-form-full");
  await drawer.getByRole("button", { name: "Create channel" }).click();
  await drawer.waitFor({ state: "detached" });
  const made = (await list("?p=0&page_size=10&keyword=dogwood"))[0];
  expect(made).toMatchObject({
    name: "Dogwood",
    type: 1,
    key: "",
    base_url: base,
    openai_organization: "org-1",
    models: "own-1,own-2",
    group: "default",
    tag: "eu",
    priority: 7,
    weight: 3,
    max_input_tokens: 8000,
    model_mapping: '{"own-1": "real-1"}',
    status_code_mapping: '{"400": "500"}',
    auto_ban: 0,
    test_model: "own-2",
    status: 1,
    other: "",
    other_info: "",
    response_time: 0,
    test_time: 0,
    used_quota: 0,
    balance: 0,
    balance_updated_time: 0,
  });
  expect(made?.["created_time"]).toBeGreaterThan(1_700_000_000);
  await page.goto(`/channel/edit/${String(made?.["id"])}`);
  const edit = page.getByRole("dialog", { name: "Edit channel" });
  for (const [name, value] of [
    ["Name", "Dogwood"],
    ["Base address", base],
    ["Organization", "org-1"],
    ["Tag", "eu"],
    ["Priority", "7"],
    ["Weight", "3"],
    ["Most input tokens", "8000"],
    ["Test model", "own-2"],
  ] as const)
    expect(
      await edit.getByRole("textbox", { name, exact: name !== "Name" && name !== "Base address" }).inputValue(),
      name,
    ).toBe(value);
  expect(await edit.getByRole("textbox", { name: "Key" }).inputValue()).toBe("");
});

test("the models of a new channel follow its type, and buttons fill, fetch and clear them (C-235, C-236, C-237, C-391)", async () => {
  await page.goto("/channel/add");
  const drawer = page.getByRole("dialog", { name: "Add channel" });
  const section = drawer.getByRole("group", { name: "Models" });
  const countChosen = () => section.getByRole("button", { name: /^Remove / }).count();
  const has = (name: string) => drawer.getByRole("button", { name: `Remove ${name}`, exact: true }).waitFor();
  const { data: usual } = (await asUser(page, "GET", "/api/models")) as { data: Record<string, string[]> };
  const first = usual["1"]?.[0] ?? "";
  await has(first);
  await drawer.getByLabel("Type").selectOption("43");
  await has(usual["43"]?.[0] ?? "");
  expect(await drawer.getByRole("button", { name: `Remove ${first}`, exact: true }).count()).toBe(0);
  await drawer.getByRole("button", { name: "Clear" }).click();
  expect(await countChosen()).toBe(0);
  const models = drawer.getByRole("combobox", { name: "Models" });
  await models.fill("own");
  await models.press("Enter");
  // A list that the user edited stays.
  await drawer.getByLabel("Type").selectOption("1");
  await has("own");
  expect(await countChosen()).toBe(1);
  await drawer.getByRole("button", { name: "Usual models", exact: true }).click();
  await has(first);
  await has("own");
  await drawer.getByRole("button", { name: "Ask the provider" }).click();
  await page.getByText("Please enter the key.").waitFor();
  await drawer.getByRole("button", { name: "Clear" }).click();
  await drawer.getByRole("textbox", { name: "Key" }).fill("sk-dogwood");
  await drawer.getByLabel("Base address").fill(`${base}/nowhere`);
  await drawer.getByRole("button", { name: "Ask the provider" }).click();
  await page.getByText(/^Failed to retrieve the model list: /).waitFor();
  await drawer.getByLabel("Base address").fill(base);
  const foreign: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(gateway.url)) foreign.push(request.url());
  });
  keysSeen.length = 0;
  await drawer.getByRole("button", { name: "Ask the provider" }).click();
  await page.getByText("The provider offers 2 models; 2 are new here.").waitFor();
  await has("gpt-quay");
  // The gateway sends the request, not the browser.
  expect([foreign, keysSeen]).toEqual([[], ["Bearer sk-dogwood"]]);
  await drawer.getByRole("button", { name: "Clear" }).click();
  const { data: all } = (await asUser(page, "GET", "/api/channel/models")) as { data: object[] };
  await drawer.getByRole("button", { name: "All models" }).click();
  await drawer.getByRole("button", { name: `+${all.length - 40} more` }).waitFor();
  await shoot(page, "channel-all-models");
  await drawer.getByRole("button", { name: "Clear" }).click();
  expect(await countChosen()).toBe(0);
});

test("types that need more have a field for it, and say what belongs there (C-238)", async () => {
  await page.goto("/channel/add");
  const drawer = page.getByRole("dialog", { name: "Add channel" });
  for (const [type, hasBase, hint] of PARTS) {
    await drawer.getByLabel("Type").selectOption(String(type));
    await expect
      .poll(() => drawer.getByLabel("Base address").getAttribute("required"), { message: `${type}` })
      .toBe(hasBase ? "" : null);
    if (hint) {
      await drawer.getByText(hint).waitFor();
      expect(await drawer.getByLabel("Further setting").inputValue(), `${type}`).toBe(DEFAULTS[type] ?? "");
    }
    if (!hint) expect(await drawer.getByLabel("Further setting").count(), `${type}`).toBe(0);
  }
  await drawer.getByLabel("Name").fill("Elm");
  await drawer.getByRole("textbox", { name: "Key" }).fill('{"project_id": "quay",\n"private_key": "x"}');
  await drawer.getByLabel("Further setting").fill('{"default": "europe-west1"}');
  // A service account has many lines but is one key.
  expect(await drawer.getByLabel("These keys make").count()).toBe(0);
  await drawer.getByRole("button", { name: "Create channel" }).click();
  await drawer.waitFor({ state: "detached" });
  expect((await list("?p=0&page_size=10&keyword=elm"))[0]).toMatchObject({
    type: 41,
    other: '{"default": "europe-west1"}',
  });
});

test("every type of compatible gateways has its name, and those that ended come last (C-241)", async () => {
  const { data: types } = (await asUser(page, "GET", "/api/channel/types")) as {
    data: { type: number; label: string; retired: boolean }[];
  };
  const byType = new Map(types.map((type) => [type.type, type]));
  for (const [type, label] of Object.entries(TYPES)) expect(byType.get(Number(type))?.label).toBe(label);
  await page.goto("/channel/add");
  await page.getByRole("dialog").getByRole("button", { name: "Create channel" }).waitFor();
  const offered = await page
    .getByRole("dialog")
    .getByLabel("Type")
    .locator("option")
    .evaluateAll((all) => all.map((one) => [Number((one as HTMLOptionElement).value), one.textContent]));
  const ended = types.filter(({ retired }) => retired);
  expect(offered).toHaveLength(types.length);
  expect(offered.slice(-ended.length)).toEqual(
    ended.map(({ type, label }) => [type, `${label} (ended by its vendor)`]),
  );
});

test("nothing went wrong behind the pages", () => {
  expect(faults).toEqual([]);
});
