import { startGateway, type GatewayProcess } from "@fairway/testkit";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openBrowser, openPage, shoot } from "./browser.ts";

let gateway: GatewayProcess;
let browser: Browser;

beforeAll(async () => {
  gateway = await startGateway({ env: { FAIRWAY_ROOT_PASSWORD: "", FAIRWAY_DEMO: "on" } });
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

test("the demo channel answers a first request and is removed in one click", async () => {
  const { page, faults } = await openPage(browser, gateway.url);
  await page.goto("/login?next=/");
  await page.getByLabel("Username").fill("root");
  await page.getByLabel("Password", { exact: true }).fill("123456");
  await page.keyboard.press("Enter");
  const warning = page.getByRole("alertdialog", { name: "You are using the default password!" });
  await warning.getByRole("textbox", { name: "New password" }).fill("short");
  await warning.getByRole("button", { name: "Change now" }).click();
  await warning.getByText("The password length must not be less than 8 characters!").waitFor();
  await warning.getByRole("textbox", { name: "New password" }).fill("a longer secret");
  await warning.getByRole("textbox", { name: "Repeat the password" }).fill("a longer secret");
  await warning.getByRole("button", { name: "Change now" }).click();
  await page.getByText("Your password has been changed.").waitFor();

  await page.getByText(/A demo channel answers the model fairway-demo/).waitFor();
  await shoot(page, "overview-demo");
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Remove it" }).click();
  const question = page.getByRole("alertdialog", { name: "Remove the demo channel?" });
  await question.getByRole("button", { name: "Remove it" }).click();
  await page.getByText("The demo channel is removed.").waitFor();
  await page.getByText(/A demo channel answers/).waitFor({ state: "detached" });

  await page.goto("/channel");
  await page.getByRole("heading", { name: "Connect your first provider" }).waitFor();
  await page.getByRole("button", { name: "Your account: Root User" }).click();
  await page.getByRole("menuitem", { name: "Exit" }).click();
  await page.getByText("Cancellation successful!").waitFor();
  await page.waitForURL(/\/login$/);
  expect(faults).toEqual([]);
});
