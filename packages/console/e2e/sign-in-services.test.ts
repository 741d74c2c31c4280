import { ROOT_PASSWORD, startGateway, type GatewayProcess } from "@fairway/testkit";
import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Secret, TOTP } from "otpauth";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openBrowser, openPage, shoot } from "./browser.ts";
import { asUser, setOption, signIn } from "./session.ts";

// GitHub and Telegram, from the operator's settings to the account that is bound and signs in.

const BOT_TOKEN = "7000000001:bot-token-of-the-test";

let github: Server;
let gateway: GatewayProcess;
let browser: Browser;
let page: Page;
let faults: readonly string[];

/** Returns the token for the code `good`, and the profile for the token. */
function startGithub(): Promise<Server> {
  let challenge = "";
  const server = createServer((request, response) => void answer(request, response));
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://localhost");
    if (pathname === "/login/oauth/authorize") {
      challenge = query.get("code_challenge") ?? "";
      const back = `${gateway.url}/oauth/github?code=good&state=${query.get("state")}`;
      return void response.writeHead(302, { location: back }).end();
    }
    response.setHeader("content-type", "application/json");
    const { code_verifier: verifier = "" } = JSON.parse((await text(request)) || "{}") as { code_verifier?: string };
    const isProven = createHash("sha256").update(verifier).digest("base64url") === challenge;
    if (pathname === "/login/oauth/access_token" && !isProven) return void response.end('{"error":"bad verifier"}');
    const isProfile = request.url?.startsWith("/user") ?? false;
    const answer = isProfile ? { id: 42, login: "ada-on-github", name: "Ada", email: "" } : { access_token: "t" };
    response.end(JSON.stringify(answer));
  };
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

/** Replaces Telegram's script: its button redirects back with a login that the bot's token signs. */
async function serveTelegram(context: BrowserContext): Promise<void> {
  const fields = { auth_date: String(Math.floor(Date.now() / 1000)), first_name: "Ada", id: "4711" };
  await context.route("https://telegram.org/**", async (route) => {
    // Each login is accepted once.
    fields.auth_date = String(Number(fields.auth_date) - 1);
    const signed = Object.entries(fields).map(([name, value]) => `${name}=${value}`);
    const secret = createHash("sha256").update(BOT_TOKEN).digest();
    const hash = createHmac("sha256", secret).update(signed.join("\n")).digest("hex");
    await route.fulfill({
      contentType: "text/javascript",
      body: `{
        const script = document.currentScript;
        const link = document.createElement("a");
        link.textContent = "Log in with " + script.dataset.telegramLogin;
        link.href = script.dataset.authUrl + "&${[...signed, `hash=${hash}`].join("&")}";
        script.after(link);
      }`,
    });
  });
}

beforeAll(async () => {
  github = await startGithub();
  const address = `http://127.0.0.1:${(github.address() as AddressInfo).port}`;
  gateway = await startGateway({ env: { FAIRWAY_GITHUB_URL: address, FAIRWAY_GITHUB_API_URL: address } });
  browser = await openBrowser();
  ({ page, faults } = await openPage(browser, gateway.url));
  await serveTelegram(page.context());
  await signIn(page, "root", ROOT_PASSWORD);
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await new Promise((resolve) => github.close(resolve));
});

const card = (name: string) => page.getByRole("group", { name, exact: true });

test("the operator finds what to enter at the services, and switches them on (C-156, C-158)", async () => {
  await page.goto("/setting?tab=system&section=telegram");
  await card("Telegram").getByText(new URL(gateway.url).host, { exact: true }).waitFor();
  await page.goto("/setting?tab=system&section=github");
  await card("GitHub").getByText(`${gateway.url}/oauth/github`).waitFor();
  await card("GitHub").getByRole("button", { name: "Copy the address" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await card("GitHub").scrollIntoViewIfNeeded();
  await shoot(page, "settings-services");
  for (const [key, value] of [
    ["GitHubClientId", "client"],
    ["GitHubClientSecret", "secret"],
    ["GitHubOAuthEnabled", "true"],
    ["TelegramBotToken", BOT_TOKEN],
    ["TelegramBotName", "harbour_bot"],
    ["TelegramOAuthEnabled", "true"],
  ] as const)
    expect(await setOption(page, key, value)).toMatchObject({ success: true });
});

test("an account is bound to GitHub and stays so (C-053, C-105, C-116)", async () => {
  await page.goto("/setting");
  const returning = page.waitForRequest((request) => new URL(request.url()).pathname === "/api/oauth/github");
  await page.getByRole("button", { name: "Bind: GitHub" }).click();
  const { searchParams } = new URL((await returning).url());
  expect([...searchParams.keys()].toSorted()).toEqual(["code", "state"]);
  await page.getByText("Your account is bound to GitHub.").waitFor();
  await card("Accounts").getByText("ada-on-github").waitFor();
  expect(await page.getByRole("button", { name: "Bind: GitHub" }).count()).toBe(0);
});

test("an account is bound to Telegram by its button (C-117)", async () => {
  await page.getByRole("button", { name: "Bind: Telegram" }).click();
  const dialog = page.getByRole("dialog", { name: "Bind a Telegram account" });
  await dialog.getByRole("link", { name: "Log in with harbour_bot" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByRole("link").click();
  await page.getByText("Your account is bound to Telegram.").waitFor();
  await card("Accounts").getByText("4711").waitFor();
});

test("a link with the Telegram login of another user neither binds nor signs in", async () => {
  await page.goto("/oauth/telegram?id=1&auth_date=1&hash=00&state=guessed");
  await page.getByText("This sign-in was not begun in this tab.", { exact: false }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
});

test("an account with two-factor sign-in is asked for its code after the service", async () => {
  const path = "/api/user/self/two_factor";
  const begun = (await asUser(page, "POST", path, {})) as { data: { secret: string } };
  const code = new TOTP({ secret: Secret.fromBase32(begun.data.secret) }).generate();
  const confirmed = (await asUser(page, "POST", `${path}/confirm`, { code })) as { data: { recovery_codes: string[] } };
  const [first = "", second = ""] = confirmed.data.recovery_codes;
  const { page: visitor, faults: own } = await openPage(browser, gateway.url);
  await serveTelegram(visitor.context());
  await visitor.goto("/login");
  await visitor.getByRole("button", { name: "Continue with GitHub" }).click();
  await visitor.getByLabel("Code").fill("wrong");
  await visitor.getByRole("button", { name: "Log in", exact: true }).click();
  await visitor.getByText("The code is wrong or has been used already.").waitFor();
  expect(await axeFindings(visitor)).toEqual([]);
  await visitor.getByLabel("Code").fill(first);
  await visitor.getByRole("button", { name: "Log in", exact: true }).click();
  await visitor.waitForURL(/\/token/);
  expect(await asUser(visitor, "GET", "/api/user/self")).toMatchObject({ data: { username: "root" } });
  expect(own).toEqual([]);
  await visitor.context().close();
  expect(await asUser(page, "POST", `${path}/disable`, { code: second })).toMatchObject({ success: true });
});

test("Telegram signs in afterwards, and a button that does not load says so (C-092, C-093, C-095)", async () => {
  const { page: visitor, faults: own } = await openPage(browser, gateway.url);
  await visitor.context().route("https://telegram.org/**", (route) => route.abort());
  await visitor.goto("/login");
  await visitor.getByText("The button of Telegram could not be loaded.").waitFor();
  expect(await axeFindings(visitor)).toEqual([]);
  await visitor.context().unrouteAll({ behavior: "wait" });
  await serveTelegram(visitor.context());
  await visitor.getByRole("button", { name: "Try again" }).click();
  await visitor.getByRole("link", { name: "Log in with harbour_bot" }).click();
  await visitor.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  expect(await asUser(visitor, "GET", "/api/user/self")).toMatchObject({ data: { username: "root" } });
  // The blocked script was provoked above.
  expect([...faults, ...own].filter((fault) => !/net::ERR_FAILED/.test(fault))).toEqual([]);
  await visitor.context().close();
});
