import {
  createChannel,
  createToken,
  ROOT_PASSWORD,
  signIn as openSession,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Session,
  type Upstream,
} from "@fairway/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openBrowser, openPage, shoot } from "./browser.ts";
import { asUser, signIn } from "./session.ts";

let gateway: GatewayProcess;
let upstream: Upstream;
let root: Session;
let key: string;
let browser: Browser;
let page: Page;
let faults: readonly string[];

const DEAD = "http://127.0.0.1:9";

/** Sends a chat and returns its request id once its row is in the log. */
async function ask(model: string, token = key, stream = false): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }], stream }),
  });
  await response.text().catch(() => "");
  const id = response.headers.get("x-request-id") ?? "";
  await expect
    .poll(() => root.must("GET", `/api/log/?request_id=${id}`), { timeout: 15_000 })
    .toMatchObject({ total: 1 });
  return id;
}

const peek = () => page.locator(".peek");
const rows = () => page.locator(".log-grid .grid-row");
const openRow = (text: string) =>
  rows().filter({ hasText: text }).first().getByRole("button", { name: "Show details" }).click();
const address = () => new URL(page.url()).searchParams;

beforeAll(async () => {
  gateway = await startGateway();
  upstream = await startUpstream();
  root = await openSession(gateway.url, "root", ROOT_PASSWORD);
  for (const [option, value] of [
    ["RetryTimes", "1"],
    ["SelfUseModeEnabled", "true"],
  ])
    await root.must("PUT", "/api/option/", { key: option, value });
  await createChannel(root, { name: "east", base_url: DEAD, models: "cured,lost", priority: 9 });
  await createChannel(root, { name: "west", base_url: upstream.url, models: "cured,plain", priority: 5 });
  await createChannel(root, { name: "south", base_url: DEAD, models: "lost", priority: 5 });
  await createChannel(root, { name: "off", base_url: upstream.url, models: "cured,lost", priority: 1, status: 2 });
  key = await createToken(root, { name: "shop" });
  browser = await openBrowser();
  ({ page, faults } = await openPage(browser, gateway.url));
  await signIn(page, "root", ROOT_PASSWORD);
});

afterAll(async () => {
  await browser?.close();
  await upstream?.stop();
  await gateway?.stop();
});

test("a failed call is followed from the plot to the reason by clicks", async () => {
  await ask("plain");
  await ask("cured");
  const lost = await ask("lost");
  await page.goto("/log");
  await page
    .getByRole("region", { name: "Calls over time" })
    .getByRole("button", { name: /^Failed 1/ })
    .click();
  await expect.poll(() => address().get("type")).toBe("5");
  await expect.poll(() => rows().count()).toBe(1);
  const row = rows().first();
  for (const text of ["502", "lost", "the upstream could not be reached"])
    expect(await row.getByText(text, { exact: true }).isVisible(), text).toBe(true);
  await openRow("lost");
  await peek().getByText("Failed with 502: the upstream could not be reached").waitFor();
  await peek().getByText("Attempt 2 · #3 south").waitFor();
  expect(await peek().getByText("↳ the next channel was tried").count()).toBe(1);
  expect(await peek().getByText("↳ no retry: all retries were used").count()).toBe(1);
  expect(
    await peek()
      .getByText(/127\.0\.0\.1:9/)
      .count(),
  ).toBe(2);
  const off = peek().getByRole("row").filter({ hasText: "off" });
  expect(await off.getByText("switched off").isVisible()).toBe(true);
  expect(await peek().getByText(lost).isVisible()).toBe(true);
  await shoot(page, "log-page-failed");
  expect(await axeFindings(page)).toEqual([]);
  await peek().getByRole("link", { name: "shop" }).click();
  await expect.poll(() => address().get("tokenId")).toBe("1");
  expect([address().get("row"), address().get("type")]).toEqual([null, null]);
});

test("sums next to a list of failed calls are hidden, and only calls count as successful", async () => {
  await page.goto("/log");
  const sums = page.locator(".log-totals");
  await sums.getByText("Spend").waitFor();
  const plot = page.getByRole("region", { name: "Calls over time" });
  const head = plot.locator(".histogram-head > span");
  const successful = async () => Number((await head.textContent())?.replace(/\D/g, ""));
  await expect.poll(successful).toBeGreaterThan(0);
  const before = await successful();
  const { data: channels } = (await asUser(page, "GET", "/api/channel/")) as { data: { id: number; name: string }[] };
  for (const name of ["west", "south"])
    await asUser(page, "GET", `/api/channel/test/${channels.find((one) => one.name === name)?.id}?model=plain`);
  await page.goto("/log?type=4");
  await openRow("Model test");
  await peek()
    .getByText(/Attempt 1 · #3 south · failed/)
    .waitFor();
  expect(await peek().getByText("delivered").count()).toBe(0);
  await page.goto("/log?size=50");
  await expect.poll(() => rows().filter({ hasText: "Model test" }).count()).toBeGreaterThan(1);
  await expect.poll(successful).toBe(before);
  await plot.getByRole("button", { name: /^Failed/ }).click();
  await expect.poll(() => sums.count()).toBe(0);
});

test("a call that another channel cured says where it went and what it cost (C-316)", async () => {
  await page.goto("/log");
  await rows().filter({ hasText: "cured" }).first().getByTitle("1 retry: 1 → 2").waitFor();
  await openRow("cured");
  await peek().getByText("Answered by attempt 2; the ones before it failed.").waitFor();
  await peek().getByText("Attempt 1 · #1 east").waitFor();
  expect(await peek().getByRole("row").filter({ hasText: "#2 west" }).getByText("answered").isVisible()).toBe(true);
  expect(
    await peek()
      .getByText(/^Reserved/)
      .isVisible(),
  ).toBe(true);
  await peek().getByText("Formula and inputs").click();
  const input = peek().getByRole("row").filter({ hasText: "input_tokens" });
  expect(await input.getByText("reported by the upstream").isVisible()).toBe(true);
  expect(await peek().getByTestId("charge-total").textContent()).toBe("$0.000060");
  const link = page.url();
  await page.goto("/token");
  await page.goto(link);
  await peek().getByText("Attempt 1 · #1 east").waitFor();
});

test("keys lead through the rows while one is open, and Escape returns to the list", async () => {
  await page.goto("/log");
  await rows().nth(2).waitFor();
  await rows().first().focus();
  await page.keyboard.press("Enter");
  await peek().waitFor();
  const first = address().get("row");
  await expect.poll(() => peek().evaluate((panel) => panel === document.activeElement)).toBe(true);
  await page.keyboard.press("j");
  await expect.poll(() => address().get("row")).not.toBe(first);
  const second = address().get("row");
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => address().get("row")).not.toBe(second);
  await page.keyboard.press("k");
  await expect.poll(() => address().get("row")).toBe(second);
  await page.keyboard.press("Escape");
  await peek().waitFor({ state: "detached" });
  expect(address().get("row")).toBeNull();
  await expect
    .poll(() =>
      rows()
        .nth(1)
        .evaluate((row) => row === document.activeElement),
    )
    .toBe(true);
  expect(faults).toEqual([]);
});

test("facets filter by a click and take the filter away by another", async () => {
  await page.goto("/log?facets=1");
  const model = page.locator(".facet").filter({ hasText: "Model" });
  await model.getByRole("button", { name: /^lost/ }).click();
  await expect.poll(() => rows().count()).toBe(1);
  expect(address().get("model")).toBe("lost");
  await model.getByRole("button", { name: /^plain/ }).waitFor();
  const code = page.locator(".facet").filter({ hasText: "Code" });
  await code.getByRole("button", { name: /^the upstream could not be reached/ }).click();
  await page.getByRole("button", { name: "Remove the filter Code the upstream could not be reached" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await model.getByRole("button", { name: /^lost/ }).click();
  await code.getByRole("button", { name: /^the upstream could not be reached/ }).click();
  await expect.poll(() => rows().count()).toBeGreaterThan(2);
  await page.goBack();
  await expect.poll(() => address().get("code")).toBe("upstream_connect_failed");
});

test("a stretch of the plot becomes the range, by mouse and by keyboard", async () => {
  await page.goto("/log?range=24h&facets=0");
  const plot = page.getByRole("slider", { name: /^Calls over time/ });
  await plot.focus();
  await page.keyboard.press("End");
  expect(await plot.getAttribute("aria-valuetext")).toMatch(/successful, \d+ failed$/);
  await page.keyboard.press("Shift+ArrowLeft");
  await page.keyboard.press("Enter");
  await expect.poll(() => address().get("range")).toBe("custom");
  const span = () => Number(address().get("to")) - Number(address().get("from"));
  const keyed = span();
  expect(keyed).toBeGreaterThan(600);
  expect(await page.getByRole("table", { name: "Calls over time" }).getByRole("row").count()).toBeGreaterThan(1);
  await page.getByRole("button", { name: "Zoom out" }).click();
  await expect.poll(span).toBeGreaterThan(keyed);
  const box = await plot.boundingBox();
  if (!box) throw new Error("the plot is not in sight");
  const before = page.url();
  await page.mouse.move(box.x + box.width * 0.3, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 30, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => page.url()).not.toBe(before);
});

test("live shows calls as they come, holds them while paused, and says how many wait", async () => {
  await page.goto("/log?facets=0");
  await rows().first().waitFor();
  await page.getByRole("button", { name: "Live", exact: true }).click();
  await expect.poll(() => address().get("live")).toBe("1");
  await page.locator(".live-dot.is-on").waitFor();
  const before = await rows().count();
  await ask("plain");
  await expect.poll(() => rows().count(), { timeout: 10_000 }).toBe(before + 1);
  await page.getByRole("button", { name: "Pause: new calls wait" }).click();
  await ask("plain");
  await ask("plain");
  const pill = page.getByRole("button", { name: "2 new calls" });
  await pill.waitFor({ timeout: 10_000 });
  expect(await rows().count()).toBe(before + 1);
  expect(await axeFindings(page)).toEqual([]);
  await pill.click();
  await expect.poll(() => rows().count()).toBe(before + 3);
  await page.getByRole("button", { name: "Live", exact: true }).click();
  await expect.poll(() => address().get("live")).toBeNull();
});

test("a request id that is pasted finds its call at any time", async () => {
  const id = await ask("cured");
  await page.goto("/log?range=custom&from=1000&to=2000");
  await page.getByRole("searchbox", { name: "Model or request ID" }).fill(id);
  await expect.poll(() => rows().count()).toBe(1);
  expect(address().get("request")).toBe(id);
  await page.goto(`/log?row=${id}`);
  await peek().getByText(id).waitFor();
});

const FAILURES = [
  { name: "a limit", model: "plain", token: { limits: { rpm: 1 } }, reason: "Failed with 429: too many requests" },
  {
    name: "a used-up token",
    model: "plain",
    token: { unlimited_quota: false, remain_quota: 0 },
    reason: "Failed with 401: the token's quota is used up",
  },
  {
    name: "a cut stream",
    model: "slow-10+cut-after-3",
    token: {},
    reason: "The upstream cut its answer off; what arrived was charged.",
  },
];

test.each(FAILURES)("one click says why: $name", async ({ name, model, token: settings, reason }) => {
  await createChannel(root, { name: `for ${name}`, base_url: upstream.url, models: model });
  const token = await createToken(root, { name, ...settings });
  if ("limits" in settings) await ask(model, token);
  const id = await ask(model, token, model.includes("cut"));
  await page.goto(`/log?token=${encodeURIComponent(name)}`);
  await rows().first().click();
  await peek().getByText(reason).first().waitFor();
  expect(await peek().getByText(id).isVisible()).toBe(true);
});

test("a username opens the account behind it (C-315)", async () => {
  await page.goto("/log?model=plain");
  await rows().first().getByRole("button", { name: "root" }).click();
  const dialog = page.getByRole("dialog", { name: "root" });
  await dialog.getByText("Enabled").waitFor();
  for (const text of ["Balance", "Used", "Charged requests"])
    expect(await dialog.getByText(text, { exact: true }).isVisible()).toBe(true);
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Show the calls" }).click();
  await expect.poll(() => address().get("user")).toBe("root");
});

test("users read their own calls without channels and hosts", async () => {
  await root.must("POST", "/api/user/", { username: "ann", password: "ann-password-1" });
  const users = await root.must<{ id: number; username: string }[]>("GET", "/api/user/?p=0");
  const ann = users.find(({ username }) => username === "ann");
  await root.must("POST", "/api/user/manage", { id: ann?.id, action: "add_quota", value: 1_000_000 });
  const session = await openSession(gateway.url, "ann", "ann-password-1");
  const id = await ask("cured", await createToken(session, { name: "own" }));
  const own = await openPage(browser, gateway.url);
  await signIn(own.page, "ann", "ann-password-1");
  await own.page.goto(`/log?row=${id}`);
  const panel = own.page.locator(".peek");
  await panel.getByText("Attempt 2", { exact: true }).waitFor();
  const text = (await panel.textContent()) ?? "";
  for (const secret of ["127.0.0.1:", "east", "west", "Why this channel"])
    expect(text.includes(secret), secret).toBe(false);
  expect(await own.page.locator(".log-grid").textContent()).not.toMatch(/east|west/);
  expect(own.faults).toEqual([]);
  await own.page.context().close();
});

test("the toolbar is one row on a phone, and the open row covers the page in both themes", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/log?size=50");
  await rows().first().waitFor();
  const tops = await page
    .getByRole("search")
    .locator("button:visible, input:visible")
    .evaluateAll((parts) => parts.map((part) => Math.round(part.getBoundingClientRect().top)));
  expect(Math.max(...tops) - Math.min(...tops)).toBeLessThanOrEqual(2);
  await openRow("lost");
  await peek().getByText("Failed with 502: the upstream could not be reached").waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    expect(await axeFindings(page), scheme).toEqual([]);
    await shoot(page, `log-page-phone-${scheme}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await peek().getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: /^Count and filter/ }).click();
  await page.getByRole("dialog", { name: "Facets" }).getByRole("button", { name: /^lost/ }).click();
  await page.getByRole("dialog", { name: "Facets" }).getByRole("button", { name: "Close" }).click();
  await expect.poll(() => rows().count()).toBe(1);
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("the page and an open row speak Chinese", async () => {
  await asUser(page, "GET", "/api/status");
  await page.evaluate(() => localStorage.setItem("fairway:language", "zh"));
  await page.goto("/log?type=5");
  await rows().filter({ hasText: "无法连接上游" }).first().getByRole("button").last().click();
  await peek().getByText("失败，状态 502：无法连接上游").waitFor();
  await page.evaluate(() => localStorage.removeItem("fairway:language"));
  expect(faults).toEqual([]);
});
