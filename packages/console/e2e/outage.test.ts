import { startGateway, type GatewayProcess } from "@fairway/testkit";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser } from "./session.ts";

// The gateway dies, hangs or is unreachable under an open tab: the page says so, loses nothing, and recovers by itself.

let open: OpenConsole;
let page: Page;
let again: GatewayProcess | undefined;

/** Located by its text, because it has no role behind an open form. */
const banner = () => page.getByText("Connection lost.", { exact: false });
const row = (name: string) => page.getByRole("row").filter({ hasText: name });

beforeAll(async () => {
  open = await openConsole();
  ({ page } = open);
  expect(await asUser(page, "POST", "/api/token/", { name: "pier", unlimited_quota: true })).toMatchObject({
    success: true,
  });
});

afterAll(async () => {
  await again?.stop();
  await open?.close();
});

test("a list is read again when the connection returns", async () => {
  await page.goto("/token");
  await row("pier").waitFor();
  await page.context().setOffline(true);
  await expect.poll(() => page.evaluate(() => navigator.onLine)).toBe(false);
  const read = page.waitForResponse((response) => new URL(response.url()).pathname === "/api/token/");
  await page.context().setOffline(false);
  expect((await read).status()).toBe(200);
  await row("pier").waitFor();
});

test("a gateway that hangs is reported, and the page comes back by itself", async () => {
  await page.goto("/token");
  await row("pier").waitFor();
  process.kill(open.gateway.pid, "SIGSTOP");
  try {
    await page.getByRole("navigation").getByRole("link", { name: "Wallet" }).click();
    await banner().waitFor({ timeout: 60_000 });
    expect(await axeFindings(page)).toEqual([]);
  } finally {
    process.kill(open.gateway.pid, "SIGCONT");
  }
  await banner().waitFor({ state: "detached", timeout: 60_000 });
  await page.getByRole("heading", { level: 1, name: "Wallet" }).waitFor();
});

test("a form outlives a gateway that is killed and started again, and the list returns without a press", async () => {
  await page.goto("/token");
  await row("pier").waitFor();
  await page.getByRole("link", { name: "Add token" }).first().click();
  const form = page.getByRole("dialog", { name: "Add token" });
  await form.getByLabel("Name").fill("after the storm");
  await open.gateway.kill();
  await form.getByRole("button", { name: "Create token" }).click();
  await banner().waitFor();
  expect(await form.getByLabel("Name").inputValue()).toBe("after the storm");
  again = await startGateway({
    database: `sqlite:${open.file}`,
    env: { FAIRWAY_PORT: new URL(open.gateway.url).port },
  });
  await banner().waitFor({ state: "detached", timeout: 60_000 });
  await form.getByRole("button", { name: "Create token" }).click();
  await page.getByRole("dialog", { name: "Your new key" }).getByRole("button", { name: "Done" }).click();
  await row("after the storm").waitFor();
});
