import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { ROOT_PASSWORD, startGateway, type GatewayProcess } from "@fairway/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openBrowser, openPage, shoot } from "./browser.ts";
import { asUser, setOption, signIn } from "./session.ts";

const CODE = "483920";
const PICTURE = "https://wechat.example.test/qr.svg";

let gateway: GatewayProcess;
let browser: Browser;
let wechat: Server;
let root: Page;
let rootFaults: readonly string[];

/** Starts the server that knows which user a code belongs to. */
function startWechat(): Promise<Server> {
  const server = createServer((request, response) => {
    const isKnown = new URL(request.url ?? "", "http://x").searchParams.get("code") === CODE;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ success: isKnown, message: "", data: isKnown ? "wx-7" : "" }));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

async function servePicture(page: Page): Promise<void> {
  await page.route(PICTURE, (route) =>
    route.fulfill({
      contentType: "image/svg+xml",
      body: '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
    }),
  );
}

beforeAll(async () => {
  wechat = await startWechat();
  gateway = await startGateway();
  browser = await openBrowser();
  ({ page: root, faults: rootFaults } = await openPage(browser, gateway.url));
  await servePicture(root);
  await signIn(root, "root", ROOT_PASSWORD);
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await new Promise((resolve) => wechat.close(resolve));
});

test("an account is bound to WeChat with the code that its account answers (C-115)", async () => {
  await root.goto("/setting");
  await root.getByRole("button", { name: "Bind: E-mail" }).waitFor();
  expect(await root.getByRole("button", { name: "Bind: WeChat" }).count()).toBe(0);
  const { port } = wechat.address() as AddressInfo;
  for (const [key, value] of [
    ["WeChatServerAddress", `http://127.0.0.1:${port}`],
    ["WeChatAccountQRCodeImageURL", PICTURE],
    ["WeChatAuthEnabled", "true"],
  ] as const)
    expect(await setOption(root, key, value)).toMatchObject({ success: true });
  await root.goto("/setting");
  await root.getByRole("button", { name: "Bind: WeChat" }).click();
  const dialog = root.getByRole("dialog", { name: "Bind a WeChat account" });
  await dialog.getByRole("img", { name: "QR code of the WeChat account" }).waitFor();
  await dialog.getByRole("button", { name: "Bind", exact: true }).click();
  await dialog.getByText("Please enter the verification code.").waitFor();
  expect(await axeFindings(root)).toEqual([]);
  await dialog.getByLabel("Verification code").fill("1");
  await dialog.getByRole("button", { name: "Bind", exact: true }).click();
  await dialog.getByText("The verification code is wrong or has expired.").waitFor();
  await dialog.getByLabel("Verification code").fill(CODE);
  await dialog.getByRole("button", { name: "Bind", exact: true }).click();
  await root.getByText("The WeChat account is bound to yours.").waitFor();
  await root.getByRole("group", { name: "Accounts" }).getByText("wx-7").waitFor();
});

test("and signs in with it afterwards (C-092, C-093, C-094)", async () => {
  const { page: visitor, faults } = await openPage(browser, gateway.url);
  await servePicture(visitor);
  await visitor.goto("/login");
  await visitor.getByRole("button", { name: "Continue with WeChat" }).click();
  const dialog = visitor.getByRole("dialog", { name: "Continue with WeChat" });
  await dialog.getByRole("img", { name: "QR code of the WeChat account" }).waitFor();
  expect(await axeFindings(visitor)).toEqual([]);
  await shoot(visitor, "login-wechat");
  await dialog.getByLabel("Verification code").fill(CODE);
  await dialog.getByRole("button", { name: "Log in" }).click();
  await visitor.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  expect(await asUser(visitor, "GET", "/api/user/self")).toMatchObject({ data: { username: "root" } });
  expect([...rootFaults, ...faults]).toEqual([]);
  await visitor.context().close();
});
