import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser, option, setOption } from "./session.ts";

// The settings of the gateway: searched, edited as tables or as JSON, previewed before they are saved.

let opened: OpenConsole;
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  opened = await openConsole();
  ({ page, faults } = opened);
});

afterAll(() => opened?.close());

async function stored(key: string): Promise<string | undefined> {
  const { data } = (await asUser(page, "GET", "/api/option/")) as { data: { key: string; value: string }[] };
  return data.find((row) => row.key === key)?.value;
}

const save = () => page.getByRole("main").getByRole("button", { name: "Save", exact: true }).click();

test("no section is longer than a few screens, and the index leads to each (C-130)", async () => {
  await page.goto("/setting?tab=operation");
  const index = page.getByRole("navigation", { name: "Settings: sections" });
  await index.getByRole("link", { name: "Mail", exact: true }).waitFor();
  const names = await index.getByRole("link").allInnerTexts();
  expect(names.length).toBeGreaterThan(25);
  for (const name of ["Quota", "Prices", "Limits and queues", "Mail", "Texts and logo"]) {
    await index.getByRole("link", { name, exact: true }).click();
    await page.getByRole("group", { name, exact: true }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollHeight), name).toBeLessThan(4_000);
  }
});

test("an option is found by its label, its key, and what it does", async () => {
  await page.goto("/setting?tab=operation");
  const find = page.getByRole("searchbox", { name: "Find an option" });
  for (const words of ["retries", "RetryTimes", "further channels"]) {
    await find.fill(words);
    await page.locator(option("RetryTimes")).waitFor();
    expect(await page.getByText("RetryTimes", { exact: true }).count(), "the key is under the label").toBe(1);
  }
});

test("an address leads to its option, however long the options take to load", async () => {
  await page.route("**/api/option/", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await route.continue();
  });
  await page.goto("/setting?tab=operation&section=routing#option-RetryTimes");
  await page.locator(option("RetryTimes")).waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute("name"))).toBe("RetryTimes");
  await page.unrouteAll({ behavior: "wait" });
});

test("groups are one table, and saving says what it changes (C-138)", async () => {
  await page.goto("/setting?tab=operation&section=groups");
  const groups = page.getByRole("group", { name: "Groups", exact: true });
  await groups.getByLabel("Price ×: vip").fill("0.8");
  await groups.getByRole("button", { name: "Add a group" }).click();
  await groups.getByLabel("Group 4").fill("night");
  await groups.getByLabel("Price ×: night").fill("0.5");
  await groups.getByLabel("Users may choose: night").check();
  await groups.getByLabel("Label for users: night").fill("Night rate");
  const preview = page.getByRole("region", { name: "What changes" });
  await preview.getByText("(-20%)").waitFor();
  await preview.getByText("Night rate").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "settings-groups");
  await save();
  await page.getByText("Saved.").waitFor();
  expect(JSON.parse((await stored("GroupRatio")) ?? "")).toEqual({ default: 1, vip: 0.8, svip: 1, night: 0.5 });
  expect(JSON.parse((await stored("UserUsableGroups")) ?? "")).toMatchObject({ night: "Night rate" });
});

test("a number that is none is refused in the reader's words (C-138, C-140)", async () => {
  await page.goto("/setting?tab=operation&section=groups");
  const groups = page.getByRole("group", { name: "Groups", exact: true });
  await groups.getByLabel("Price ×: vip").fill("cheap");
  await page.getByText("Not a valid JSON string.").waitFor();
  await save();
  await page.getByText("Please check the input.").waitFor();
  await page.getByRole("button", { name: "Discard" }).click();
  await expect.poll(() => groups.getByLabel("Price ×: vip").inputValue()).toBe("0.8");
  await save();
  await page.getByText("You don't seem to have changed anything.").waitFor();
});

test("a row that is added takes the focus, and one whose name is there already is marked", async () => {
  await page.goto("/setting?tab=operation&section=prices");
  const ratios = page.getByRole("group", { name: "Model ratio", exact: true });
  await ratios.getByRole("button", { name: "Add a row" }).click();
  await expect.poll(() => page.evaluate(() => document.activeElement?.ariaLabel)).toBe("Model 1");
  await page.keyboard.type("gpt-4o");
  await ratios.getByLabel("Ratio: gpt-4o", { exact: true }).first().fill("2");
  await ratios.getByRole("searchbox").fill("gpt-4o");
  expect(await ratios.locator('[aria-invalid="true"]').count()).toBe(1);
  await page.getByRole("button", { name: "Discard" }).click();
});

test("the JSON of a table is edited in place, within the content security policy", async () => {
  await page.goto("/setting?tab=operation&q=GroupLimits");
  const choice = page.getByRole("group", { name: "Limits by group: edit as" });
  await choice.getByRole("button", { name: "JSON" }).click();
  const editor = page.getByRole("textbox", { name: "Limits by group" });
  await editor.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText('{"vip":{"rpm":60}}');
  await page.getByRole("region", { name: "What changes" }).getByText("vip").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "settings-json");
  await choice.getByRole("button", { name: "Table" }).click();
  expect(await page.getByLabel("Requests / min: vip").inputValue()).toBe("60");
  await save();
  await page.getByText("Saved.").waitFor();
  expect(await stored("GroupLimits")).toBe('{"vip":{"rpm":60}}');
});

test("switching passwords off asks first and names whom it locks out (C-153)", async () => {
  await page.goto("/setting?tab=system&section=login");
  await page.getByText("Sign-in with a password", { exact: true }).click();
  await save();
  const question = page.getByRole("alertdialog", { name: "Switch off sign-in with a password?" });
  await question.getByText("you would lock yourself out").waitFor();
  await question.getByRole("button", { name: "Cancel" }).click();
  expect(await stored("PasswordLoginEnabled")).toBe("true");
  await page.getByRole("button", { name: "Discard" }).click();
});

test("labels, rules and refusals of the server are Chinese for Chinese readers", async () => {
  await page.evaluate(() => localStorage.setItem("fairway:language", "zh"));
  await page.goto("/setting?tab=operation&section=routing");
  await page.getByText("重试次数", { exact: true }).waitFor();
  await page.locator(option("RetryTimes")).fill("many");
  await page.getByText("要求：不小于 0 的整数。").waitFor();
  await page.locator(option("RetryTimes")).fill("0");
  await page.goto("/setting?tab=system&section=github");
  await page.getByText("GitHub 登录", { exact: true }).click();
  await page.getByRole("main").getByRole("button", { name: "保存", exact: true }).click();
  await page.getByText("无法开启 GitHub 登录：请先填写 GitHub 客户端 ID 和客户端密钥。").waitFor();
  await page.evaluate(() => localStorage.setItem("fairway:language", "en"));
});

test("shortcuts of a single key can be switched off (WCAG 2.1.4)", async () => {
  await setOption(page, "Notice", "");
  await page.goto("/setting#own-appearance");
  await page.getByText("Shortcuts of a single key", { exact: true }).click();
  await page.getByRole("heading", { level: 1 }).focus();
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await page.waitForTimeout(400); // longer than a shortcut takes
  expect(new URL(page.url()).pathname).toBe("/setting");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("Shortcuts of a single key", { exact: true }).click();
  await page.getByRole("heading", { level: 1 }).focus();
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await page.waitForURL(/\/token/);
});

test("the settings fit a phone, light and dark", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  for (const theme of ["light", "dark"]) {
    await page.evaluate((mode) => localStorage.setItem("theme-mode", mode), theme);
    await page.goto("/setting?tab=operation&section=groups");
    await page.getByRole("combobox", { name: "Settings: sections" }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    expect(await axeFindings(page)).toEqual([]);
    await shoot(page, `settings-390-${theme}`);
  }
});

test("nothing went wrong behind the pages", () => {
  expect(faults).toEqual([]);
});
