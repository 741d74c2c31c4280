import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser } from "./session.ts";

// Two people edit the same thing: neither overwrites an unseen change of the other.

interface Form {
  /** The call that creates the row with id 1, unless it exists. */
  readonly make?: readonly [path: string, body: object];
  readonly page: string;
  readonly put: string;
  readonly title: string;
  readonly field: string;
  /** A change that another user saves meanwhile, and how the form shows it. */
  readonly theirs: readonly [change: object, shown: string];
  readonly mine: string;
}

const FORMS: Readonly<Record<string, Form>> = {
  token: {
    make: ["/api/token/", { name: "first", remain_quota: 500_000 }],
    page: "/token",
    put: "/api/token/",
    title: "Edit token",
    field: "Name",
    theirs: [{ name: "theirs" }, "theirs"],
    mine: "mine",
  },
  channel: {
    make: ["/api/channel/", { name: "first", key: "sk-first", models: "gpt-4o" }],
    page: "/channel",
    put: "/api/channel/",
    title: "Edit channel",
    field: "Name",
    theirs: [{ name: "theirs" }, "theirs"],
    mine: "mine",
  },
  "redemption code": {
    make: ["/api/redemption/", { name: "first", quota: 500_000, count: 1 }],
    page: "/redemption",
    put: "/api/redemption/",
    title: "Edit code",
    field: "Name",
    theirs: [{ name: "theirs", quota: 500_000 }, "theirs"],
    mine: "mine",
  },
  user: {
    page: "/user",
    put: "/api/user/",
    title: "Edit user",
    field: "Display name",
    theirs: [{ display_name: "theirs" }, "theirs"],
    mine: "mine",
  },
  budget: {
    make: ["/api/budget/", { scope: "group", subject: "default", period: "day", quota_limit: 500_000 }],
    page: "/budget",
    put: "/api/budget/",
    title: "Edit budget",
    field: "Notices at percent",
    theirs: [{ thresholds: [61] }, "61"],
    mine: "70",
  },
};

let opened: OpenConsole;
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  opened = await openConsole();
  ({ page, faults } = opened);
});

afterAll(() => opened?.close());

async function saveLate(form: Form, drawer: Locator, field: Locator): Promise<Locator> {
  expect(await asUser(page, "PUT", form.put, { id: 1, ...form.theirs[0] })).toMatchObject({ success: true });
  await field.fill(form.mine);
  await drawer.getByRole("button", { name: "Save" }).click();
  const question = page.getByRole("alertdialog", { name: "This has been changed in the meantime" });
  await question.waitFor();
  return question;
}

test.each(Object.entries(FORMS))(
  "does not silently overwrite a %s that another user has changed",
  async (_name, form) => {
    if (form.make) expect(await asUser(page, "POST", ...form.make)).toMatchObject({ success: true });
    await page.goto(`${form.page}/edit/1`);
    const drawer = page.getByRole("dialog", { name: form.title });
    const field = drawer.getByLabel(new RegExp(`^${form.field}`));
    await field.waitFor();

    const question = await saveLate(form, drawer, field);
    await question.getByRole("button", { name: "Keep editing" }).click();
    expect(await field.inputValue()).toBe(form.mine);

    await drawer.getByRole("button", { name: "Save" }).click();
    await question.waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await shoot(page, `stale-${form.page.slice(1)}`);
    await question.getByRole("button", { name: "Load the newer version" }).click();
    await expect.poll(() => field.inputValue()).toBe(form.theirs[1]);

    await field.fill(form.mine);
    await drawer.getByRole("button", { name: "Save" }).click();
    await drawer.waitFor({ state: "detached" });
  },
);

test("an amount that is refused does not make the next try one that comes too late", async () => {
  await page.goto("/user/edit/1");
  const drawer = page.getByRole("dialog", { name: "Edit user" });
  await page.route("**/api/user/manage", (route) => route.fulfill({ json: { success: false, message: "Not today." } }));
  await drawer.getByLabel("Display name").fill("Captain");
  await drawer.getByLabel("Add to the balance").fill("1");
  await drawer.getByRole("button", { name: "Save" }).click();
  await page.getByText("Not today.").waitFor();
  await page.unrouteAll({ behavior: "wait" });
  await drawer.getByRole("button", { name: "Save" }).click();
  await drawer.waitFor({ state: "detached" });
});

test("nothing went wrong behind the pages", () => {
  expect(faults).toEqual([]);
});
