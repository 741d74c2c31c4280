import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser } from "./session.ts";

// The tags of a token: those that clients cannot change, and the policy for those that they may send.

let opened: OpenConsole;
let page: Page;

beforeAll(async () => {
  opened = await openConsole();
  ({ page } = opened);
  const token = { name: "shop", unlimited_quota: true, tags: { keys: { env: { values: ["prod"] } }, end_user: "off" } };
  expect(await asUser(page, "POST", "/api/token/", token)).toMatchObject({ success: true });
});
afterAll(() => opened?.close());

async function readToken() {
  const { data } = (await asUser(page, "GET", "/api/token/1")) as { readonly data: object };
  return data;
}

test("fixed tags and the policy of a token are edited as rows, and keys that cannot be are marked", async () => {
  await page.goto("/token/edit/1");
  const drawer = page.getByRole("dialog");
  await drawer.getByRole("button", { name: "Add a fixed tag" }).click();
  await drawer.getByRole("textbox", { name: "Key 1" }).first().fill("App");
  await drawer.getByRole("textbox", { name: "Value: App" }).fill("shop");
  await drawer.getByRole("button", { name: "Save", exact: true }).click();
  await drawer.getByText("A tag needs a key of a-z").waitFor();
  await drawer.getByRole("textbox", { name: "Key 1" }).first().fill("app");
  await drawer.getByRole("checkbox", { name: "Refuse others: env" }).check();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "token-tags");
  await drawer.getByRole("button", { name: "Save", exact: true }).click();
  await drawer.waitFor({ state: "detached" });
  expect(await readToken()).toMatchObject({
    fixed_tags: { app: "shop" },
    tags: { keys: { env: { values: ["prod"], strict: true } }, end_user: "off" },
  });
});

test("a form that is saved without a change leaves the tags as they are", async () => {
  const before = await readToken();
  await page.goto("/token/edit/1");
  const drawer = page.getByRole("dialog");
  await drawer.getByRole("textbox", { name: /^Name/ }).fill("renamed");
  await drawer.getByRole("button", { name: "Save", exact: true }).click();
  await drawer.waitFor({ state: "detached" });
  expect(await readToken()).toMatchObject({ ...before, name: "renamed" });
});
