import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { setOption } from "./session.ts";

// Texts of the operator that appear on every user's pages: footer, announcement, home page.

const BAD =
  "<img src=x onerror='window.hacked=1'><svg onload='window.hacked=1'></svg><script>window.hacked=1</script>" +
  "<a href='javascript:window.hacked=1'>bad link</a><form action=//evil.example><input name=p></form>";

let opened: OpenConsole;
let gateway: OpenConsole["gateway"];
let browser: OpenConsole["browser"];
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  opened = await openConsole();
  ({ gateway, browser, page, faults } = opened);
});

afterAll(() => opened?.close());

const footer = () => page.getByRole("contentinfo");

/** Returns traces that a hostile text would leave in a part of the page. */
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

const notice = (on: Page) => on.getByRole("region", { name: "Announcement" });

test("an announcement is on the home page until it is closed, and returns with another text (C-365)", async () => {
  await page.goto("/");
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  expect(await notice(page).count()).toBe(0);
  await setOption(page, "Notice", "## Dry dock\n\nClosed on **Sunday**, see [the plan](https://plan.example/x).");
  await page.goto("/");
  await notice(page).getByRole("heading", { name: "Dry dock" }).waitFor();
  await notice(page).getByRole("link", { name: "the plan" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "announcement");
  await page.getByRole("button", { name: "Close the announcement" }).click();
  expect(await notice(page).count()).toBe(0);
  const answered = page.waitForResponse(/\/api\/notice/);
  await page.goto("/");
  await answered;
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  expect(await notice(page).count()).toBe(0);
  await setOption(page, "Notice", `<p>Open again</p>${BAD}`);
  await page.goto("/");
  await notice(page).getByText("Open again").waitFor();
  expect(await leftIn(notice(page))).toEqual({ hacked: false, bad: 0, links: [""] });
});

test("visitors see the announcement too", async () => {
  const { page: visitor, faults: found } = await openPage(browser, gateway.url);
  await visitor.goto("/");
  await visitor.getByRole("heading", { name: "One key for every model" }).waitFor();
  await notice(visitor).getByText("Open again").waitFor();
  expect(await axeFindings(visitor)).toEqual([]);
  expect(found).toEqual([]);
  await visitor.context().close();
});

test("the operator's home page takes the place of ours: Markdown, HTML or a frame (C-365)", async () => {
  await setOption(page, "Notice", "");
  await setOption(page, "HomePageContent", "# Harbour of models\n\n- berth\n- buoy");
  await page.goto("/");
  await page.getByRole("heading", { level: 2, name: "Harbour of models" }).waitFor();
  expect(await page.getByRole("heading", { level: 1 }).allTextContents()).toEqual(["Home"]);
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "own-home");
  await setOption(page, "HomePageContent", `<h1>Quay</h1>${BAD}`);
  await page.goto("/");
  await page.getByRole("heading", { level: 2, name: "Quay" }).waitFor();
  expect(await leftIn(page.getByRole("main"))).toMatchObject({ hacked: false, bad: 0 });
});

test("a home page that was saved here is seen at once", async () => {
  await page.route("https://home.example.test/**", (route) =>
    route.fulfill({ contentType: "text/html", body: "<!doctype html><title>Site</title><p>A site of its own</p>" }),
  );
  await page.getByRole("navigation").getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "Texts and logo", exact: true }).click();
  const card = page.getByRole("group", { name: "Texts and logo" });
  await card.getByRole("textbox", { name: "Home page" }).fill("https://home.example.test/us");
  await card.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
  await page.frameLocator('iframe[title="Home"]').getByText("A site of its own").waitFor();
  expect(await page.locator('iframe[title="Home"]').getAttribute("sandbox")).not.toContain("allow-top-navigation");
});

test("nothing went wrong behind the pages", () => expect(faults).toEqual([]));
