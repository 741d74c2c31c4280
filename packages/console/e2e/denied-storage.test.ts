import { ROOT_PASSWORD } from "@fairway/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { signIn } from "./session.ts";

// A browser that denies its storage, or has none left: only remembered state is lost.

let open: OpenConsole;

beforeAll(async () => {
  open = await openConsole({ isSignedIn: false });
});

afterAll(() => open?.close());

/** Makes reading the storage throw, as if cookies were blocked. */
function deny(): void {
  for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(globalThis, name, {
      get() {
        throw new DOMException("The operation is insecure.", "SecurityError");
      },
    });
}

/** Makes writing throw, as in a private window or with a full disk. */
function fill(): void {
  Storage.prototype.setItem = () => {
    throw new DOMException("The quota has been exceeded.", "QuotaExceededError");
  };
}

test("a storage that was emptied under an open session loses no session", async () => {
  const { page, faults } = await openPage(open.browser, open.gateway.url);
  await signIn(page, "root", ROOT_PASSWORD);
  await page.evaluate(() => localStorage.clear());
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Token" }).waitFor();
  expect(await page.evaluate(() => localStorage.getItem("user"))).toContain('"username":"root"');
  await page.goto("/pricing");
  await page.getByRole("link", { name: "Token", exact: true }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test.each([
  ["denied", deny],
  ["full", fill],
])("with a storage that is %s the console signs in, creates, filters and signs out", async (kind, breakStorage) => {
  const { page, faults } = await openPage(open.browser, open.gateway.url);
  await page.addInitScript(breakStorage);
  await page.goto("/login");
  await page.getByLabel("Username").fill("root");
  await page.getByLabel("Password", { exact: true }).fill(ROOT_PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/token/);

  await page.getByRole("link", { name: "Add token" }).first().click();
  const form = page.getByRole("dialog", { name: "Add token" });
  await form.getByLabel("Name").fill(`${kind} berth`);
  await form.getByRole("button", { name: "Create token" }).click();
  const created = page.getByRole("dialog", { name: "Your new key" });
  await created.getByRole("button", { name: "Done" }).click();
  await page
    .getByRole("row")
    .filter({ hasText: `${kind} berth` })
    .waitFor();

  // The session depends on the cookie: after a reload it continues, and may write.
  await page.reload();
  const stored = page.getByRole("row").filter({ hasText: `${kind} berth` });
  await stored.waitFor();
  await page.getByRole("button", { name: `Actions for ${kind} berth` }).click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await stored.getByText("Disabled").waitFor();

  await page.getByRole("link", { name: "Log", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Log" }).waitFor();
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);

  await page.getByRole("button", { name: /light and dark|dark|light/i }).click();
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name: "Exit" }).click();
  await page.waitForURL(/\/login$/);
  // A user who signed out is not signed in again.
  await page.goto("/token");
  await page.waitForURL(/\/login\?next=/);
  expect(faults).toEqual([]);
  await page.context().close();
});
