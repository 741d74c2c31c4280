import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser } from "./session.ts";

// A row that is read next to its list: channels, users and codes.

let opened: OpenConsole;
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  opened = await openConsole();
  ({ page, faults } = opened);
  for (const [index, name] of ["North", "South", "West"].entries()) {
    const body = {
      name,
      type: 1,
      key: index === 0 ? "sk-one-00001111\nsk-two-00002222" : `sk-${name}`,
      multi_key: index === 0,
      models: "gpt-4o,gpt-4o-mini",
      group: "default,vip",
      base_url: opened.upstream.url,
      priority: 9 - index,
    };
    expect(await asUser(page, "POST", "/api/channel/", body)).toMatchObject({ success: true });
  }
  for (const username of ["ada", "grace"]) {
    const body = { username, password: "berth-number-7", display_name: `Captain ${username}` };
    expect(await asUser(page, "POST", "/api/user/", body)).toMatchObject({ success: true });
  }
});

afterAll(() => opened?.close());

const row = (name: string) => page.locator(".grid-row").filter({ hasText: name });
const peek = (name: string) => page.getByRole("dialog", { name, exact: true });
const drawer = (name: string) => page.getByRole("dialog", { name });
const address = () => new URL(page.url());
/** A cell without a control of its own. */
const cell = (name: string, index: number) => row(name).locator("td").nth(index);
const isFocused = (name: string) => row(name).evaluate((element) => element === document.activeElement);

/** Returns the names and values in the panel. */
const facts = (name: string) =>
  peek(name)
    .locator("dl")
    .evaluateAll((lists) =>
      Object.fromEntries(
        lists.flatMap((list) =>
          [...list.querySelectorAll("dt")].map((term) => [term.textContent, term.nextElementSibling?.textContent]),
        ),
      ),
    );

test("a click on a channel shows it next to the list, and J, K and arrows others (WCAG 2.1.1)", async () => {
  await page.goto("/channel");
  await cell("North", 4).click();
  await peek("North").waitFor();
  expect(address().pathname).toBe("/channel");
  expect(address().searchParams.get("row")).toBe("1");
  expect(await peek("North").evaluate((panel) => panel === document.activeElement)).toBe(true);
  await expect.poll(async () => (await facts("North"))["Attempts"]).toBe("0");
  expect(await facts("North")).toMatchObject({
    Errors: "–",
    Models: "gpt-4o, gpt-4o-mini",
    Groups: "default, vip",
    Priority: "9",
    Weight: "0",
    Response: "not tested",
    Used: "$0.00",
  });
  await peek("North").getByText("2 of 2 healthy").waitFor();
  await peek("North").getByText("Enabled", { exact: true }).waitFor();
  // The list takes the rest of the room.
  const [list, panel] = await Promise.all([page.locator(".grid").boundingBox(), peek("North").boundingBox()]);
  expect((list?.x ?? 0) + (list?.width ?? 0)).toBeLessThanOrEqual(panel?.x ?? 0);
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "peek-channel");

  await page.keyboard.press("j");
  await peek("South").waitFor();
  expect(address().searchParams.get("row")).toBe("2");
  await page.keyboard.press("ArrowDown");
  await peek("West").waitFor();
  expect(await peek("West").getByRole("button", { name: "Next row" }).isDisabled()).toBe(true);
  await page.keyboard.press("k");
  await peek("South").getByRole("button", { name: "Previous row" }).click();
  await peek("North").waitFor();
  await page.keyboard.press("Escape");
  await peek("North").waitFor({ state: "detached" });
  expect(address().searchParams.has("row")).toBe(false);
  await expect.poll(() => isFocused("North")).toBe(true);
  // Enter opens like a click, and Back closes.
  await page.keyboard.press("Enter");
  await peek("North").waitFor();
  await page.goBack();
  await peek("North").waitFor({ state: "detached" });
});

test("an address opens the row, in the list or not, and says so when there is none", async () => {
  await page.goto("/channel?row=2");
  await peek("South").waitFor();
  await page.goto("/channel?q=North&row=3");
  await peek("West").waitFor();
  expect(await peek("West").getByRole("button", { name: "Next row" }).isDisabled()).toBe(true);
  await page.keyboard.press("Escape");
  await peek("West").waitFor({ state: "detached" });
  expect(address().search).toBe("?q=North");
  for (const unknown of ["999", "none"]) {
    await page.goto(`/channel?row=${unknown}`);
    await peek("Channel").getByText("This channel does not exist").waitFor();
    await peek("Channel").getByRole("button", { name: "Close" }).last().click();
    await peek("Channel").waitFor({ state: "detached" });
  }
});

test("from the panel a channel is edited over its list, and has its page", async () => {
  await page.goto("/channel");
  await cell("South", 4).click();
  await peek("South").getByRole("link", { name: "Edit" }).click();
  const form = drawer("Edit channel");
  await form.getByLabel("Name").fill("Southern");
  await form.getByRole("button", { name: "Save" }).click();
  await form.waitFor({ state: "detached" });
  await peek("Southern").waitFor();
  // Escape first closes the layer on top.
  await page.keyboard.press("e");
  await form.getByRole("button", { name: "Cancel" }).waitFor();
  await page.keyboard.press("Escape");
  await form.waitFor({ state: "detached" });
  expect(await peek("Southern").count()).toBe(1);
  await peek("Southern").getByRole("link", { name: "Health and usage" }).click();
  await page.getByRole("heading", { level: 1, name: "Southern" }).waitFor();
  expect(address().pathname).toBe("/channel/2");
});

test("a user has account, last day and tokens in the panel; accounts out of reach have no way on", async () => {
  await page.goto("/user");
  await cell("ada", 3).click();
  await peek("ada").waitFor();
  await expect.poll(async () => (await facts("ada"))["Last call"]).toBe("none");
  expect(await facts("ada")).toMatchObject({
    Group: "default",
    "Display name": "Captain ada",
    "Request limits": "as everybody",
    "Charged requests": "0",
    Requests: "0",
    Errors: "–",
  });
  await peek("ada").getByText("Activated").waitFor();
  await peek("ada").getByText("#2 · User").waitFor();
  await peek("ada").getByRole("link", { name: "Edit" }).waitFor();
  await peek("ada").getByRole("heading", { name: "Tokens", exact: true }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "peek-user");
  const { data: own } = (await asUser(page, "GET", "/api/user/3")) as { data: { id: number } };
  expect(await asUser(page, "POST", "/api/user/manage", { id: own.id, action: "delete" })).toMatchObject({
    success: true,
  });
  await page.goto("/user?row=3");
  await peek("grace").getByText("Cancelled").waitFor();
  expect(await peek("grace").getByRole("link", { name: "Edit" }).count()).toBe(0);
});

test("a code says what it is worth, and who redeemed it when", async () => {
  const made = await asUser(page, "POST", "/api/redemption/", { name: "spring", quota: 500_000, count: 2 });
  const [code = ""] = (made as { data: string[] }).data;
  expect(await asUser(page, "POST", "/api/user/topup", { key: code })).toMatchObject({ success: true });
  await page.goto("/redemption?status=3");
  await cell("spring", 1).click();
  await peek("spring").getByText("Used", { exact: true }).waitFor();
  await expect.poll(async () => (await facts("spring"))["Used by"]).toBe("root");
  expect(await facts("spring")).toMatchObject({ Value: "$1.00", "Created by": "root" });
  expect((await facts("spring"))["Redeemed"]).toBeTruthy();
  expect(await peek("spring").getByRole("link", { name: "Edit" }).count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "peek-code");
  await peek("spring").getByRole("link", { name: "root" }).last().click();
  await peek("root").waitFor();
  expect(address().pathname).toBe("/user");
});

test("on a phone the panel has the whole window", async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto("/channel?row=1");
  await peek("North").waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  expect(await axeFindings(page)).toEqual([]);
  // The panel has finished sliding in.
  const box = await peek("North").boundingBox();
  expect([box?.x, box?.y, box?.width, box?.height].map((value) => Math.round(value ?? -1))).toEqual([0, 0, 360, 740]);
  await shoot(page, "peek-channel-phone");
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("nothing went wrong behind the pages", () => expect(faults).toEqual([]));
