import { createChannel, ROOT_PASSWORD, signIn as apiSignIn } from "@fairway/testkit";
import { expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { useVisits, type Visitor } from "./clicks.ts";
import { insertFailures, insertTraffic } from "./traffic-rows.ts";

// The daily work of operators, each task from a cold sign-in, with the number of clicks that it may take.

const visits = useVisits(async (opened) => {
  const root = await apiSignIn(opened.gateway.url, "root", ROOT_PASSWORD);
  for (const name of ["quick", "slow", "broken", "brand new"])
    await createChannel(root, { name, base_url: opened.upstream.url, models: "gpt-4o" });
  insertTraffic(opened.file);
});

const names = (visit: Visitor) => visit.page.locator(".compare-table tbody .link").allInnerTexts();

test("which channel or model is slow or failing since when: five clicks", async () => {
  const { page } = visits.visitor;
  await page.getByRole("link", { name: "Compare", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Compare" }).waitFor();
  // The slowest comes first, and a new channel without requests is listed, too.
  await expect.poll(() => names(visits.visitor)).toEqual(["slow", "broken", "quick", "brand new"]);
  await page.getByRole("heading", { name: "Latency p95 over time" }).waitFor();
  await shoot(page, "daily-compare");
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Errors", exact: true }).click();
  await expect.poll(() => names(visits.visitor)).toEqual(["broken", "slow", "quick", "brand new"]);
  await page.getByRole("heading", { name: "Errors over time" }).waitFor();
  await page.getByRole("combobox", { name: "Side by side" }).selectOption("model");
  await expect.poll(() => names(visits.visitor)).toEqual(["gpt-broken", "gpt-slow", "gpt-quick"]);
  await page.getByRole("button", { name: "First token p95", exact: true }).click();
  await expect.poll(() => names(visits.visitor)).toEqual(["gpt-slow", "gpt-broken", "gpt-quick"]);
  // Since when: the chart reads by keyboard, hour by hour.
  await page.getByRole("slider").focus();
  await page.keyboard.press("End");
  expect(await page.getByRole("slider").getAttribute("aria-valuetext")).toMatch(/gpt-slow 3\.\d+ s/);
  for (let hour = 0; hour < 6; hour++) await page.keyboard.press("ArrowLeft");
  expect(await page.getByRole("slider").getAttribute("aria-valuetext")).toMatch(/gpt-slow 2\d\d ms/);
  expect(await visits.visitor.countClicks()).toBeLessThanOrEqual(5);
});

test("the list of channels shows what requests showed, before any test", async () => {
  const { page } = visits.visitor;
  await page.getByRole("link", { name: "Channel", exact: true }).click();
  const cell = (name: string) => page.getByRole("row").filter({ hasText: name });
  await cell("quick")
    .getByText(/^0\.(29|30) s$/)
    .waitFor();
  await cell("slow")
    .getByText(/^[89]\.\d\d s · 5% failed$/)
    .waitFor();
  await cell("broken")
    .getByText(/^0\.[45]\d s · 75% failed$/)
    .waitFor();
  await cell("brand new").getByText("not tested", { exact: true }).waitFor();
  await shoot(page, "daily-channels");
});

test("the comparison is whole on a phone, in the dark and in Chinese", async () => {
  const { page } = visits.visitor;
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate(() => {
    localStorage.setItem("theme-mode", "dark");
    localStorage.setItem("fairway:language", "zh");
  });
  await page.goto("/compare");
  await page.getByRole("heading", { level: 1, name: "对比" }).waitFor();
  await expect.poll(() => names(visits.visitor)).toHaveLength(4);
  expect(await axeFindings(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  await shoot(page, "daily-compare-phone");
});

test("is anything about to run out: one click", async () => {
  const { page } = visits.visitor;
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  const panel = page.locator("section", { has: page.getByRole("heading", { name: "Runs out soon" }) });
  await panel.getByRole("link", { name: "slow", exact: true }).waitFor();
  await panel.getByText("in 2 days at this rate", { exact: true }).waitFor();
  expect(await panel.getByRole("link").allInnerTexts()).toEqual(["slow"]);
  await panel.scrollIntoViewIfNeeded();
  await shoot(page, "daily-runs-out");
  expect(await axeFindings(page)).toEqual([]);
  expect(await visits.visitor.countClicks()).toBeLessThanOrEqual(1);
});

test("a provider is down: its channels pause and come back: six clicks", async () => {
  const { page } = visits.visitor;
  await page.getByRole("link", { name: "Channel", exact: true }).click();
  await page.getByRole("button", { name: "All channels…" }).click();
  await page.getByRole("menuitem", { name: "Pause…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Type" }).selectOption({ label: "OpenAI" });
  await dialog.getByRole("textbox", { name: "Reason" }).fill("outage");
  await shoot(page, "daily-pause");
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByText("4 channels paused:").waitFor();
  await expect.poll(() => page.getByRole("row").getByText("Disabled", { exact: false }).count()).toBe(4);
  await shoot(page, "daily-paused");
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await page.getByText("4 channels are back.").waitFor();
  await expect.poll(() => page.getByRole("row").getByText("Enabled", { exact: true }).count()).toBe(4);
  expect(await page.getByText("4 channels paused:").count()).toBe(0);
  expect(await visits.visitor.countClicks()).toBeLessThanOrEqual(6);
});

test("why did this call fail, and who else: four clicks", async () => {
  insertFailures(visits.opened.file);
  const { page } = visits.visitor;
  await page.getByRole("link", { name: "Log", exact: true }).click();
  await page.getByRole("row").filter({ hasText: "gpt-broken" }).first().click();
  await page.getByText("2 more calls of 2 users failed with this code at this channel within five minutes.").waitFor();
  await shoot(page, "daily-who-else");
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("link", { name: "Who else?" }).click();
  await page.waitForURL(/\/log\?type=5&channel=3&code=upstream_error&range=custom/);
  await expect.poll(() => page.getByRole("row").filter({ hasText: "gpt-broken" }).count()).toBe(3);
  expect(await visits.visitor.countClicks()).toBeLessThanOrEqual(4);
});

test("who changed this: the history of a row, with the difference: three clicks", async () => {
  const root = await apiSignIn(visits.opened.gateway.url, "root", ROOT_PASSWORD);
  await root.must("PUT", "/api/channel/", { id: 1, priority: 7 });
  const { page } = visits.visitor;
  await page.getByRole("link", { name: "Channel", exact: true }).click();
  await page.getByRole("button", { name: "Actions for quick" }).click();
  await page.getByRole("menuitem", { name: "History" }).click();
  const changes = page.locator(".audit-table");
  await changes.getByRole("rowheader", { name: "priority" }).waitFor();
  await changes.getByText("7", { exact: true }).waitFor();
  expect(new URL(page.url()).searchParams.get("target")).toBe("channel 1");
  expect(await axeFindings(page)).toEqual([]);
  expect(await visits.visitor.countClicks()).toBeLessThanOrEqual(3);
});
