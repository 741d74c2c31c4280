import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Locator, Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser } from "./session.ts";

// Many at once: the keys of one channel, and bulk actions that fail for some rows.

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

/** Pastes text from a file of another operating system. */
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
  await single.getByRole("button", { name: "Disable key 2 …2222" }).click();
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
  await single.getByText("Key 1 …2222").waitFor();
  await single.getByText("Key 3 …1111").waitFor();
  await single.getByRole("button", { name: "Enable key 1 …2222" }).waitFor();
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

test("changes many users after a preview, leaves those out of reach, and takes it back", async () => {
  for (const name of ["ada", "grace", "joan"])
    expect(
      await asUser(page, "POST", "/api/user/", { username: name, password: "berth-number-7" }),
      name,
    ).toMatchObject({ success: true });
  await page.goto("/user");
  await row("joan").waitFor();
  await page.getByRole("checkbox", { name: "Select all rows of this page" }).check();
  await page.getByRole("region", { name: "4 selected" }).getByRole("button", { name: "Change…" }).click();
  const dialog = page.getByRole("dialog", { name: "Change 4 users" });
  await dialog.getByText("Nothing changes yet.").waitFor();
  await dialog.getByLabel("Group").selectOption("vip");
  await dialog.getByLabel("State").selectOption({ label: "Disable" });
  await dialog.getByLabel("Add to the balance").fill("five");
  await dialog.getByRole("button", { name: /^Change/ }).click();
  await dialog.getByText("Enter an amount such as 5 or -2.5.").waitFor();
  await dialog.getByLabel("Add to the balance").fill("5");
  await dialog.getByText("3 users change, 1 stays as it is.").waitFor();
  const lines = dialog.getByRole("list", { name: "Preview" }).getByRole("listitem");
  expect((await lines.allTextContents()).toSorted()[0]).toBe(
    "adaState Activated → BannedGroup default → vipBalance $0.00 → $5.00",
  );
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "users-bulk-change");
  const users = async () =>
    (
      (await asUser(page, "GET", "/api/user/?page_size=10&sort=username&order=asc")) as {
        data: { username: string; status: number; group: string; quota: number }[];
      }
    ).data
      .filter(({ username }) => username !== "root")
      .map(({ username, status, group, quota }) => [username, status, group, quota]);
  // Another administrator changes one of them first.
  const { data: found } = (await asUser(page, "GET", "/api/user/search?keyword=joan")) as { data: { id: number }[] };
  expect(await asUser(page, "POST", "/api/user/manage", { id: found[0]?.id, action: "disable" })).toMatchObject({
    success: true,
  });
  expect(await asUser(page, "PUT", "/api/user/", { id: found[0]?.id, group: "svip" })).toMatchObject({ success: true });
  await dialog.getByRole("button", { name: "Change 3" }).click();
  await report().getByRole("heading", { name: "Change: 1 of 3 failed" }).waitFor();
  await report().getByText("It was changed after the preview had been made. Nothing was sent for it.").waitFor();
  await report().getByRole("button", { name: "Close" }).click();
  expect(await users()).toEqual([
    ["ada", 2, "vip", 2_500_000],
    ["grace", 2, "vip", 2_500_000],
    ["joan", 2, "svip", 0],
  ]);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("2 users are as they were.").waitFor();
  expect((await users()).slice(0, 2)).toEqual([
    ["ada", 1, "default", 0],
    ["grace", 1, "default", 0],
  ]);
});

test("request limits of many users are replaced after a preview, and restored", async () => {
  const limits = async () => {
    const { data } = (await asUser(page, "GET", "/api/user/?page_size=10&sort=username&order=asc")) as {
      data: { username: string; limits: object }[];
    };
    return data.filter(({ username }) => username !== "root").map((user) => user.limits);
  };
  const { data: found } = (await asUser(page, "GET", "/api/user/search?keyword=grace")) as { data: { id: number }[] };
  await asUser(page, "PUT", "/api/user/", { id: found[0]?.id, limits: { tpm: 900 } });
  await page.goto("/user");
  await row("joan").waitFor();
  await page.getByRole("checkbox", { name: "Select all rows of this page" }).check();
  await page.getByRole("button", { name: "Change…" }).click();
  const dialog = page.getByRole("dialog", { name: "Change 4 users" });
  await dialog.getByLabel("Request limits").selectOption({ label: "Replace them" });
  await dialog.getByLabel("Requests a minute").fill("many");
  await dialog.getByRole("button", { name: /^Change/ }).click();
  await dialog.getByText("Enter a whole number above 0, or nothing.").waitFor();
  await dialog.getByLabel("Requests a minute").fill("60");
  const lines = dialog.getByRole("list", { name: "Preview" }).getByRole("listitem");
  await expect
    .poll(async () => (await lines.allTextContents()).toSorted()[1])
    .toBe("graceRequest limits 900 tokens/min → 60 requests/min");
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Change 3" }).click();
  await page.getByText("3 users are changed.").waitFor();
  expect(await limits()).toEqual([{ rpm: 60 }, { rpm: 60 }, { rpm: 60 }]);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("3 users are as they were.").waitFor();
  expect(await limits()).toEqual([{}, { tpm: 900 }, {}]);
});

test("an amount whose answer was lost counts once when it is sent again, of many users and of one", async () => {
  const balances = async () => {
    const { data } = (await asUser(page, "GET", "/api/user/search?keyword=ada")) as { data: { quota: number }[] };
    return data.map(({ quota }) => quota);
  };
  const [before = 0] = await balances();
  let lost = 0;
  const lose = async (route: Route) => {
    const answer = await route.fetch();
    if (!(route.request().postData() ?? "").includes("add_quota") || lost > 0)
      return route.fulfill({ response: answer });
    lost += 1;
    return route.abort();
  };
  await page.route("**/api/user/manage", lose);
  await page.goto("/user?q=ada");
  await page.getByRole("checkbox", { name: "Select ada" }).check();
  await page.getByRole("button", { name: "Change…" }).click();
  await page.getByRole("dialog", { name: "Change 1 user" }).getByLabel("Add to the balance").fill("5");
  await page.getByRole("button", { name: "Change 1", exact: true }).click();
  await report().getByRole("button", { name: "Try again" }).click();
  await page.getByText("1 user is changed.").waitFor();
  expect([lost, await balances()]).toEqual([1, [before + 2_500_000]]);
  lost = 0;
  await row("ada").getByRole("link", { name: "ada" }).click();
  const form = drawer("Edit user");
  await form.getByLabel("Add to the balance").fill("-5");
  await form.getByRole("button", { name: "Save" }).click();
  await expect.poll(() => lost).toBe(1);
  await form.getByRole("button", { name: "Save" }).click();
  await form.waitFor({ state: "detached" });
  expect(await balances()).toEqual([before]);
  await page.unroute("**/api/user/manage", lose);
});

test("selects all users that match the filters, and disables and deletes them", async () => {
  for (let index = 0; index < 12; index += 1)
    await asUser(page, "POST", "/api/user/", { username: `mate-${index}`, password: "berth-number-7" });
  await page.goto("/user?q=mate-&size=10");
  await row("mate-11").waitFor();
  await page.getByRole("checkbox", { name: "Select all rows of this page" }).check();
  await page.getByRole("button", { name: "Select all 12 that match" }).click();
  const bar = page.getByRole("region", { name: "12 selected" });
  await bar.getByRole("button", { name: "Disable", exact: true }).click();
  await page.getByText("12 users are changed.").waitFor();
  await page.getByRole("checkbox", { name: "Select all rows of this page" }).check();
  await page.getByRole("button", { name: "Select all 12 that match" }).click();
  await bar.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("alertdialog", { name: "Delete 12 users?" }).getByRole("button", { name: "Delete" }).click();
  await page.getByText("12 users are deleted.").waitFor();
});

test("changes many codes after a preview, and takes it back", async () => {
  const codes = { name: "summer", quota: 500_000, count: 2 };
  expect(await asUser(page, "POST", "/api/redemption/", codes)).toMatchObject({ success: true });
  await page.goto("/redemption?q=summer");
  await row("summer").first().waitFor();
  await page.getByRole("checkbox", { name: "Select all rows of this page" }).check();
  await page.getByRole("button", { name: "Change…" }).click();
  const dialog = page.getByRole("dialog", { name: "Change 2 codes" });
  await dialog.getByLabel("Value").fill("0");
  await dialog.getByRole("button", { name: /^Change/ }).click();
  await dialog.getByText("Enter an amount above 0.").waitFor();
  await dialog.getByLabel("Value").fill("2");
  await dialog.getByLabel("Name").fill("summer-2");
  await dialog.getByLabel("State").selectOption({ label: "Disable" });
  await dialog.getByText("2 codes change, 0 stay as they are.").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Change 2" }).click();
  await page.getByText("2 codes are changed.").waitFor();
  const found = async () =>
    (
      (await asUser(page, "GET", "/api/redemption/search?keyword=summer")) as {
        data: { name: string; quota: number; status: number }[];
      }
    ).data.map(({ name, quota, status }) => [name, quota, status]);
  expect(await found()).toEqual(Array.from({ length: 2 }, () => ["summer-2", 1_000_000, 2]));
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("2 codes are as they were.").waitFor();
  expect(await found()).toEqual(Array.from({ length: 2 }, () => ["summer", 500_000, 1]));
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
  // The blocked call was provoked above.
  expect(faults.filter((fault) => !/net::ERR_FAILED/.test(fault))).toEqual([]);
});
