import { ROOT_PASSWORD } from "@fairway/testkit";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { signIn } from "./session.ts";

// The proof that a session needs to change credentials, some time after its sign-in.

let opened: OpenConsole;
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  opened = await openConsole();
  ({ page, faults } = opened);
});

afterAll(() => opened?.close());

/** Makes the sign-in and every confirmation too old for changes of credentials. */
function ageSessions(): void {
  const database = new DatabaseSync(opened.file);
  database.exec("pragma busy_timeout = 5000; update sessions set created_at = created_at - 400, data = '{}'");
  database.close();
}

const dialog = () => page.getByRole("dialog", { name: "Is it you?" });

test("a named token with limits is made after a confirmation, shown once and removed", async () => {
  await page.goto("/setting");
  ageSessions();
  const card = page.getByRole("group", { name: "System access token" });
  await card.getByLabel("Name").fill("reports");
  await card.getByLabel("Ends after").selectOption("30");
  await card.getByLabel("Scopes").fill("logs:read");
  await page.keyboard.press("Enter");
  await card.getByRole("button", { name: "Make a named token" }).click();
  await dialog().getByLabel("Your current password", { exact: true }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "confirm");
  await dialog().getByLabel("Your current password", { exact: true }).fill("not my password");
  await dialog().getByRole("button", { name: "Confirm" }).click();
  await dialog().getByText("The current password is wrong.").waitFor();
  await dialog().getByLabel("Your current password", { exact: true }).fill(ROOT_PASSWORD);
  await dialog().getByRole("button", { name: "Confirm" }).click();
  await card.getByText("It is shown this once.").waitFor();
  await card.getByText("logs:read · ends", { exact: false }).waitFor();
  await card.getByRole("button", { name: "Remove: reports" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("The access token reports has been removed.").waitFor();
});

test("changes nothing without confirmation", async () => {
  ageSessions();
  await page.getByLabel("New password", { exact: true }).fill("another-password-1");
  await page.getByLabel("Repeat the password", { exact: true }).fill("another-password-1");
  await page.getByRole("button", { name: "Change the password" }).click();
  await dialog().getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Please confirm with your password or second factor", { exact: false }).waitFor();
  expect(await dialog().count()).toBe(0);
  await page.context().clearCookies();
  await signIn(page, "root", ROOT_PASSWORD);
  expect(faults).toEqual([]);
});
