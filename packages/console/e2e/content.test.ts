import { ROOT_PASSWORD, startGateway, type GatewayProcess } from "@fairway/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openBrowser, openPage, shoot } from "./browser.ts";
import { asUser, setOption, signIn } from "./session.ts";

// Texts and links of the operator: they are shown, and nothing in them runs.

const SITE = "<!doctype html><title>Site</title><p>A site of its own</p>";

let gateway: GatewayProcess;
let browser: Browser;
let page: Page;
let faults: readonly string[];

const heading = (name: string) => page.getByRole("heading", { level: 1, name });

beforeAll(async () => {
  gateway = await startGateway();
  browser = await openBrowser();
  ({ page, faults } = await openPage(browser, gateway.url));
  for (const host of ["about.example.test", "chat.example.test", "chat2.example.test"])
    await page.route(`https://${host}/**`, (route) => route.fulfill({ contentType: "text/html", body: SITE }));
  await signIn(page, "root", ROOT_PASSWORD);
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

test("the about page teaches while it is empty, and opens from the header", async () => {
  await heading("Token").waitFor();
  await page.getByRole("link", { name: "About", exact: true }).click();
  await heading("About").waitFor();
  await page.getByRole("heading", { name: "Fairway runs on Fairway" }).waitFor();
  await page.getByRole("link", { name: "Write it under Settings" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
});

test("it shows Markdown, to visitors too", async () => {
  await setOption(
    page,
    "About",
    "# Harbour office\n\nOpen **daily**.\n\n- berth\n- buoy\n\n| Fee | Price |\n|---|---|\n| Pilot | 5 |",
  );
  const { page: visitor } = await openPage(browser, gateway.url);
  await visitor.goto("/about");
  await visitor.getByRole("heading", { level: 2, name: "Harbour office" }).waitFor();
  await visitor.getByRole("listitem").filter({ hasText: "buoy" }).waitFor();
  await visitor.getByRole("cell", { name: "Pilot" }).waitFor();
  expect(await axeFindings(visitor)).toEqual([]);
  await shoot(visitor, "about");
  await visitor.context().close();
});

test("runs nothing in the HTML of an operator and keeps what is safe", async () => {
  const bad = [
    "<h1>Quay</h1><p style='position:fixed'>Safe <b>text</b></p><a href='https://docs.example/x'>docs</a>",
    "<a href='javascript:window.hacked=1'>bad link</a><a href=' java\tscript:window.hacked=1'>worse link</a>",
    "<img src='https://pic.example.test/a.png' onerror='window.hacked=1' alt='A pier'>",
    "<img src=x onerror=window.hacked=1><svg onload=window.hacked=1><script>window.hacked=1</script></svg>",
    "<iframe srcdoc='<script>parent.hacked=1</script>'></iframe><style>body{display:none}</style>",
    "<form action=//evil.example><input name=p><button>Sign in</button></form><math><mtext></mtext></math>",
    "<template><img src=x onerror=window.hacked=1></template><noscript><p title='</noscript><img src=x onerror=window.hacked=1>'></p></noscript>",
    "<details open ontoggle=window.hacked=1><summary>More</summary>Detail</details>",
  ].join("");
  await page.route("https://pic.example.test/**", (route) => route.abort());
  await setOption(page, "About", bad);
  await page.goto("/about");
  await page.getByRole("heading", { level: 2, name: "Quay" }).waitFor();
  await page.getByText("More").waitFor();
  await page.getByText("bad link").waitFor();
  const found = await page.locator(".prose").evaluate((box) => ({
    hacked: "hacked" in window,
    elements: [...new Set([...box.querySelectorAll("*")].map(({ localName }) => localName))].toSorted(),
    attributes: [...new Set([...box.querySelectorAll("*")].flatMap((one) => one.getAttributeNames()))].toSorted(),
    links: [...box.querySelectorAll("a")].map((link) => link.getAttribute("href")),
  }));
  expect(found).toEqual({
    hacked: false,
    elements: ["a", "b", "details", "h2", "img", "p", "summary"],
    attributes: ["alt", "href", "referrerpolicy", "rel", "src", "target"],
    links: ["https://docs.example/x", null, null],
  });
  expect(await axeFindings(page)).toEqual([]);
});

test("an address becomes a frame", async () => {
  await setOption(page, "About", "https://about.example.test/us");
  await page.goto("/about");
  const frame = page.locator('iframe[title="About"]');
  await frame.waitFor();
  expect(await frame.getAttribute("sandbox")).not.toContain("allow-top-navigation");
  await page.frameLocator('iframe[title="About"]').getByText("A site of its own").waitFor();
});

test("without a chat link there is no chat (C-063)", async () => {
  await page.goto("/chat");
  await page.getByText("The administrator has not set up a chat link.").waitFor();
  expect(await page.getByRole("navigation").getByRole("link", { name: "Chat" }).count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);
});

test("without a token the chat leads to the tokens (C-360, C-361)", async () => {
  await setOption(page, "ChatLink", "https://chat.example.test");
  await setOption(page, "ChatLink2", "https://chat2.example.test/?k={key}&u={address}");
  await page.goto("/chat");
  await page.getByText("There are currently no available enabled tokens... Redirecting").waitFor();
  await page.getByRole("link", { name: "Add token" }).first().waitFor();
  await page.waitForURL(/\/token$/);
  await page.goto("/chat2link");
  const toast = page.getByRole("alert").filter({ hasText: "Please confirm whether any tokens are activated!" });
  await toast.waitFor();
  await page.waitForURL(/\/token$/);
});

test("the chat is framed with the first enabled token (C-048)", async () => {
  const token = { name: "chat", remain_quota: 500_000, unlimited_quota: false, expired_time: -1 };
  expect(await asUser(page, "POST", "/api/token/", token)).toMatchObject({ success: true });
  await page.goto("/");
  await page.getByRole("navigation").getByRole("link", { name: "Chat" }).click();
  await heading("Chat").waitFor();
  expect(new URL(page.url()).pathname).toBe("/chat");
  await page.getByText("with the token chat").waitFor();
  await page.frameLocator('iframe[title="Chat"]').getByText("A site of its own").waitFor();
  const source = (await page.locator('iframe[title="Chat"]').getAttribute("src")) ?? "";
  const settings = JSON.parse(decodeURIComponent(source.split("settings=")[1] ?? "")) as Record<string, string>;
  expect(settings.key).toMatch(/^sk-\w{48}$/);
  expect(settings.url).toBe(gateway.url);
  expect(await axeFindings(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  await shoot(page, "chat-390");
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("the other chat link leads on with the token (C-049)", async () => {
  await page.goto("/chat2link");
  await page.waitForURL(/^https:\/\/chat2\.example\.test\/\?k=sk-\w{48}&u=http/);
  await page.goto(gateway.url);
  await heading("Overview").waitFor();
});

test("visitors of the chat are asked to sign in", async () => {
  const { page: visitor } = await openPage(browser, gateway.url);
  await visitor.goto("/chat");
  await visitor.getByRole("heading", { name: "Sign in to chat" }).waitFor();
  expect(await axeFindings(visitor)).toEqual([]);
  await visitor.context().close();
  // The picture was refused on purpose, and frames of other origins do not answer the check of accessibility.
  expect(faults.filter((fault) => !/ERR_FAILED|'postMessage'/.test(fault))).toEqual([]);
});
