import { ROOT_PASSWORD } from "@fairway/testkit";
import type { Locator, Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { settled, visit } from "./page-checks.ts";
import { asUser } from "./session.ts";

// Whatever the answer to a call is: one message, a way to continue, and no input is lost.

const BAD: Readonly<Record<string, (route: Route) => Promise<void>>> = {
  "403": (route) => route.fulfill({ status: 403, json: { success: false, message: "Not in this port." } }),
  "405": (route) => route.fulfill({ status: 405, body: "" }),
  "429": (route) => route.fulfill({ status: 429, headers: { "retry-after": "2" }, json: { message: "Slow down." } }),
  "500": (route) => route.fulfill({ status: 500, body: "<html>oops</html>", contentType: "text/html" }),
  "502": (route) => route.fulfill({ status: 502, body: "" }),
  "success=false": (route) => route.fulfill({ json: { success: false, message: "Not today." } }),
  "malformed JSON": (route) => route.fulfill({ contentType: "application/json", body: '{"success":tru' }),
  "a cut connection": (route) => route.abort("connectionreset"),
};

/** The answer that every page is tested with. */
const EVERYWHERE = "success=false";

/** Calls that every page needs before it can show that something else failed. */
const SPARED = /\/api\/(status|user\/self|user\/self\/prefs|user\/logout)$/;

let opened: OpenConsole;
let page: Page;
/** The current answer to calls; undefined = the gateway's. */
let answer: ((route: Route) => Promise<void>) | undefined;
let isBad: (route: Route) => boolean = () => false;

const toasts = () => page.locator("[data-toast]");
const READS = [
  "/",
  "/channel",
  "/token",
  "/log",
  "/user",
  "/redemption",
  "/budget",
  "/audit",
  "/document",
  "/pricing",
  "/detail",
  "/topup",
  "/playground",
  "/midjourney",
  "/task",
  "/batch",
  "/file",
  "/cache",
  "/channel/1",
  "/token/1",
  "/user/1",
] as const;

beforeAll(async () => {
  opened = await openConsole();
  ({ page } = opened);
  const channel = { type: 1, name: "quay", key: "sk-1", models: "gpt-4o", base_url: "http://127.0.0.1:9" };
  for (const [path, body] of [
    ["/api/channel/", channel],
    ["/api/token/", { name: "shop", remain_quota: 500_000 }],
    ["/api/redemption/", { name: "spring", quota: 500_000, count: 1 }],
  ] as const)
    expect(await asUser(page, "POST", path, body)).toMatchObject({ success: true });
  await page.route("**/api/**", (route) => (answer && isBad(route) ? answer(route) : route.continue()));
});

afterAll(() => opened?.close());

/** A temporary failure is retried for seconds before the page reports it, so only a few pages are tested. */
const FEW = ["/", "/token"] as const;

async function dismiss(): Promise<void> {
  // This also works next to an open drawer.
  for (const toast of (await toasts().all()).reverse()) await toast.getByRole("button", { name: "Close" }).click();
  await expect.poll(() => toasts().count()).toBe(0);
}

test.each(Object.entries(BAD))(
  "pages whose reads are answered with %s say so once, and another try helps",
  async (name, bad) => {
    answer = bad;
    isBad = (route) => route.request().method() === "GET" && !SPARED.test(new URL(route.request().url()).pathname);
    await page.goto("/about");
    const problems: string[] = [];
    for (const path of name === EVERYWHERE ? READS : FEW) {
      await visit(page, path);
      const retry = page.getByRole("main").getByRole("button", { name: /Try again|Retry/ });
      const isOffered = await retry
        .first()
        .waitFor()
        .then(
          () => true,
          () => false,
        );
      if (!isOffered) problems.push(`${path}: no other try`);
      const count = await toasts().count();
      if (count > 1) problems.push(`${path}: ${count} messages`);
      await expect.poll(() => page.getByRole("heading", { level: 1 }).count(), { message: path }).toBe(1);
      await dismiss();
    }
    expect(problems).toEqual([]);
    await visit(page, "/token");
    answer = undefined;
    await page.getByRole("main").getByRole("button", { name: "Try again" }).first().click();
    await page.getByRole("row").filter({ hasText: "shop" }).waitFor();
  },
);

interface Form {
  readonly path: string;
  /** Types something, and returns the field that must keep it. */
  type(): Promise<readonly [field: Locator, text: string]>;
  send(): Promise<void>;
}

const drawer = () => page.getByRole("dialog").filter({ has: page.locator("form") });
const press = (name: string) => drawer().getByRole("button", { name, exact: true }).click();
async function typed(field: Locator, text: string): Promise<readonly [Locator, string]> {
  await field.fill(text);
  return [field, text];
}

const FORMS: Readonly<Record<string, Form>> = {
  token: {
    path: "/token/add",
    type: () => typed(drawer().getByLabel("Name"), "half a token"),
    send: () => press("Create token"),
  },
  channel: {
    path: "/channel/edit/1",
    type: () => typed(drawer().getByLabel("Name"), "half a channel"),
    send: () => press("Save"),
  },
  user: {
    path: "/user/edit/1",
    type: () => typed(drawer().getByLabel("Display name"), "half a name"),
    send: () => press("Save"),
  },
  codes: {
    path: "/redemption/add",
    type: () => typed(drawer().getByRole("textbox", { name: /^Name/ }), "half a code"),
    send: () => press("Create codes"),
  },
  option: {
    path: "/setting?tab=other",
    type: () => typed(page.locator('[name="SystemName"]'), "half a system"),
    send: () =>
      page
        .locator("form")
        .filter({ has: page.locator('[name="SystemName"]') })
        .getByRole("button", { name: "Save" })
        .click(),
  },
  redeem: {
    path: "/topup",
    type: () => typed(page.getByLabel("Redemption code"), "0123456789abcdef0123456789abcdef"),
    send: () => page.getByRole("button", { name: "Redeem", exact: true }).click(),
  },
};

test.each(Object.entries(FORMS))(
  "the form of %s keeps what was typed, whatever its call is answered with",
  async (_name, form) => {
    answer = undefined;
    await page.goto(form.path);
    await settled(page);
    const [field, text] = await form.type();
    isBad = (route) => route.request().method() !== "GET";
    const problems: string[] = [];
    for (const [name, bad] of Object.entries(BAD)) {
      answer = bad;
      const answered = page
        .waitForEvent("requestfinished", (request) => request.method() !== "GET")
        .catch(() => undefined);
      const failed = page.waitForEvent("requestfailed", (request) => request.method() !== "GET").catch(() => undefined);
      await form.send();
      await Promise.race([answered, failed]);
      await expect.poll(() => page.getByRole("alert").or(toasts()).count(), { message: name }).toBeGreaterThan(0);
      const count = await toasts().count();
      if (count > 1) problems.push(`${name}: ${count} messages`);
      if ((await field.inputValue()) !== text) problems.push(`${name}: what was typed is lost`);
      await dismiss();
    }
    expect(problems).toEqual([]);
    answer = undefined;
  },
);

test("a form whose answer is slow is sent once, however often it is confirmed", async () => {
  await page.goto("/token/add");
  const release = Promise.withResolvers<void>();
  let sent = 0;
  isBad = (route) => route.request().method() === "POST";
  answer = async (route) => {
    sent += 1;
    await release.promise;
    await route.continue();
  };
  await drawer().getByLabel("Name").fill("patient");
  await press("Create token");
  await expect.poll(() => sent).toBe(1);
  await page.keyboard.press("Enter");
  release.resolve();
  await page.getByRole("dialog", { name: "Your new key" }).waitFor();
  expect(sent).toBe(1);
  answer = undefined;
});

test("a call that is answered with 401 leads to the sign-in page once, and back", async () => {
  await page.goto("/token");
  await settled(page);
  isBad = (route) => !/\/api\/(status|user\/login)/.test(route.request().url());
  answer = (route) => route.fulfill({ status: 401, json: { success: false, message: "Not signed in." } });
  await visit(page, "/channel").catch(() => undefined);
  await page.waitForURL(/\/login\?expired=true/);
  expect(await toasts().count()).toBeLessThanOrEqual(1);
  answer = undefined;
  await page.getByLabel("Username").fill("root");
  await page.getByLabel("Password", { exact: true }).fill(ROOT_PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/channel/);
});
