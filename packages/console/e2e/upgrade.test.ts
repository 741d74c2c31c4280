import { ROOT_PASSWORD, startGateway, type GatewayProcess } from "@fairway/testkit";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, openPage } from "./browser.ts";
import { signIn } from "./session.ts";

// The gateway is replaced while a tab is open: its files have new names, and the old ones no longer exist.

let folder: string;
let gateway: GatewayProcess;
let browser: Browser;
let page: Page;

const name = () => page.getByLabel("Display name");
const announced = () => page.getByRole("status").filter({ hasText: "There is a new version of this console." });

/** Starts with the same database and address as before. */
function start(port = "0"): Promise<GatewayProcess> {
  return startGateway({ database: `sqlite:${join(folder, "fairway.db")}`, env: { FAIRWAY_PORT: port } });
}

/** Starts another process that serves a release whose files this tab does not have. */
async function replaceGateway(): Promise<void> {
  const { port, origin } = new URL(gateway.url);
  await gateway.stop();
  gateway = await start(port);
  const index = await (await fetch(gateway.url)).text();
  const next = index.replaceAll(/assets\/index-[\w-]+\.js/g, "assets/index-later.js");
  await page.route(`${origin}/`, (route) => route.fulfill({ contentType: "text/html", body: next }));
  await page.route(/assets\/(palette|menu-host|json-editor)-[\w-]+\.js/, (route) => route.fulfill({ status: 404 }));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairway-upgrade-"));
  gateway = await start();
  browser = await openBrowser();
  ({ page } = await openPage(browser, gateway.url));
  await page.clock.install();
  await signIn(page, "root", ROOT_PASSWORD);
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await rm(folder, { recursive: true, force: true });
});

test("a page whose release is the server's says nothing when it comes into view", async () => {
  await page.goto("/setting");
  await name().fill("Harbour master");
  await page.clock.fastForward(60_000);
  const asked = page.waitForResponse(`${gateway.url}/`);
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  await asked;
  expect(await announced().count()).toBe(0);
});

test("a new release is announced, and nothing that was typed is lost", async () => {
  await replaceGateway();
  await page.clock.fastForward(60_000);
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  await announced().waitFor();
  await page.clock.fastForward(600_000);
  expect(await announced().count()).toBe(1);
  expect(await name().inputValue()).toBe("Harbour master");
});

test("a part whose code no longer exists says so, and the page stays", async () => {
  await page.keyboard.press("Control+k");
  await page.clock.runFor(5_000);
  await page.getByRole("alert").filter({ hasText: "could not be loaded" }).waitFor();
  expect(await name().inputValue()).toBe("Harbour master");
});

test("a reload is asked for by the user, and the browser then asks about the form", async () => {
  let asked = 0;
  page.on("dialog", (dialog) => {
    asked += 1;
    void dialog.dismiss();
  });
  await announced().getByRole("button", { name: "Reload" }).click();
  await expect.poll(() => asked).toBe(1);
  expect(await name().inputValue()).toBe("Harbour master");
});
