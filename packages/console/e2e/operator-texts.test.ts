import { ROOT_PASSWORD, startGateway, type GatewayProcess } from "@fairway/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openBrowser, openPage, shoot } from "./browser.ts";
import { setOption, signIn } from "./session.ts";

// Texts of the operator that stand around everybody's pages: footer, announcement, home page.

const BAD =
  "<img src=x onerror='window.hacked=1'><svg onload='window.hacked=1'></svg><script>window.hacked=1</script>" +
  "<a href='javascript:window.hacked=1'>bad link</a><form action=//evil.example><input name=p></form>";

let gateway: GatewayProcess;
let browser: Browser;
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  gateway = await startGateway();
  browser = await openBrowser();
  ({ page, faults } = await openPage(browser, gateway.url));
  await signIn(page, "root", ROOT_PASSWORD);
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

const footer = () => page.getByRole("contentinfo");

/** What a hostile text would have left behind inside of a part of the page. */
function leftIn(part: ReturnType<Page["locator"]>): Promise<{ hacked: boolean; bad: number; links: string[] }> {
  return part.evaluate((box) => ({
    hacked: "hacked" in window,
    bad: box.querySelectorAll("script, svg[onload], form, input, [onerror], [style]").length,
    links: [...box.querySelectorAll("a")].map((link) => link.getAttribute("href") ?? ""),
  }));
}

test("the footer is the credit line until the operator writes one, and nothing in that runs (C-077)", async () => {
  await page.goto("/token");
  await footer().getByText("Fairway, an open gateway for AI models").waitFor();
  await setOption(page, "Footer", `Port of call 7 <a href='https://legal.example/x'>Imprint</a>${BAD}`);
  await page.goto("/token");
  await footer().getByRole("link", { name: "Imprint" }).waitFor();
  expect(await footer().textContent()).toBe("Port of call 7 Imprintbad link");
  expect(await leftIn(footer())).toEqual({ hacked: false, bad: 0, links: ["https://legal.example/x", ""] });
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "footer");
});

test("a footer in Markdown appears without a reload as soon as it is saved (C-078)", async () => {
  await page.goto("/setting?tab=other");
  await page.getByRole("textbox", { name: "Footer" }).fill("Berth **12**, https://berth.example");
  await page.getByRole("group", { name: "Texts and logo" }).getByRole("button", { name: "Save" }).click();
  await footer().getByRole("link", { name: "https://berth.example" }).waitFor({ timeout: 3_000 });
  expect(await footer().locator("strong").textContent()).toBe("12");
  expect(await footer().locator("iframe").count()).toBe(0);
});

test("nothing went wrong behind the pages", () => expect(faults).toEqual([]));
