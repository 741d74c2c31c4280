import { startGateway, type GatewayProcess } from "@fairway/testkit";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openBrowser, openPage, shoot } from "./browser.ts";
import { totp } from "./totp.ts";

// Sign-in factors besides the password: authenticator, passkeys, and the human check of visitors.

const ROOT_PASSWORD = "harbour-master-1";
/** The token that the check's fake script issues and its fake service accepts. */
const HUMAN = "token-of-a-human";

let gateway: GatewayProcess;
let checker: Server;
let browser: Browser;
let page: Page;
let faults: readonly string[];
const asked: string[] = [];

/** Starts a fake of the service that verifies tokens of the human check. */
async function startChecker(): Promise<string> {
  checker = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const token = new URLSearchParams(body).get("response") ?? "";
      asked.push(token);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ success: token === HUMAN }));
    });
  });
  await new Promise<void>((resolve) => checker.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(checker.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  const env = { FAIRWAY_ROOT_PASSWORD: ROOT_PASSWORD, FAIRWAY_TURNSTILE_URL: await startChecker() };
  gateway = await startGateway({ env });
  browser = await openBrowser();
  // Passkeys belong to host names, not to IP addresses.
  ({ page, faults } = await openPage(browser, gateway.url.replace("127.0.0.1", "localhost")));
  await addAuthenticator(page);
  await signIn();
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  checker?.close();
});

async function fillIn(): Promise<void> {
  await page.getByLabel("Username").fill("root");
  await page.getByLabel("Password", { exact: true }).fill(ROOT_PASSWORD);
  await page.keyboard.press("Enter");
}

async function signIn(): Promise<void> {
  await page.goto("/login");
  await fillIn();
  await page.waitForURL(/\/token/);
}

/** Makes the browser look new. Cookies are removed after leaving the page, because it may be sending a request. */
async function forget(): Promise<void> {
  await page.evaluate(() => localStorage.clear());
  await page.goto("about:blank");
  await page.context().clearCookies();
}

/** Adds a device with a fingerprint that always agrees. */
async function addAuthenticator(on: Page): Promise<void> {
  const debug = await on.context().newCDPSession(on);
  await debug.send("WebAuthn.enable");
  await debug.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

test("an authenticator is set up from a code drawn here, and its recovery codes are shown once", async () => {
  await page.goto("/setting");
  const card = page.getByRole("group", { name: "Two-factor sign-in" });
  await card.getByText("Off", { exact: true }).waitFor();
  await card.getByRole("button", { name: "Set up" }).click();
  await card
    .getByRole("img", { name: /QR code/ })
    .locator("path")
    .waitFor();
  const secret = (await card.getByTestId("totp-secret").textContent()) ?? "";
  expect(secret).toMatch(/^[A-Z2-7]{16,}$/);
  await card.getByRole("button", { name: "Switch on" }).click();
  await card.getByText("Please enter the code.").waitFor();
  await card.getByLabel("Code", { exact: true }).fill("000000");
  await card.getByRole("button", { name: "Switch on" }).click();
  await card.getByText("The code is wrong or has been used already.").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await card.scrollIntoViewIfNeeded();
  await shoot(page, "two-factor-setup");
  await card.getByLabel("Code", { exact: true }).fill(totp(secret));
  await card.getByRole("button", { name: "Switch on" }).click();
  await card.getByTestId("recovery-code").first().waitFor();
  const codes = await card.getByTestId("recovery-code").allTextContents();
  expect(codes.length).toBeGreaterThan(5);
  const file = await card.getByRole("link", { name: "Save as a file" }).getAttribute("href");
  expect(decodeURIComponent(file ?? "")).toContain(codes[0]);
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "recovery-codes");
  await card.getByRole("button", { name: "I have saved them" }).click();
  await card.getByText(`${codes.length} recovery codes are left.`).waitFor();
  await card.getByText("On", { exact: true }).waitFor();

  await forget();
  await page.goto("/login");
  await fillIn();
  await page.getByLabel("Code", { exact: true }).fill(codes[0] ?? "");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/token/);
  await page.goto("/setting");
  await card.getByText(`${codes.length - 1} recovery codes are left.`).waitFor();

  await card.getByRole("button", { name: "New recovery codes" }).click();
  await card.getByLabel("Code", { exact: true }).fill(codes[1] ?? "");
  await card.getByRole("button", { name: "New recovery codes" }).click();
  await card.getByTestId("recovery-code").first().waitFor();
  const fresh = await card.getByTestId("recovery-code").allTextContents();
  expect(fresh).not.toContain(codes[2]);
  await card.getByRole("button", { name: "I have saved them" }).click();
  await card.getByRole("button", { name: "Switch off" }).click();
  await card.getByLabel("Code", { exact: true }).fill(fresh[0] ?? "");
  await card.getByRole("button", { name: "Switch off" }).click();
  await page.getByText("Two-factor sign-in is off.").waitFor();
  await card.getByText("Off", { exact: true }).waitFor();
});

test("a passkey is added, signs in without a password, and is removed", async () => {
  await page.goto("/setting");
  const card = page.getByRole("group", { name: "Passkeys" });
  await card.getByLabel("Name of the device").fill("harbour laptop");
  await card.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText("The passkey is added.").waitFor();
  await card.getByText("harbour laptop").waitFor();
  await card.getByText(/never used/).waitFor();
  await card.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText("This device has a passkey of your account already.").waitFor();
  await card.getByRole("button", { name: "Rename: harbour laptop" }).click();
  await card.getByLabel("New name").fill("pier laptop");
  expect(await axeFindings(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await card.getByText("pier laptop").waitFor();
  await card.scrollIntoViewIfNeeded();
  await shoot(page, "passkeys");

  await forget();
  await page.goto("/login?next=%2Fsetting");
  await shoot(page, "login-passkey");
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.waitForURL(/\/setting/);
  await card.getByText(/used now/).waitFor();
  await card.getByRole("button", { name: "Remove: pier laptop" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("The passkey “pier laptop” is removed.").waitFor();
  await card.getByText("pier laptop", { exact: true }).waitFor({ state: "detached" });

  await forget();
  await page.goto("/login");
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByText("The passkey could not be verified, please try again.").waitFor();
  await signIn();
});

test("the cards of second factor and passkeys are whole on a phone and in the dark, in Chinese too", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate(() => {
    localStorage.setItem("theme-mode", "dark");
    localStorage.setItem("fairway:language", "zh");
  });
  await page.goto("/setting");
  const card = page.getByRole("group", { name: "两步验证" });
  await card.getByRole("button", { name: "开启" }).click();
  await card.getByRole("img").locator("path").waitFor();
  await card.scrollIntoViewIfNeeded();
  expect(await axeFindings(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  await shoot(page, "two-factor-phone-dark-zh");
  await page.evaluate(() => localStorage.removeItem("fairway:language"));
  await page.evaluate(() => localStorage.removeItem("theme-mode"));
  await page.setViewportSize({ width: 1440, height: 900 });
});

/** Replaces the script of the check: one press and it has a token. */
const WIDGET = `globalThis.turnstile = {
  render(box, options) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "I am human " + options.sitekey;
    button.addEventListener("click", () => options.callback(globalThis.answer ?? ${JSON.stringify(HUMAN)}));
    box.append(button);
    return "widget";
  },
  reset() {},
  remove() { document.querySelectorAll("button").forEach((b) => b.textContent.startsWith("I am human") && b.remove()); },
};`;

async function setOptions(values: Readonly<Record<string, string>>): Promise<void> {
  const body = JSON.stringify(Object.entries(values).map(([key, value]) => ({ key, value })));
  const done = await page.evaluate(async (sent) => {
    const user = JSON.parse(localStorage.getItem("user") ?? "{}") as { id: number };
    const headers = { "content-type": "application/json", "New-Api-User": String(user.id) };
    return (await (await fetch("/api/option/batch", { method: "PUT", headers, body: sent })).json()) as unknown;
  }, body);
  expect(done).toMatchObject({ success: true });
}

test("visitors pass the human check where it is on, and nothing of it loads where it is off (C-097, C-098, C-102)", async () => {
  let loads = 0;
  await page.context().route("https://challenges.cloudflare.com/**", async (route) => {
    loads++;
    await route.fulfill({ contentType: "text/javascript", body: WIDGET });
  });
  await forget();
  await page.goto("/login");
  await page.getByRole("button", { name: "Log in" }).waitFor();
  expect(loads).toBe(0);
  await signIn();
  await setOptions({ TurnstileSiteKey: "site-key", TurnstileSecretKey: "secret-key" });
  await setOptions({ TurnstileCheckEnabled: "true" });

  await forget();
  await page.goto("/login");
  const human = page.getByRole("button", { name: "I am human site-key" });
  await human.waitFor();
  expect(loads).toBe(1);
  await fillIn();
  await page.getByText("Please try again in a few seconds, Turnstile is checking the user environment!").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "login-human-check");
  expect(asked).toEqual([]);
  await page.evaluate(() => Object.assign(globalThis, { answer: "token-of-a-robot" }));
  await human.click();
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("The Turnstile check failed, please refresh the page and try again.").waitFor();
  await page.evaluate(() => Object.assign(globalThis, { answer: undefined }));
  await human.click();
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(/\/token/);
  expect(asked).toEqual(["token-of-a-robot", HUMAN]);

  for (const path of ["/register", "/reset"]) {
    await forget();
    await page.goto(path);
    await human.waitFor();
    expect(await axeFindings(page), path).toEqual([]);
  }
  await page.goto("/register");
  await page.getByLabel("Username").fill("ada");
  await page.getByLabel("Password", { exact: true }).fill("lovelace-1843");
  await page.getByLabel("Repeat the password", { exact: true }).fill("lovelace-1843");
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.getByText(/Turnstile is checking/).waitFor();
  await human.click();
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.getByText("Your account is ready. Please log in.").waitFor();
});

test("a human check that cannot be loaded says so and is tried again", async () => {
  await page.context().unrouteAll({ behavior: "wait" });
  await page.context().route("https://challenges.cloudflare.com/**", (route) => route.abort());
  await page.goto("/reset");
  await page.getByText("The human check could not be loaded.").waitFor();
  await page.context().unrouteAll({ behavior: "wait" });
  await page
    .context()
    .route("https://challenges.cloudflare.com/**", (route) =>
      route.fulfill({ contentType: "text/javascript", body: WIDGET }),
    );
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("button", { name: "I am human site-key" }).waitFor();
  expect(await page.getByText("The human check could not be loaded.").count()).toBe(0);
});

test("nothing went wrong behind the pages", () => {
  // The blocked script was provoked above.
  expect(faults.filter((fault) => !/net::ERR_FAILED/.test(fault))).toEqual([]);
});
