import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { beyond, overflowAt } from "./page-checks.ts";
import { asUser } from "./session.ts";

// The form of a channel is longer than the window: its sections and the test result stay within reach.

let open: OpenConsole;

beforeAll(async () => {
  open = await openConsole();
  const models = "status-400,gpt-4o";
  const channel = { name: "Harbour", type: 1, key: "k", base_url: open.upstream.url, models, test_model: "status-400" };
  expect(await asUser(open.page, "POST", "/api/channel/", channel)).toMatchObject({ success: true });
  await open.page.setViewportSize({ width: 1440, height: 700 });
  await open.page.goto("/channel/edit/1");
});

afterAll(() => open?.close());

const form = () => open.page.getByRole("dialog", { name: "Edit channel" });
const result = () => form().getByRole("region", { name: "Test" });

test("the index leads to each section and its first field", async () => {
  const index = form().getByRole("navigation", { name: "Sections of the form" });
  await index.waitFor();
  expect(await index.getByRole("button").allTextContents()).toEqual([
    "Provider",
    "Connection",
    "Models",
    "Routing",
    "Rewrites",
    "Health",
  ]);
  await index.getByRole("button", { name: "Health" }).click();
  const health = form().getByRole("group", { name: "Health" });
  await expect.poll(() => health.evaluate((box) => box.contains(document.activeElement))).toBe(true);
  const [box, window] = [await health.boundingBox(), 700];
  expect((box?.y ?? window) + (box?.height ?? 0)).toBeLessThanOrEqual(window);
  await index.getByRole("button", { name: "Connection" }).click();
  await form().getByRole("textbox", { name: "Key" }).and(open.page.locator(":focus")).waitFor();
});

test("the result of a test stays in sight, and another model is tested next to it", async () => {
  const { page } = open;
  await form().getByRole("button", { name: "Test", exact: true }).click();
  await result()
    .getByText(/^The provider refused/)
    .waitFor();
  const box = await result().boundingBox();
  expect((box?.y ?? 700) + (box?.height ?? 0)).toBeLessThanOrEqual(700);
  expect(await result().getByLabel("Model of the test").inputValue()).toBe("status-400");
  expect(await axeFindings(page)).toEqual([]);
  await result().getByLabel("Model of the test").selectOption("gpt-4o");
  await result().getByRole("button", { name: "Test again" }).click();
  await result()
    .getByText(/^The provider answered in \d/)
    .waitFor();
  expect(open.upstream.requests.at(-1)?.json).toMatchObject({ model: "gpt-4o" });
  await shoot(page, "channel-form-test");
  expect(await axeFindings(page)).toEqual([]);
});

test("the form fits a phone with its index and a result", async () => {
  const { page } = open;
  expect(await overflowAt(page, 320), (await beyond(page)).join("; ")).toBeLessThanOrEqual(0);
  await shoot(page, "channel-form-test-320");
  await page.setViewportSize({ width: 1440, height: 700 });
});

test("statuses without a row show what becomes of them, until one is named", async () => {
  const mapping = form().getByRole("group", { name: "Status mapping" });
  await mapping.getByText("401 → 502, 402 → 502, 403 → 502").waitFor();
  await mapping.getByRole("button", { name: "Pass 401, 402 and 403 on" }).click();
  await mapping.getByText("Without a row:").waitFor({ state: "detached" });
  await form().getByText("Unsaved changes").waitFor();
  for (let left = 3; left > 0; left -= 1)
    await mapping
      .getByRole("button", { name: /^Remove 40/ })
      .first()
      .click();
  await mapping.getByText("401 → 502, 402 → 502, 403 → 502").waitFor();
});

test("a test changes nothing of the channel, and its result can be closed", async () => {
  await result().getByRole("button", { name: "Close the result" }).click();
  await result().waitFor({ state: "detached" });
  expect(await form().getByText("Unsaved changes").count()).toBe(0);
  expect(await asUser(open.page, "GET", "/api/channel/1")).toMatchObject({ data: { test_model: "status-400" } });
  expect(open.faults).toEqual([]);
});

test("prompts are marked for the cache of a provider that has such marks", async () => {
  const { page } = open;
  const setting = async () => {
    const { data } = (await asUser(page, "GET", "/api/channel/1")) as { data: { setting: string | null } };
    return data.setting;
  };
  await asUser(page, "PUT", "/api/channel/", { id: 1, setting: '{"proxy":"http://proxy.example:3128"}' });
  await page.goto("/channel/edit/1");
  const mode = form().getByRole("combobox", { name: "Prompt cache" });
  expect(await mode.inputValue()).toBe("off");
  await mode.selectOption("auto");
  await form().getByRole("combobox", { name: "Life of the cache" }).selectOption("1h");
  await mode.scrollIntoViewIfNeeded();
  await shoot(page, "channel-form-cache");
  expect(await axeFindings(page)).toEqual([]);
  await form().getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("“Harbour” is saved.").waitFor();
  expect(JSON.parse((await setting()) ?? "")).toMatchObject({ prompt_cache: "auto", prompt_cache_ttl: "1h" });
  expect(await setting()).toContain("proxy");
  await page.goto("/channel/edit/1");
  await form().getByRole("combobox", { name: "Type" }).selectOption({ label: "Cohere" });
  // A choice that the type cannot follow stays in sight until it is off.
  await mode.selectOption("off");
  await mode.waitFor({ state: "detached" });
});
