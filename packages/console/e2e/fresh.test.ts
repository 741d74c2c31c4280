import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser, setOption, signIn } from "./session.ts";

// A page shows the latest changes, and a link leads where it says.

let opened: OpenConsole;
let gateway: OpenConsole["gateway"];
let browser: OpenConsole["browser"];
let page: Page;

beforeAll(async () => {
  opened = await openConsole();
  ({ gateway, browser, page } = opened);
  const channel = {
    type: 1,
    name: "dead",
    key: "sk-1",
    models: "gpt-4o",
    base_url: "http://127.0.0.1:9",
    multi_key: true,
  };
  expect(await asUser(page, "POST", "/api/channel/", channel)).toMatchObject({ success: true });
});

afterAll(() => opened?.close());

function open(name: string): Promise<void> {
  return page.getByRole("navigation", { name: "Main navigation" }).getByRole("link", { name, exact: true }).click();
}

test("prices follow the ratios as soon as these are saved", async () => {
  await page.goto("/pricing");
  const row = page.getByRole("row").filter({ has: page.getByText("gpt-4o", { exact: true }) });
  await row.waitFor();
  await open("Settings");
  const index = page.getByRole("navigation", { name: "Settings: sections" });
  await index.getByRole("link", { name: "Prices", exact: true }).click();
  const ratios = page.getByRole("group", { name: "Model ratio", exact: true });
  await ratios.getByRole("searchbox").fill("gpt-4o");
  await ratios.getByLabel("Ratio: gpt-4o", { exact: true }).fill("50");
  await page.getByRole("region", { name: "What changes" }).getByText("$100 / 1M").waitFor();
  await page.getByText("1 model changes price: gpt-4o").waitFor();
  await page.getByRole("group", { name: "Prices", exact: true }).getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").first().waitFor();
  await open("Model price");
  await row.getByText("$100.00", { exact: true }).waitFor({ timeout: 5_000 });
});

test("prices are edited as dollars in a table, and a change by another user is reported", async () => {
  await page.goto("/setting?tab=prices");
  const cell = (name: string) => page.getByRole("textbox", { name: `${name} of gpt-4o, in dollars`, exact: true });
  await expect.poll(() => cell("Input / 1M").inputValue()).toBe("100");
  await cell("Output / 1M").fill("1,5");
  await page.getByRole("alert").filter({ hasText: "Not a price: gpt-4o" }).waitFor();
  expect(await page.getByRole("button", { name: "Review changes (1)" }).isDisabled()).toBe(true);
  await cell("Input / 1M").fill("3");
  await cell("Output / 1M").fill("12");
  await cell("Cached / 1M").fill("0.3");
  await page.getByRole("row").filter({ hasText: "gpt-4o" }).getByText("1.5 · 4 · 0.1").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "prices");
  await setOption(page, "ModelRatio", '{"gpt-4o":40,"other":2}');
  await page.getByRole("button", { name: "Review changes (1)" }).click();
  const review = page.getByRole("dialog", { name: "Change prices?" });
  await review.getByText("1 model has another price for every call after saving.").waitFor();
  const line = review.getByRole("list", { name: "Preview" }).getByRole("listitem");
  expect((await line.allTextContents())[0]).toBe(
    "gpt-4oInput / 1M $100 → $3 (-97%)Output / 1M $400 → $12 (-97%)Cached / 1M $50 → $0.3 (-99.4%)",
  );
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "prices-review");
  await review.getByRole("button", { name: "Cancel" }).click();
  await review.waitFor({ state: "detached" });
  expect(await cell("Input / 1M").inputValue()).toBe("3");
  await page.getByRole("button", { name: "Review changes (1)" }).click();
  await review.getByRole("button", { name: "Save changes (1)" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Save mine" }).click();
  await page.getByText("Saved.").first().waitFor();
  const options = async () => {
    const { data } = (await asUser(page, "GET", "/api/option/")) as { data: { key: string; value: string }[] };
    return Object.fromEntries(data.map(({ key, value }) => [key, value]));
  };
  const { ModelRatio, CompletionRatio, CacheRatio } = await options();
  expect(ModelRatio).toBe('{"gpt-4o":1.5,"other":2}');
  expect(JSON.parse(CompletionRatio ?? "")).toMatchObject({ "gpt-4o": 4 });
  expect(JSON.parse(CacheRatio ?? "")).toMatchObject({ "gpt-4o": 0.1 });

  await page.getByRole("searchbox", { name: "Model" }).fill("painter");
  await page.getByRole("button", { name: "Price “painter”" }).click();
  await page.getByRole("textbox", { name: "Per call of painter, in dollars" }).fill("0.04");
  await page.getByRole("button", { name: "Review changes (1)" }).click();
  await review.getByText("painter").waitFor();
  await review.getByRole("button", { name: "Save changes (1)" }).click();
  await expect.poll(async () => (await options())["ModelPrice"]).toContain('"painter":0.04');
});

test("an option tells what it was before, and an earlier value can be put back", async () => {
  await page.goto("/setting?tab=operation&q=ModelRatio");
  await page.getByRole("button", { name: "History of Model ratio" }).click();
  const history = page.getByRole("dialog", { name: "History of Model ratio" });
  const newest = history.getByRole("listitem").filter({ hasText: "root" }).first();
  await newest.getByText("gpt-4o").waitFor();
  await newest.getByText("1.5").waitFor();
  expect(await newest.getByText("other").count(), "what stayed is left out").toBe(0);
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "option-history");
  await newest.getByRole("button", { name: "Put the old value back" }).click();
  await history.waitFor({ state: "detached" });
  expect(
    await page
      .getByRole("group", { name: "Model ratio", exact: true })
      .getByLabel("Ratio: gpt-4o", { exact: true })
      .inputValue(),
  ).toBe("40");
  expect(
    await page.getByRole("group", { name: "Model ratio", exact: true }).getByLabel("Ratio: other").inputValue(),
  ).toBe("2");
  await page.getByText("1 unsaved").waitFor();
  await page.getByRole("button", { name: "Discard" }).click();
});

test("Refresh reads the totals of the log too", async () => {
  await page.goto("/log");
  await page.getByText("Spend").waitFor();
  const stat = page.waitForRequest(/\/api\/log\/stat/, { timeout: 3_000 });
  await page.getByRole("button", { name: "Refresh" }).click();
  await stat;
});

test("the wallet's way to the credits shows those of other days", async () => {
  await page.goto("/topup");
  const list = page.waitForRequest((request) => /\/api\/log\/\?/.test(request.url()));
  await page.getByRole("link", { name: "Credits in the log" }).click();
  const query = new URL((await list).url()).searchParams;
  expect(query.get("type")).toBe("1");
  expect(Number(query.get("start_timestamp"))).toBe(0);
});

test("a failed test shows as failed in the row", async () => {
  await page.goto("/channel");
  const row = page.getByRole("row").filter({ hasText: "dead" });
  await row.getByText("not tested").waitFor();
  await row.getByRole("button", { name: /^Test/ }).click();
  await page.getByRole("alert").waitFor();
  await expect.poll(() => row.textContent(), { timeout: 3_000 }).toContain("failed");
});

test("adding keeps the filters of the list", async () => {
  for (const path of ["/token", "/channel", "/user", "/redemption", "/budget"]) {
    await page.goto(`${path}?q=de`);
    await page.getByRole("main").locator('a[href*="/add"]').first().waitFor();
    await page.keyboard.press("c");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.waitForURL((url) => url.pathname === path && url.searchParams.get("q") === "de", { timeout: 3_000 });
  }
});

test("the budget of a user who was chosen is theirs", async () => {
  await page.goto("/budget?scope=user&q=1");
  await page.getByRole("link", { name: "Add budget" }).first().click();
  const drawer = page.getByRole("dialog", { name: "Add budget" });
  await expect.poll(() => drawer.getByRole("combobox", { name: "User" }).inputValue()).toBe("root #1");
});

test("focus stays on a number that was edited in its cell", async () => {
  await page.goto("/channel");
  const weight = page.getByRole("button", { name: /^Weight of dead/ });
  await weight.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.type("7");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Weight of dead: 7. Edit" }).waitFor();
  expect(await page.evaluate(() => document.activeElement?.ariaLabel)).toBe("Weight of dead: 7. Edit");
});

test("unlimited tokens are made in any number", async () => {
  await page.goto("/token/add");
  const drawer = page.getByRole("dialog", { name: "Add token" });
  await drawer.getByLabel("Name").fill("many");
  await drawer.getByText("No limit of its own").click();
  await drawer.getByLabel("How many").fill("2", { timeout: 3_000 });
  await drawer.getByRole("button", { name: "Create token" }).click();
  await page.getByRole("dialog", { name: "2 new keys" }).waitFor();
});

test("a token that ends after all dates is shown, and may be edited", async () => {
  const token = { name: "eternal", remain_quota: 1, expired_time: Number.MAX_SAFE_INTEGER };
  expect(await asUser(page, "POST", "/api/token/", token)).toMatchObject({ success: true });
  await page.goto("/token");
  await page.getByRole("link", { name: "eternal" }).click();
  await page.getByRole("dialog", { name: "Edit token" }).getByLabel("Name").waitFor();
});

test("one's own account follows what was changed of it among the users", async () => {
  await page.goto("/setting");
  await page.getByLabel("Display name").waitFor();
  await open("User Management");
  await page.getByRole("link", { name: "root", exact: true }).click();
  const drawer = page.getByRole("dialog", { name: "Edit user" });
  await drawer.getByLabel("Display name").fill("Harbour master");
  await drawer.getByRole("button", { name: "Save" }).click();
  await drawer.waitFor({ state: "detached" });
  await open("Settings");
  await expect.poll(() => page.getByLabel("Display name").inputValue(), { timeout: 3_000 }).toBe("Harbour master");
});

test("who has nothing to spend is led to the wallet first", async () => {
  const grace = { username: "grace", password: "hopper-1906", display_name: "Grace" };
  expect(await asUser(page, "POST", "/api/user/", grace)).toMatchObject({ success: true });
  const { page: own } = await openPage(browser, gateway.url);
  await signIn(own, grace.username, grace.password);
  await own.route("**/api/log/self*", (route) => route.abort());
  await own.goto("/");
  const failed = own.getByRole("heading", { name: "This could not be loaded" });
  await expect.poll(() => failed.count()).toBe(2);
  await own.unrouteAll({ behavior: "wait" });
  await own.getByRole("button", { name: "Try again" }).first().click();
  await expect.poll(() => failed.count()).toBe(0);
  await own.getByText("Requests appear here as soon as they come.").waitFor();
  await own.getByRole("heading", { name: "Add to your balance" }).waitFor();
  await own.getByRole("link", { name: "Open the wallet" }).click();
  await own.getByRole("heading", { level: 1, name: "Wallet" }).waitFor();
  await own.context().close();
});
