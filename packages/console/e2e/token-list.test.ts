import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser, setOption } from "./session.ts";

// The list of tokens: a row can be read next to it, and many rows can be changed.

let opened: OpenConsole;
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  opened = await openConsole();
  ({ page, faults } = opened);
  await setOption(page, "UserUsableGroups", '{"default": "Usual", "vip": "Faster"}');
  await setOption(page, "GroupRatio", '{"default": 1, "vip": 0.5}');
  for (const body of [
    { name: "anchor", remain_quota: 500_000, model_limits_enabled: true, model_limits: "gpt-4o,o3" },
    { name: "buoy", unlimited_quota: true },
    { name: "capstan", unlimited_quota: true, group: "vip" },
  ])
    expect(await asUser(page, "POST", "/api/token/", body)).toMatchObject({ success: true });
});

afterAll(() => opened?.close());

const row = (name: string) => page.locator(".grid-row").filter({ hasText: name });
const peek = (name: string) => page.getByRole("dialog", { name, exact: true });
const address = () => new URL(page.url());
const tokens = async () => {
  const { data } = (await asUser(page, "GET", "/api/token/?size=10")) as { data: Record<string, unknown>[] };
  return data.toReversed();
};

test("a click on a token shows it next to the list, and J and K others (WCAG 2.1.1)", async () => {
  await page.goto("/token");
  await row("anchor").locator("td").nth(3).click();
  await peek("anchor").waitFor();
  expect(address().pathname).toBe("/token");
  expect(address().searchParams.get("row")).toBe("1");
  const panel = peek("anchor");
  expect(await panel.evaluate((element) => element === document.activeElement)).toBe(true);
  for (const text of ["Enabled", "gpt-4o, o3", "$1.00", "Last 24 hours"]) await panel.getByText(text).first().waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "peek-token");
  // The newest comes first.
  await page.keyboard.press("k");
  await peek("buoy").waitFor();
  await page.keyboard.press("j");
  await peek("anchor").waitFor();
  expect(await peek("anchor").getByRole("button", { name: "Next row" }).isDisabled()).toBe(true);
  await page.keyboard.press("Escape");
  await peek("anchor").waitFor({ state: "detached" });
  expect(address().searchParams.has("row")).toBe(false);
  await expect.poll(() => row("anchor").evaluate((element) => element === document.activeElement)).toBe(true);
});

test("from the panel a token is edited over its list, and has its page", async () => {
  await page.goto("/token?row=2");
  await peek("buoy").getByRole("link", { name: "Edit" }).click();
  await page.getByRole("dialog", { name: "Edit token" }).waitFor();
  expect(address().pathname).toBe("/token/edit/2");
  await page.keyboard.press("Escape");
  await peek("buoy").getByRole("link", { name: "Usage and limits" }).click();
  await page.waitForURL(/\/token\/2$/);
  await page.goto("/token?row=999");
  await peek("Token").getByText("There is no such token").waitFor();
});

test("many tokens are changed after a preview, and back", async () => {
  const before = await tokens();
  await page.goto("/token");
  await page.getByRole("checkbox", { name: "Select all" }).check();
  await page.getByRole("button", { name: "Change…" }).click();
  const dialog = page.getByRole("dialog", { name: "Change 3 tokens" });
  await dialog.getByText("Nothing changes yet.").waitFor();
  await dialog.getByRole("combobox", { name: "Group" }).selectOption({ label: "vip" });
  await dialog.getByText("2 tokens change, 1 stay as they are.").waitFor();
  await dialog.getByRole("combobox", { name: "Models", exact: true }).selectOption({ label: "Add…" });
  await dialog.getByRole("button", { name: "Change 0" }).click();
  await dialog.getByText("Please name at least one model.").waitFor();
  const models = dialog.getByRole("combobox", { name: "Names of the models" });
  await models.fill("gpt-4o-mini");
  await models.press("Enter");
  await dialog.getByText("gpt-4o, o3, gpt-4o-mini").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "token-bulk");
  await dialog.getByRole("button", { name: "Change 2" }).click();
  await page.getByText("2 tokens are changed.").waitFor();
  expect(await tokens()).toMatchObject([
    { name: "anchor", group: "vip", model_limits: "gpt-4o,o3,gpt-4o-mini", remain_quota: 500_000 },
    { name: "buoy", group: "vip", model_limits_enabled: false },
    { name: "capstan", group: "vip" },
  ]);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("2 tokens are as they were.").waitFor();
  expect(await tokens()).toEqual(before);
});

test("a token that was changed after the preview stays as it is, and says why", async () => {
  await page.goto("/token");
  await page.getByRole("checkbox", { name: "Select all" }).check();
  await page.getByRole("button", { name: "Change…" }).click();
  const dialog = page.getByRole("dialog", { name: "Change 3 tokens" });
  await dialog.getByRole("combobox", { name: "Expires" }).selectOption({ label: "Set to…" });
  await dialog.getByLabel("New expiry").fill("2040-01-31T12:00");
  await dialog.getByText("3 tokens change, 0 stay as they are.").waitFor();
  const changed = { id: 2, name: "buoy", unlimited_quota: true, expired_time: 2_000_000_000 };
  expect(await asUser(page, "PUT", "/api/token/", changed)).toMatchObject({ success: true });
  await dialog.getByRole("button", { name: "Change 3" }).click();
  const report = page.getByRole("alertdialog");
  await report.getByText("buoy").waitFor();
  await report.getByText(/changed after the preview/).waitFor();
  await report.getByRole("button", { name: "Close" }).click();
  const [anchor, buoy, capstan] = await tokens();
  expect(buoy).toMatchObject({ expired_time: 2_000_000_000 });
  for (const token of [anchor, capstan]) expect(token?.["expired_time"]).toBeGreaterThan(2_200_000_000);
});

test("a key is replaced from the menu, and the old one works until its grace is over", async () => {
  const before = (await tokens()).find(({ name }) => name === "buoy");
  await page.goto("/token");
  await page.getByRole("button", { name: "Actions for buoy", exact: true }).click();
  await page.getByRole("menuitem", { name: "Replace key…", exact: true }).click();
  const form = page.getByRole("dialog", { name: "Replace the key of “buoy”" });
  await form.getByLabel("The old key works for").selectOption("7 days");
  expect(await axeFindings(page)).toEqual([]);
  await form.getByRole("button", { name: "Replace", exact: true }).click();
  const shown = page.getByRole("dialog", { name: "Your new key" });
  const key = await shown.getByTestId("new-key").textContent();
  await shown.getByText(`sk-${String(before?.["key"]).slice(0, 4)}…`).waitFor();
  const after = (await tokens()).find(({ name }) => name === "buoy");
  expect(key).toBe(`sk-${String(after?.["key"])}`);
  expect(after?.["key"]).not.toBe(before?.["key"]);
  expect(Number(after?.["old_keys_until"]) - Number(after?.["rotated_at"])).toBe(7 * 86_400);
  await page.keyboard.press("Escape");
  await shown.waitFor({ state: "detached" });
});

test("nothing went wrong in the browser", () => {
  expect(faults).toEqual([]);
});
