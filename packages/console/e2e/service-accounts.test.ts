import { signIn as apiSignIn, ROOT_PASSWORD, type Session } from "@fairway/testkit";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { insertRows } from "./rows.ts";

// Programs of the operator, accounts that become teams, and filters that find teams and users by name.

let opened: OpenConsole;
let page: Page;
let root: Session;
let faults: readonly string[];

beforeAll(async () => {
  opened = await openConsole();
  ({ page, faults } = opened);
  root = await apiSignIn(opened.gateway.url, "root", ROOT_PASSWORD);
});

afterAll(() => opened?.close());

const main = () => page.getByRole("main");
const dialog = () => page.getByRole("dialog");

test("the super administrator makes a program with a token for chosen scopes, and ends it", async () => {
  await page.goto("/setting?tab=system");
  const index = page.getByRole("navigation", { name: "Settings: sections" });
  await index.getByRole("link", { name: "Service accounts" }).click();
  await page.getByRole("heading", { level: 1, name: "Service accounts of the installation" }).waitFor();
  await main().getByText("No service accounts yet.").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await main().getByRole("button", { name: "New service account" }).click();
  await dialog().getByLabel("Name").fill("inventory");
  await dialog().getByRole("button", { name: "Create" }).click();
  await main().getByText("Access tokens: 0").waitFor();
  await main().getByRole("button", { name: "Actions for inventory" }).click();
  await page.getByRole("menuitem", { name: "Access tokens" }).click();
  await dialog().getByLabel("Name of a new token").fill("cmdb");
  await dialog().getByRole("button", { name: "Create access token" }).click();
  await dialog().getByText("Choose at least one scope.").waitFor();
  await dialog().getByLabel("Scopes").fill("channels:read");
  await page.keyboard.press("Enter");
  await dialog().getByRole("button", { name: "Create access token" }).click();
  const made = (await dialog().getByTestId("service-token").textContent()) ?? "";
  expect(made).toMatch(/^fwsa_[\w-]{43}$/);
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "service-accounts");
  const read = (path: string) =>
    fetch(`${opened.gateway.url}${path}`, { headers: { authorization: `Bearer ${made}` } }).then((answer) =>
      answer.text(),
    );
  expect(await read("/api/channel/")).toContain('"success":true');
  expect(await read("/api/user/")).toContain("AU11");
  await dialog().getByRole("button", { name: "Done" }).click();
  await main().getByRole("button", { name: "Actions for inventory" }).click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await main().getByText("Off", { exact: true }).waitFor();
  expect(await read("/api/channel/")).toContain('"success":false');
});

test("an account with which no one signs in becomes a team, and others say why they cannot", async () => {
  await root.must("POST", "/api/user/", { username: "grace", password: "hopper-1906", display_name: "Grace" });
  await root.must("POST", "/api/user/", { username: "legacy", password: "hopper-1906", display_name: "Legacy" });
  const database = new DatabaseSync(opened.file, { timeout: 10_000 });
  database.prepare("update users set password = '!', quota = 500000 where username = 'legacy'").run();
  database.close();
  await page.goto("/user");
  const open = async (name: string) => {
    await page.getByRole("button", { name: `Actions for ${name}` }).click();
    await page.getByRole("menuitem", { name: "Convert into a team…" }).click();
  };
  await open("grace");
  await dialog().getByText("a password, an e-mail address or another way to sign in").waitFor();
  await dialog().getByRole("button", { name: "Close" }).last().click();
  await open("legacy");
  await dialog().getByRole("heading", { name: "What becomes the team's" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "convert-account");
  await dialog().getByLabel("Name of the team").fill("Research");
  await dialog().getByRole("button", { name: "Convert", exact: true }).click();
  await page.waitForURL(/\/team\/1$/);
  await page.getByRole("heading", { level: 1, name: "Research" }).waitFor();
});

test("filters of users find teams and users by a part of their names", async () => {
  const teams = await root.must<{ id: number; slug: string }[]>("GET", "/api/team/");
  const { account_id: wallet } = await root.must<{ account_id: number }>("GET", `/api/team/${teams[0]?.id}`);
  const at = Math.floor(Date.now() / 1000) - 60;
  const plain = { content: "", request_id: "", other: "", group: "default", ip: "", is_stream: 0, use_time: 1 };
  const usage = { model_name: "gpt-4o", quota: 5, prompt_tokens: 1, completion_tokens: 1, channel_id: 1, token_id: 1 };
  const call = { ...plain, ...usage, created_at: at, type: 2 };
  insertRows(opened.file, "logs", [
    { ...call, user_id: wallet, username: "Research", token_name: "of-team", account_kind: 1 },
    { ...call, user_id: 1, username: "root", token_name: "of-root" },
  ]);
  await page.setViewportSize({ width: 1800, height: 900 });
  await page.goto("/log");
  const row = (name: string) => page.getByRole("row").filter({ hasText: name });
  await row("of-root").first().waitFor();
  const user = page.getByRole("combobox", { name: "Username" });
  await user.fill("rese");
  await page.getByRole("option", { name: "Research (team:research)" }).click();
  await page.waitForURL(/user=team(:|%3A)research/);
  await expect.poll(() => row("of-root").count()).toBe(0);
  await row("of-team").first().waitFor();
  await page.goto("/report");
  const named = page.getByRole("combobox", { name: "User name" });
  await named.fill("grac");
  await page.getByRole("option", { name: /grace/ }).click();
  await page.waitForURL(/user=grace/);
  await named.fill("team:rese");
  await page.getByRole("option", { name: "Research (team:research)" }).click();
  await page.waitForURL(/user=team(:|%3A)research/);
  expect(await axeFindings(page)).toEqual([]);
  expect(faults).toEqual([]);
});
