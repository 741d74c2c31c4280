import type { Budget, Token } from "@fairway/wire";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser, signIn } from "./session.ts";

// Budgets that people make for themselves, and limits by tag of their tokens.

const ACCOUNT = { username: "grace", password: "hopper-1906", display_name: "Grace" };

let opened: OpenConsole;
let page: Page;

beforeAll(async () => {
  opened = await openConsole();
  expect(await asUser(opened.page, "POST", "/api/user/", ACCOUNT)).toMatchObject({ success: true });
  ({ page } = await openPage(opened.browser, opened.gateway.url));
  await signIn(page, ACCOUNT.username, ACCOUNT.password);
  expect(await asUser(page, "POST", "/api/token/", { name: "shop", unlimited_quota: true })).toMatchObject({
    success: true,
  });
});
afterAll(() => opened?.close());

async function readBudgets(): Promise<readonly Budget[]> {
  return ((await asUser(page, "GET", "/api/budget/self")) as { readonly data: readonly Budget[] }).data;
}

test("a person makes, changes and deletes a budget of a token on the page of one's own budgets", async () => {
  await page.goto("/topup");
  await page.getByRole("link", { name: "My budgets" }).click();
  await page.getByRole("heading", { level: 1, name: "My budgets" }).waitFor();
  await page.getByText("A budget limits what one of your tokens").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "New budget" }).click();
  const dialog = page.getByRole("dialog", { name: "New budget" });
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("Choose what it limits.").waitFor();
  await dialog.getByRole("combobox", { name: "Token" }).selectOption({ index: 1 });
  await dialog.getByRole("textbox", { name: "Limit" }).fill("5");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await readBudgets()).toMatchObject([{ scope: "token", period: "month", managed_by: "self", is_hard: true }]);
  await shoot(page, "own-budgets");
  await page.getByRole("button", { name: /shop/ }).last().click();
  await page.getByRole("menuitem", { name: "Change the budget" }).click();
  const edit = page.getByRole("dialog", { name: "Change the budget" });
  await edit.getByRole("textbox", { name: "Limit" }).fill("7");
  await edit.getByRole("button", { name: "Save" }).click();
  await edit.waitFor({ state: "detached" });
  await expect.poll(async () => (await readBudgets())[0]?.quota_limit).toBe(3_500_000);
  await page.getByRole("button", { name: /shop/ }).last().click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await expect.poll(readBudgets).toEqual([]);
});

test("budgets of an administrator are shown without a menu", async () => {
  const self = (await asUser(page, "GET", "/api/user/self")) as { readonly data: { readonly id: number } };
  const budget = { scope: "user", subject: String(self.data.id), period: "month", quota_limit: 500_000 };
  expect(await asUser(opened.page, "POST", "/api/budget/", budget)).toMatchObject({ success: true });
  await page.goto("/my-budget");
  await page.getByText("Made by an administrator").waitFor();
  expect(await page.getByText("Your account").count()).toBe(1);
});

test("limits by tag of a token are edited as rows, and wrong ones are marked", async () => {
  const { data } = (await asUser(page, "GET", "/api/token/")) as { readonly data: { readonly items?: Token[] } };
  const id = (data.items ?? (data as unknown as Token[]))[0]?.id;
  await page.goto(`/token/edit/${id}`);
  const drawer = page.getByRole("dialog");
  await drawer.getByRole("button", { name: "Add a limit" }).click();
  await drawer.getByRole("textbox", { name: "Key 1" }).fill("end_user");
  await drawer.getByRole("textbox", { name: "Value: end_user" }).fill("*");
  await drawer.getByRole("textbox", { name: "Requests per minute: end_user" }).fill("many");
  await drawer.getByText("Each row needs the key of a tag").waitFor();
  await drawer.getByRole("textbox", { name: "Requests per minute: end_user" }).fill("20");
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "tag-limits");
  await drawer.getByRole("button", { name: "Save", exact: true }).click();
  await drawer.waitFor({ state: "detached" });
  expect(await asUser(page, "GET", `/api/token/${id}`)).toMatchObject({
    data: { tag_limits: { end_user: { "*": { rpm: 20 } } } },
  });
});
