import { ROOT_PASSWORD, startGateway, type GatewayProcess } from "@fairway/testkit";
import type { Browser, Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, openPage } from "./browser.ts";
import { option, signIn } from "./session.ts";

// People continue to work during a call: its answer does not undo what they did meanwhile.

let gateway: GatewayProcess;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  gateway = await startGateway();
  browser = await openBrowser();
  ({ page } = await openPage(browser, gateway.url));
  await signIn(page, "root", ROOT_PASSWORD);
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

/** Holds a call until it is released. */
async function hold(path: string, method: string, answer = (route: Route) => route.continue()) {
  const held = Promise.withResolvers<() => Promise<void>>();
  await page.route(path, async (route) => {
    if (route.request().method() !== method) return route.fallback();
    held.resolve(() => answer(route));
  });
  return async () => (await held.promise)();
}

test("who leaves a form that is being saved stays where they went", async () => {
  await page.goto("/token/add");
  const drawer = page.getByRole("dialog", { name: "Add token" });
  await drawer.getByLabel("Name").fill("slow");
  const release = await hold("**/api/token/", "POST");
  await drawer.getByRole("button", { name: "Create token" }).click();
  await drawer.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Discard" }).click();
  await drawer.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Wallet" }).click();
  await page.waitForURL(/\/topup/);
  const saved = page.waitForResponse((response) => response.request().method() === "POST");
  await release();
  await (await saved).finished();
  await page.waitForTimeout(300);
  expect(page.url()).toMatch(/\/topup/);
  await page.getByRole("navigation").getByRole("link", { name: "Token" }).click();
  await page.getByRole("dialog", { name: "Your new key" }).waitFor();
});

test("an option that is changed while its card is saved stays changed", async () => {
  await page.goto("/setting?tab=other");
  const title = page.locator(option("SystemName"));
  await title.fill("Harbour");
  const release = await hold("**/api/option/batch", "PUT");
  const card = page.locator("form").filter({ has: title });
  await card.getByRole("button", { name: "Save" }).click();
  await title.fill("Harbour 2");
  await page.locator(option("Footer")).fill("Mind the gap");
  await release();
  await page.getByText("Saved").first().waitFor();
  expect(await title.inputValue()).toBe("Harbour 2");
  expect(await page.locator(option("Footer")).inputValue()).toBe("Mind the gap");
});

test("models that are added while the provider is asked stay", async () => {
  await page.goto("/channel/add");
  const drawer = page.getByRole("dialog", { name: "Add channel" });
  await drawer.getByLabel(/^Key/).fill("sk-any");
  await drawer.getByRole("button", { name: "Clear" }).click();
  const offered = { success: true, message: "", data: ["from-provider"] };
  const release = await hold("**/api/channel/fetch_models", "POST", (route) => route.fulfill({ json: offered }));
  await drawer.getByRole("button", { name: "Ask the provider" }).click();
  await drawer.getByPlaceholder("Add models, separated by commas…").fill("typed-meanwhile,");
  await page.keyboard.press("Enter");
  await release();
  await drawer.getByRole("button", { name: "Remove from-provider" }).waitFor();
  await drawer.getByRole("button", { name: "Remove typed-meanwhile" }).waitFor({ timeout: 2_000 });
});

test("recovery codes appear although nothing else answers", async () => {
  await page.goto("/setting");
  await page.getByRole("button", { name: "Set up" }).click();
  await page.getByTestId("totp-secret").waitFor();
  const codes = { success: true, message: "", data: { recovery_codes: ["aaaa-bbbb"] } };
  await page.route("**/two_factor**", (route) =>
    route.request().method() === "GET" ? undefined : route.fulfill({ json: codes }),
  );
  await page.getByLabel("Code", { exact: true }).fill("123456");
  await page.getByRole("button", { name: "Switch on" }).click();
  await page.getByTestId("recovery-code").waitFor({ timeout: 5_000 });
});
