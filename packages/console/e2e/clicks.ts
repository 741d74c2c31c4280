import { ROOT_PASSWORD } from "@fairway/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { openPage } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";

const COUNTER = "clicks-of-the-test";

export interface Visitor {
  readonly page: Page;
  /** Everything that went wrong in the page. */
  readonly faults: readonly string[];
  /** Returns the number of clicks since the sign-in page opened, over all pages that were visited. */
  countClicks(): Promise<number>;
  close(): Promise<void>;
}

/** Opens the console in a fresh context that counts the clicks of its user, and signs in by the keyboard. */
export async function openVisitor(
  browser: Browser,
  url: string,
  account: { readonly name: string; readonly password: string },
): Promise<Visitor> {
  const { page, faults } = await openPage(browser, url);
  await page.addInitScript((name) => {
    addEventListener(
      "click",
      (event) => {
        // Enter on a button also makes a click, without a pointer.
        if (!event.isTrusted || event.detail === 0) return;
        sessionStorage.setItem(name, String(Number(sessionStorage.getItem(name) ?? "0") + 1));
      },
      true,
    );
  }, COUNTER);
  await page.goto("/login");
  await page.getByLabel("Username").fill(account.name);
  await page.getByLabel("Password", { exact: true }).fill(account.password);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/token/);
  // Keys that are pressed before the page is there reach nothing.
  await page.getByRole("heading", { level: 1 }).waitFor();
  return {
    page,
    faults,
    countClicks: async () => Number(await page.evaluate((name) => sessionStorage.getItem(name), COUNTER)),
    close: () => page.context().close(),
  };
}

interface Visits {
  readonly opened: OpenConsole;
  /** Root, from a sign-in of this test's own. */
  readonly visitor: Visitor;
}

/** Registers the hooks of a file whose tests are tasks from a cold sign-in. */
export function useVisits(prepare: (opened: OpenConsole) => Promise<void>): Visits {
  let opened: OpenConsole | undefined;
  let visitor: Visitor | undefined;
  const require = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error("the console is not open yet");
    return part;
  };
  beforeAll(async () => {
    opened = await openConsole({ isSignedIn: false });
    await prepare(opened);
  });
  afterAll(() => opened?.close());
  beforeEach(async () => {
    const { browser, gateway } = require(opened);
    visitor = await openVisitor(browser, gateway.url, { name: "root", password: ROOT_PASSWORD });
  });
  afterEach(async () => {
    const { faults, close } = require(visitor);
    await close();
    expect(faults).toEqual([]);
  });
  return {
    get opened() {
      return require(opened);
    },
    get visitor() {
      return require(visitor);
    },
  };
}
