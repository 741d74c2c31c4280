import { ROOT_PASSWORD } from "@fairway/testkit";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser } from "./session.ts";

// Ten tasks without a pointer: every focus stop is visible, and a closed dialog returns the focus.

/** A control that needs more stops is out of reach of the Tab key. */
const MAX_STOPS = 45;

let opened: OpenConsole;
let gateway: OpenConsole["gateway"];
let upstream: OpenConsole["upstream"];
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  opened = await openConsole({ isSignedIn: false });
  ({ gateway, upstream, page, faults } = opened);
});

afterAll(() => opened?.close());

const press = (...keys: string[]) =>
  keys.reduce<Promise<void>>((sum, key) => sum.then(() => page.keyboard.press(key)), Promise.resolve());
const type = (text: string) => page.keyboard.type(text);
const title = (name: string) => page.getByRole("heading", { level: 1, name }).waitFor();
const row = (text: string) => page.getByRole("row").filter({ hasText: text });

/** Returns the accessible name of the focused element; "" = the page itself. */
function focused(): Promise<string> {
  return page.evaluate(() => {
    const focus = document.activeElement;
    if (!focus || focus === document.body) return "";
    const labels = "labels" in focus ? [...((focus.labels as NodeListOf<HTMLElement> | null) ?? [])] : [];
    const label = labels.map(({ textContent }) => textContent).join(" ");
    const texts = [focus.getAttribute("aria-label"), label, focus.textContent, focus.getAttribute("placeholder")];
    return (texts.find((text) => text) ?? focus.localName).trim();
  });
}

/**
 * Returns whether the focus is visible: on the element itself, on the track of a switch next to it, or on the cells of
 * a row.
 */
function isFocusSeen(): Promise<boolean> {
  return page.evaluate(() => {
    const focus = document.activeElement;
    const drawn = [focus, focus?.parentElement, focus?.nextElementSibling, focus?.querySelector("td")];
    return drawn.some((one) => {
      if (!one) return false;
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
      return (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none";
    });
  });
}

/** Walks to the control with this name; every stop on the way must be visible. */
async function walkTo(name: RegExp, key = "Tab"): Promise<void> {
  const passed: string[] = [];
  for (let step = 0; step < MAX_STOPS; step++) {
    const at = await focused();
    // "" is the end of the page; the browser's own controls follow it.
    if (step > 0 && at !== "") expect(await isFocusSeen(), `the focus on “${at}” cannot be seen`).toBe(true);
    if (name.test(at)) return;
    passed.push(at);
    await press(key);
  }
  throw new Error(`${String(name)} is not among ${passed.join(" | ")}`);
}

async function choose(name: RegExp, key = "Enter"): Promise<void> {
  await walkTo(name);
  await press(key);
}

/** Checks that the focus returns after a dialog closes, and not to the start of the page. */
async function focusIsBack(name: RegExp): Promise<void> {
  await expect.poll(focused).toMatch(name);
}

async function palette(text: string): Promise<void> {
  await press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").waitFor();
  await type(text);
}

test("sign in", async () => {
  await page.goto("/login");
  await focusIsBack(/Username/);
  await type("root");
  await press("Tab");
  await type(ROOT_PASSWORD);
  await press("Enter");
  await title("Token");
});

test("create a channel", async () => {
  await press("g", "c");
  await title("Channel");
  await press("c");
  await page.getByRole("dialog", { name: "Add channel" }).waitFor();
  await focusIsBack(/Type/);
  await walkTo(/^Name/);
  await type("quay");
  await walkTo(/^Key/);
  await type("sk-1");
  await walkTo(/^Base address/);
  await type(upstream.url);
  await page.waitForFunction(() => document.querySelector('[role=dialog] button[aria-label^="Remove gpt"]') !== null);
  // The usual models are many stops, so the way back from the end is shorter.
  await page.getByRole("button", { name: "Clear" }).focus();
  await press("Enter");
  await walkTo(/Models|Add models/, "Shift+Tab");
  await type("gpt-4o,status-500,");
  await choose(/^Create channel$/);
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await row("quay").waitFor();
  expect(await focused()).not.toBe("");
});

test("try a channel", async () => {
  await walkTo(/quay/);
  await press("t");
  await row("quay")
    .getByText(/\d s$|failed/)
    .waitFor();
});

test("disable a channel that the palette led to", async () => {
  await palette("Channel");
  await page
    .getByRole("option", { name: /^Channel/ })
    .first()
    .waitFor();
  await press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await title("Channel");
  await row("quay").waitFor();
  await walkTo(/quay/);
  await walkTo(/^Actions for quay/, "ArrowRight");
  await press("Enter");
  await page.getByRole("menuitem", { name: "Disable" }).waitFor();
  await type("Disab");
  await press("Enter");
  await row("quay").getByText("Disabled").waitFor();
});

test("create a token and copy it", async () => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await press("g", "t");
  await title("Token");
  await press("c");
  await page.getByRole("dialog", { name: "Add token" }).waitFor();
  await focusIsBack(/Name/);
  await type("shop");
  await press("Enter");
  const made = page.getByRole("dialog", { name: "Your new key" });
  await made.waitFor();
  await choose(/Copy/);
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/sk-\w{48}/);
  await press("Escape");
  await made.waitFor({ state: "detached" });
  await row("shop").waitFor();
});

test("find a failed call and read why", async () => {
  const key = await page.evaluate(() => navigator.clipboard.readText());
  const ratios = { key: "ModelRatio", value: '{"status-500":1}' };
  expect(await asUser(page, "PUT", "/api/option/", ratios)).toMatchObject({ success: true });
  await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key.trim()}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "status-500", messages: [{ role: "user", content: "Ahoy" }] }),
  }).then((answer) => answer.text());
  await press("g", "l");
  await title("Log");
  await expect
    .poll(async () => {
      await page.getByRole("button", { name: "Refresh" }).focus();
      await press("Enter");
      return row("status-500").count();
    })
    .toBeGreaterThan(0);
  await walkTo(/shop.*status-500/);
  await press("Enter");
  const peek = page.getByRole("dialog").or(page.getByRole("complementary")).filter({ hasText: "status-500" }).last();
  await peek
    .getByText(/Attempt 1|attempt/i)
    .first()
    .waitFor();
  await press("Escape");
  await expect.poll(() => new URL(page.url()).searchParams.get("row")).toBe(null);
  await focusIsBack(/shop.*status-500/);
});

test("change an option", async () => {
  await palette("SystemName");
  await page.getByRole("option", { name: /SystemName/ }).waitFor();
  await press("Enter");
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute("name"))).toBe("SystemName");
  await press("Control+a");
  await type("Harbour");
  await choose(/^Save$/);
  await page
    .getByText(/^Saved/)
    .first()
    .waitFor();
});

test("filter a list and save the view", async () => {
  await press("g", "c");
  await title("Channel");
  await press("/");
  await type("quay");
  await page.waitForURL(/q=quay/);
  await row("quay").waitFor();
  await choose(/^Columns and/);
  const menu = page.getByRole("dialog", { name: /^Columns and/ });
  await menu.getByRole("textbox").waitFor();
  await walkTo(/^Name of/);
  await type("mine");
  await press("Enter");
  await page.getByRole("button", { name: "mine", exact: true }).first().waitFor();
  await press("Escape");
  await focusIsBack(/^Columns and/);
});

test("redeem a code", async () => {
  const made = await asUser(page, "POST", "/api/redemption/", { name: "spring", quota: 500_000, count: 1 });
  const [code = ""] = (made as { data: string[] }).data;
  await press("g", "w");
  await title("Wallet");
  await walkTo(/Redemption code/);
  await type(code);
  await press("Enter");
  await page.locator("[data-toast]").first().waitFor();
  await expect.poll(() => page.getByRole("textbox", { name: "Redemption code" }).inputValue()).toBe("");
});

test("edit a user", async () => {
  // The field for the code has the focus, where letters are text.
  await palette("User Management");
  await page
    .getByRole("option", { name: /^User Management/ })
    .first()
    .waitFor();
  await press("Enter");
  await title("Manage Users");
  await walkTo(/root/);
  await press("e");
  const drawer = page.getByRole("dialog", { name: "Edit user" });
  await drawer.waitFor();
  await walkTo(/^Display name/);
  await press("Control+a");
  await type("Captain");
  await press("Enter");
  await drawer.waitFor({ state: "detached" });
  await row("Captain").waitFor();
  await focusIsBack(/root/);
});

test("nothing went wrong behind the pages", () => expect(faults).toEqual([]));
