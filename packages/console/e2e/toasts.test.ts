import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser } from "./session.ts";

// Messages next to an open drawer or dialog: they are read out, they can be clicked, and the dialog stays open.

let opened: OpenConsole;
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  opened = await openConsole();
  ({ page, faults } = opened);
  const channel = { name: "North", type: 1, key: "sk-1", models: "gpt-4o", base_url: opened.upstream.url };
  expect(await asUser(page, "POST", "/api/channel/", channel)).toMatchObject({ success: true });
  await page.goto("/channel");
});

afterAll(() => opened?.close());

const row = () => page.locator(".grid-row").filter({ hasText: "North" });
const toast = (text: string) => page.locator("[data-toast]").filter({ hasText: text });

async function disable(): Promise<void> {
  await page.getByRole("button", { name: "Actions for North", exact: true }).click();
  await page.getByRole("menuitem", { name: "Disable", exact: true }).click();
  await toast("“North” is disabled.").waitFor();
}

test("a message that came before a drawer can still be acted on", async () => {
  await disable();
  await page.getByRole("link", { name: "Add channel" }).click();
  const form = page.getByRole("dialog", { name: "Add channel" });
  await form.getByLabel("Name").fill("South");
  // Located by role, because elements hidden from screen readers have none.
  await page.getByRole("status").filter({ hasText: "“North” is disabled." }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "toast-next-to-drawer");
  await toast("is disabled").getByRole("button", { name: "Undo" }).click();
  await toast("is disabled").waitFor({ state: "detached" });
  expect(await form.getByLabel("Name").inputValue()).toBe("South");
  await form.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Discard" }).click();
  await form.waitFor({ state: "detached" });
  await row().getByText("Enabled", { exact: true }).waitFor();
});

test("a failure that comes while a drawer is open is read and closed, and the drawer keeps what was typed", async () => {
  await page.route("**/api/channel/", (route) =>
    route.request().method() === "POST" ? route.fulfill({ status: 500, json: {} }) : route.fallback(),
  );
  await page.goto("/channel/add");
  const form = page.getByRole("dialog", { name: "Add channel" });
  await form.getByLabel("Name").fill("West");
  await form.getByRole("textbox", { name: "Key" }).fill("sk-2");
  await form.getByLabel("Base address").fill(opened.upstream.url);
  await form.getByRole("button", { name: "Create channel" }).click();
  const alert = page.getByRole("alert").filter({ hasText: "Internal server error" });
  await alert.waitFor();
  await alert.getByRole("button", { name: "Close" }).click();
  await alert.waitFor({ state: "detached" });
  expect(await form.getByLabel("Name").inputValue()).toBe("West");
  await page.unrouteAll({ behavior: "wait" });
});

test("a dialog stays open as well, and a click elsewhere still closes it", async () => {
  await page.goto("/channel");
  await row().waitFor();
  await disable();
  await row().getByRole("checkbox").check();
  await page.getByRole("button", { name: "Tag", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Tag 1 channel" });
  await dialog.getByLabel("Tag").fill("quay");
  await toast("is disabled").getByRole("button", { name: "Close" }).click();
  await toast("is disabled").waitFor({ state: "detached" });
  expect(await dialog.getByLabel("Tag").inputValue()).toBe("quay");
  await page.mouse.click(8, 400);
  await dialog.waitFor({ state: "detached" });
});

test("nothing went wrong behind the pages", () => {
  // This error was provoked above.
  expect(faults.filter((fault) => !/status of 500/.test(fault))).toEqual([]);
});
