import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser } from "./session.ts";

// Many at once: the keys of one channel, and what is done to many rows and fails for some of them.

let opened: OpenConsole;
let upstream: OpenConsole["upstream"];
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  opened = await openConsole();
  ({ upstream, page, faults } = opened);
});

afterAll(() => opened?.close());

const KEYS = ["sk-first-key-00001111", "sk-second-key-00002222", "sk-third-key-00003333"];

const row = (name: string) => page.getByRole("row").filter({ hasText: name });
const drawer = (name: string) => page.getByRole("dialog", { name });

/** As a paste from a file of another system. */
async function paste(field: Locator, text: string): Promise<void> {
  await field.focus();
  await page.keyboard.insertText(text);
}

test("keys pasted into a new channel are one channel's, when that is chosen (C-240)", async () => {
  await page.goto("/channel/add");
  const form = drawer("Add channel");
  await form.getByLabel("Name").fill("Harbour");
  await paste(form.getByRole("textbox", { name: "Key" }), `${KEYS[0]}\r\n\r\n${KEYS[1]}\r\n`);
  await form.getByText("2 keys: 2 channels will be created.").waitFor();
  await form.getByLabel("These keys make").selectOption({ label: "One channel that uses them all" });
  await form.getByText("2 keys: they all belong to one channel.").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await form.getByLabel("Base address").fill(upstream.url);
  await form.getByLabel("Tag").fill("north");
  await form.getByRole("button", { name: "Create channel" }).click();
  await form.waitFor({ state: "detached" });
  await row("Harbour").getByText("north").waitFor();
  expect(await row("Harbour").count()).toBe(1);
});

test("keys pasted into an existing channel replace its keys, and those that stay keep their state", async () => {
  await row("Harbour").getByRole("link", { name: "Harbour" }).click();
  const form = drawer("Edit channel");
  const single = form.getByRole("group", { name: "Single keys" });
  await single.getByText("2 of 2 in use").waitFor();
  await single.getByRole("button", { name: "Disable key #1 …2222" }).click();
  await single.getByText("1 of 2 in use").waitFor();

  const key = form.getByRole("textbox", { name: "Key" });
  expect(await key.getAttribute("placeholder")).toMatch(/^Unchanged: 2 keys/);
  await paste(key, `${KEYS[1]}\n${KEYS[2]}\n${KEYS[0]}\n`);
  await form.getByText("The 3 entered here replace all 2 of the channel.", { exact: false }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "channel-many-keys");
  await form.getByRole("button", { name: "Test", exact: true }).click();
  await form.getByText(/The provider answered in/).waitFor();
  await form.getByRole("button", { name: "Save" }).click();
  await form.waitFor({ state: "detached" });

  await row("Harbour").getByRole("link", { name: "Harbour" }).click();
  await single.getByText("2 of 3 in use").waitFor();
  await single.getByText("#0 …2222").waitFor();
  await single.getByText("#2 …1111").waitFor();
  await single.getByRole("button", { name: "Enable key #0 …2222" }).waitFor();
  await form.getByRole("button", { name: "Cancel" }).click();
  await form.waitFor({ state: "detached" });
});

async function addChannel(name: string, base_url: string): Promise<void> {
  const body = { name, type: 1, key: `sk-${name}`, models: "gpt-4o", base_url };
  expect(await asUser(page, "POST", "/api/channel/", body)).toMatchObject({ success: true });
}

const report = () => page.getByRole("alertdialog");

test("tests of many channels tell which failed and why, keep those selected, and try them again (C-209)", async () => {
  await addChannel("Wreck", "http://127.0.0.1:1");
  await addChannel("Reef", "http://127.0.0.1:1");
  await page.goto("/channel");
  await row("Wreck").waitFor();
  await page.getByRole("checkbox", { name: "Select all rows of this page" }).check();
  const bar = page.getByRole("region", { name: "3 selected" });
  expect(await axeFindings(page)).toEqual([]);
  await bar.getByRole("button", { name: "Test", exact: true }).click();
  await report().getByRole("heading", { name: "Test: 2 of 3 failed" }).waitFor();
  await page.getByText("1 channel answered.").waitFor();
  const reasons = report().getByRole("list", { name: "What failed, and why" }).getByRole("listitem");
  expect(await reasons.count()).toBe(2);
  for (const text of await reasons.allTextContents()) expect(text).toMatch(/^(Wreck|Reef).{10,}/);
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "bulk-report");
  await report().getByRole("button", { name: "Close" }).click();
  await page.getByRole("region", { name: "2 selected" }).waitFor();
  expect(await row("Wreck").getByRole("checkbox").isChecked()).toBe(true);
  expect(await row("Harbour").getByRole("checkbox").isChecked()).toBe(false);

  await page.getByRole("button", { name: "Test", exact: true }).click();
  await report().getByRole("heading", { name: "Test: 2 of 2 failed" }).waitFor();
  for (const name of ["Wreck", "Reef"]) await repair(name);
  await report().getByRole("button", { name: "Try again (2)" }).click();
  await page.getByText("2 channels answered.").waitFor();
  await report().waitFor({ state: "detached" });
  await page.getByRole("region", { name: /selected/ }).waitFor({ state: "detached" });
});

async function repair(name: string): Promise<void> {
  const found = (await asUser(page, "GET", `/api/channel/search?keyword=${name}`)) as { data: { id: number }[] };
  const body = { id: found.data[0]?.id, base_url: upstream.url };
  expect(await asUser(page, "PUT", "/api/channel/", body)).toMatchObject({ success: true });
}

test("sets a tag on many rows and names those that no longer exist", async () => {
  await page.getByRole("checkbox", { name: "Select Wreck" }).check();
  await page.getByRole("checkbox", { name: "Select Reef" }).check();
  const found = (await asUser(page, "GET", "/api/channel/search?keyword=Reef")) as { data: { id: number }[] };
  expect(await asUser(page, "DELETE", `/api/channel/${found.data[0]?.id}`)).toMatchObject({ success: true });
  await page.getByRole("button", { name: "Tag", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Tag 2 channels" });
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByLabel("Tag").fill("south");
  await page.keyboard.press("Enter");
  await report().getByRole("heading", { name: "Tag: 1 of 2 failed" }).waitFor();
  await report().getByText("Reef").waitFor();
  await report().getByRole("button", { name: "Close" }).click();
  await row("Wreck").getByText("south").waitFor();
  await page.getByRole("searchbox", { name: "Tag" }).fill("south");
  await row("Harbour").waitFor({ state: "detached" });
  await page.reload();
  await row("Wreck").waitFor();
  expect(await row("Harbour").count()).toBe(0);
});

test("an action that gets no answer keeps all selected and can be tried again", async () => {
  await page.goto("/channel");
  await page.getByRole("checkbox", { name: "Select all rows of this page" }).check();
  await page.route("**/api/channel/bulk", (route) => route.abort());
  await page.getByRole("button", { name: "Disable", exact: true }).click();
  await report().getByRole("heading", { name: "Disable: 2 of 2 failed" }).waitFor();
  expect(await report().getByText("Unable to connect to the server!").count()).toBe(2);
  await page.unrouteAll({ behavior: "wait" });
  await report().getByRole("button", { name: "Try again (2)" }).click();
  await page.getByText("2 channels are changed.").waitFor();
  await row("Wreck").getByText("Disabled", { exact: true }).waitFor();
});

test("switches and deletes many tokens and codes and names each refused one", async () => {
  for (const name of ["one", "two", "three"])
    expect(await asUser(page, "POST", "/api/token/", { name, unlimited_quota: true })).toMatchObject({ success: true });
  await page.goto("/token");
  await row("one").waitFor();
  await page.getByRole("checkbox", { name: "Select all rows of this page" }).check();
  const found = (await asUser(page, "GET", "/api/token/search?keyword=two")) as { data: { id: number }[] };
  expect(await asUser(page, "DELETE", `/api/token/${found.data[0]?.id}`)).toMatchObject({ success: true });
  await page.getByRole("button", { name: "Disable", exact: true }).click();
  await report().getByRole("heading", { name: "Disable: 1 of 3 failed" }).waitFor();
  await report().getByText("two").waitFor();
  await report().getByRole("button", { name: "Close" }).click();
  await row("three").getByText("Disabled", { exact: true }).waitFor();
  await page.getByRole("checkbox", { name: "Select all rows of this page" }).check();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("alertdialog", { name: "Delete 2 tokens?" }).getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "Create your first token" }).waitFor();

  const codes = { name: "spring", quota: 500_000, count: 2 };
  expect(await asUser(page, "POST", "/api/redemption/", codes)).toMatchObject({ success: true });
  await page.goto("/redemption");
  await row("spring").first().waitFor();
  await page.getByRole("checkbox", { name: "Select all rows of this page" }).check();
  await page.getByRole("button", { name: "Disable", exact: true }).click();
  await page.getByText("2 codes are changed.").waitFor();
});

test("all channels are tested with progress in sight, and the routing table is repaired (C-204, C-208)", async () => {
  let answer = (): void => {};
  const isAnswered = new Promise<void>((resolve) => (answer = resolve));
  const slow = createServer((_request, response) => void isAnswered.then(() => response.writeHead(500).end()));
  await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
  await addChannel("Shoal", `http://127.0.0.1:${(slow.address() as AddressInfo).port}`);
  await page.goto("/channel");
  await row("Shoal").waitFor();
  const menu = page.getByRole("button", { name: "All channels…" });
  await menu.click();
  await page.getByRole("menuitem", { name: "Test all channels" }).click();
  const bar = page.getByRole("progressbar", { name: "Testing all channels" });
  await bar.waitFor();
  await page.getByText(/^\d of \d · 0 failed$/).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "channels-testing-all");
  await page.reload();
  await bar.waitFor();
  answer();
  await page.getByText(/^All channels are tested: \d answered, 1 failed\.$/).waitFor();
  await bar.waitFor({ state: "detached" });
  slow.closeAllConnections();
  await new Promise((resolve) => slow.close(resolve));

  await menu.click();
  await page.getByRole("menuitem", { name: "Repair the routing table" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Repair the routing table" }).click();
  await page.getByText(/\d channels are in the routing table\./).waitFor();
});

test("disabled channels are counted before they are deleted (C-206)", async () => {
  const menu = page.getByRole("button", { name: "All channels…" });
  await menu.click();
  await page.getByRole("menuitem", { name: "Delete disabled channels" }).click();
  const question = page.getByRole("alertdialog", { name: /^Delete \d disabled channels\?$/ });
  expect(await axeFindings(page)).toEqual([]);
  await question.getByRole("button", { name: "Delete" }).click();
  await page.getByText(/^\d channels are deleted\.$/).waitFor();
  await row("Wreck").waitFor({ state: "detached" });
  await menu.click();
  await page.getByRole("menuitem", { name: "Delete disabled channels" }).click();
  await page.getByText("No channel is disabled.").waitFor();
});

test("nothing went wrong behind the pages", () => {
  // Provoked above: the call that was not let through.
  expect(faults.filter((fault) => !/net::ERR_FAILED/.test(fault))).toEqual([]);
});
