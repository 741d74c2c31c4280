import { createChannel, ROOT_PASSWORD, signIn as apiSignIn, type Session } from "@fairway/testkit";
import type { Budget, Token } from "@fairway/wire";
import { expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { useVisits } from "./clicks.ts";
import { insertRows } from "./rows.ts";

// What operators do with keys, each task from a cold sign-in, with the number of clicks that it may take.

let root: Session;

const visits = useVisits(async (opened) => {
  root = await apiSignIn(opened.gateway.url, "root", ROOT_PASSWORD);
  await createChannel(root, { name: "main", base_url: opened.upstream.url, models: "gpt-4o,gpt-4o-mini" });
});

test("a key with $50 a month, two models and one network: six clicks", async () => {
  const { page } = visits.visitor;
  await page.getByRole("link", { name: "Add token" }).first().click();
  const drawer = page.getByRole("dialog", { name: "Add token" });
  await drawer.getByLabel("Name").fill("shop");
  await drawer.getByRole("textbox", { name: "Spending limit" }).fill("50");
  await drawer.getByRole("combobox", { name: "Limit for" }).selectOption({ label: "each month" });
  await drawer.getByText("Only some models").click();
  const models = drawer.getByRole("combobox", { name: "Models", exact: true });
  await models.fill("gtp-4o");
  await models.press("Enter");
  await drawer.getByText("Nothing serves “gtp-4o”. Nearest: gpt-4o.").waitFor();
  await shoot(page, "daily-key");
  expect(await axeFindings(page)).toEqual([]);
  await models.press("Backspace");
  await models.fill("gpt-4o,gpt-4o-mini");
  await models.press("Enter");
  expect(await drawer.getByText("Nothing serves").count()).toBe(0);
  await drawer.getByLabel("Allowed addresses").fill("203.0.113.0/24");
  await drawer.getByRole("button", { name: "Create token" }).click();
  await page.getByRole("dialog", { name: "Your new key" }).waitFor();
  expect(await visits.visitor.countClicks()).toBeLessThanOrEqual(6);

  const [token] = await root.must<Token[]>("GET", "/api/token/");
  expect(token).toMatchObject({
    name: "shop",
    unlimited_quota: true,
    model_limits: "gpt-4o,gpt-4o-mini",
    allow_ips: "203.0.113.0/24",
  });
  const budgets = await root.must<Budget[]>("GET", "/api/budget/");
  expect(budgets).toMatchObject([
    { scope: "token", subject: String(token?.id), period: "month", quota_limit: 25_000_000, is_hard: true },
  ]);
});

/** Adds calls with a token from two addresses. */
function insertCalls(token: Token): void {
  const now = Math.floor(Date.now() / 1000);
  const rows = ["203.0.113.7", "203.0.113.7", "198.51.100.20"].map((ip, at) => ({
    user_id: token.user_id,
    username: "ann",
    created_at: now - 60 * (at + 1),
    type: 2,
    content: "",
    token_name: token.name,
    token_id: token.id,
    model_name: "gpt-4o",
    quota: 250_000,
    prompt_tokens: 10,
    completion_tokens: 10,
    use_time: 1,
    is_stream: 0,
    channel_id: 1,
    group: "default",
    ip,
    request_id: `leak-${at}`,
    other: "{}",
  }));
  insertRows(visits.opened.file, "logs", rows);
}

test("a leaked key is found, seen, blocked and replaced in place: four clicks", async () => {
  await root.must("POST", "/api/user/", { username: "ann", password: ROOT_PASSWORD, display_name: "ann" });
  const ann = await apiSignIn(visits.opened.gateway.url, "ann", ROOT_PASSWORD);
  const token = await ann.must<Token>("POST", "/api/token/", { name: "build bot", unlimited_quota: true });
  insertCalls(token);
  const { page } = visits.visitor;
  const palette = page.getByRole("dialog");
  // A key that is pressed while the page still loads reaches nothing.
  await expect
    .poll(async () => {
      if ((await palette.count()) === 0) await page.keyboard.press("Control+k");
      return palette.count();
    })
    .toBe(1);
  await palette.getByRole("combobox").fill(`sk-${token.key}`);
  await palette.getByRole("option", { name: /build bot/ }).click();
  await page.getByRole("heading", { level: 1, name: "build bot" }).waitFor();
  await page.getByText("203.0.113.7", { exact: true }).waitFor();
  await page.getByText("198.51.100.20", { exact: true }).waitFor();
  await page.getByText("gpt-4o", { exact: true }).first().waitFor();
  await shoot(page, "daily-leaked");
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Disable", exact: true }).click();
  await page.getByText("“build bot” is disabled.").waitFor();
  expect(await ann.must<Token>("GET", `/api/token/${token.id}`)).toMatchObject({ status: 2, disabled_by_admin: true });
  await page.getByRole("button", { name: "Replace key…" }).click();
  const dialog = page.getByRole("dialog", { name: "Replace the key of “build bot”" });
  expect(await dialog.getByRole("combobox").inputValue()).toBe("0");
  await dialog.getByRole("button", { name: "Replace", exact: true }).click();
  await page.getByText("“build bot” has a new key; ann can read it in the list of tokens.").waitFor();
  expect(await visits.visitor.countClicks()).toBeLessThanOrEqual(4);
  const after = await ann.must<Token>("GET", `/api/token/${token.id}`);
  expect(after.key).not.toBe(token.key);
  expect(await page.content()).not.toContain(after.key);
});
