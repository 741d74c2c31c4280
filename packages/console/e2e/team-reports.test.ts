import { readFile } from "node:fs/promises";
import { ROOT_PASSWORD, signIn as apiSignIn, type Session } from "@fairway/testkit";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { insertRows } from "./rows.ts";
import { asUser, signIn } from "./session.ts";

// Reports of a team: admins save and schedule them, viewers open them, members read their own calls, others nothing.

const PEOPLE = { amy: "admin-1906", vera: "viewer-1906", mia: "member-1906", stan: "stranger-1906" } as const;

let opened: OpenConsole;
let root: Session;
let team: { readonly id: number; readonly account_id: number };
let mia: number;
let amy: Page;
const faults: (readonly string[])[] = [];

async function open(name: keyof typeof PEOPLE): Promise<Page> {
  const own = await openPage(opened.browser, opened.gateway.url);
  faults.push(own.faults);
  await signIn(own.page, name, PEOPLE[name]);
  return own.page;
}

const table = (page: Page) => page.getByRole("region", { name: "Rows of the report" });
const row = (page: Page, text: string) => table(page).getByRole("row").filter({ hasText: text });
const saved = (page: Page) => page.getByRole("group", { name: "Saved reports" });
const heading = (page: Page) => page.getByRole("heading", { level: 1, name: "Reports of Research" });

beforeAll(async () => {
  opened = await openConsole();
  root = await apiSignIn(opened.gateway.url, "root", ROOT_PASSWORD);
  for (const [username, password] of Object.entries(PEOPLE))
    await root.must("POST", "/api/user/", { username, password, display_name: username });
  team = await root.must("POST", "/api/team/", { name: "Research", slug: "research" });
  for (const [username, role] of [
    ["amy", "admin"],
    ["vera", "viewer"],
    ["mia", "member"],
  ])
    await root.must("POST", `/api/team/${team.id}/members`, { username, role });
  const members = await root.must<{ user_id: number; username: string }[]>("GET", `/api/team/${team.id}/members`);
  mia = members.find(({ username }) => username === "mia")?.user_id ?? 0;
  const call = {
    user_id: team.account_id,
    account_kind: 1,
    username: "Research",
    created_at: Math.floor(Date.now() / 1000) - 7_200,
    type: 2,
    model_name: "gpt-5.6",
    token_name: "ci",
    token_id: 1,
    group: "default",
    channel_id: 1,
    quota: 500_000,
    prompt_tokens: 100,
    completion_tokens: 20,
    use_time: 1,
    is_stream: 0,
    content: "",
    ip: "",
    request_id: "",
    other: "",
    tags: "app=shop",
    end_user: "42",
    actor: "",
  };
  insertRows(opened.file, "logs", [
    call,
    { ...call, actor: `u${mia}`, quota: 1_000_000, tags: "app=crm" },
    { ...call, user_id: 1, account_kind: 0, username: "root", model_name: "not-of-the-team", quota: 9_000_000 },
  ]);
  amy = await open("amy");
});
afterAll(() => opened?.close());

test("an admin reaches the reports from the team, which sum its calls alone and name who used its keys", async () => {
  await amy.goto(`/team/${team.id}`);
  const parts = amy.getByRole("navigation", { name: "Parts of the team Research" });
  await parts.getByRole("link", { name: "Reports", exact: true }).click();
  await amy.waitForURL(new RegExp(`/team/${team.id}/report$`));
  await heading(amy).waitFor();
  await row(amy, "gpt-5.6").first().waitFor();
  expect(await table(amy).innerText()).not.toContain("not-of-the-team");
  await amy.getByRole("combobox", { name: "Group by" }).selectOption("actor");
  await amy.getByRole("combobox", { name: "Rows for each" }).selectOption("none");
  await row(amy, "mia").getByText("$2.000000").waitFor();
  await row(amy, "Without a value").getByText("$1.000000").waitFor();
  expect(await table(amy).getByRole("link").count()).toBe(0);
  const choices = await amy.getByRole("combobox", { name: "Group by" }).locator("option").allInnerTexts();
  expect(choices).toEqual(["All calls", "Model", "Token", "Group", "End user", "Key used by", "Tag…"]);
  expect(await axeFindings(amy)).toEqual([]);
  await shoot(amy, "team-reports");
});

test("a report of the team is saved with a schedule and receivers, changed, and downloaded", async () => {
  await amy.getByRole("button", { name: "Save report…" }).click();
  const dialog = amy.getByRole("dialog", { name: "Save report…" });
  await dialog.getByRole("textbox", { name: /^Name/ }).fill("By holder");
  await dialog.getByRole("combobox", { name: "Schedule" }).selectOption("week");
  expect(await dialog.getByText("Mail me when it is ready").count()).toBe(0);
  const receivers = dialog.getByRole("textbox", { name: /^Mail it to these people/ });
  await receivers.fill("stan");
  await dialog.getByRole("button", { name: "Save" }).click();
  await amy
    .getByText(/unlike stan/)
    .first()
    .waitFor();
  await receivers.fill("vera, mia");
  expect(await axeFindings(amy)).toEqual([]);
  await shoot(amy, "team-reports-save");
  await dialog.getByRole("button", { name: "Save" }).click();
  await saved(amy).getByRole("button", { name: "By holder", exact: true, pressed: true }).waitFor();
  const read = () => root.must<object[]>("GET", `/api/team/${team.id}/report/saved/`);
  expect(await read()).toMatchObject([
    { name: "By holder", cadence: "week", receivers: ["mia", "vera"], question: { by: ["actor"], interval: "none" } },
  ]);
  expect(await root.must<object[]>("GET", "/api/report/saved/")).toEqual([]);
  await amy.getByRole("combobox", { name: "Group by" }).selectOption("model");
  await row(amy, "gpt-5.6").getByText("$3.000000").waitFor();
  await saved(amy).getByRole("button", { name: "Change the report By holder" }).click();
  await amy.getByRole("menuitem", { name: "Replace with what is shown" }).click();
  await expect.poll(read).toMatchObject([{ question: { by: ["model"] }, cadence: "week" }]);
  const download = amy.waitForEvent("download");
  await amy.getByRole("button", { name: "Download" }).click();
  await amy.getByRole("menuitem", { name: "CSV, for spreadsheets" }).click();
  const csv = await readFile(await (await download).path(), "utf8");
  expect(csv).toContain(",gpt-5.6,2,0,200,40,1500000,3.000000");
  expect(csv).not.toContain("not-of-the-team");
});

test("the cost of one application of the team is shared among the others", async () => {
  await amy.goto(`/team/${team.id}/report?by=tag:app&interval=none`);
  await row(amy, "crm").getByText("$2.000000").waitFor();
  await amy.getByRole("combobox", { name: "Shared cost" }).selectOption("app");
  await amy.getByRole("region", { name: "Shared cost" }).getByRole("button", { name: "shop" }).click();
  await row(amy, "crm").getByText("$3.000000").waitFor();
  await row(amy, "shop").getByText("-$1.000000").waitFor();
});

test("a viewer opens saved reports and changes none; a member reads the own calls; a stranger finds no team", async () => {
  const [vera, own, stan] = [await open("vera"), await open("mia"), await open("stan")];
  await vera.goto(`/team/${team.id}/report`);
  await saved(vera).getByRole("button", { name: "By holder", exact: true }).click();
  await row(vera, "gpt-5.6").getByText("$3.000000").waitFor();
  expect(await vera.getByRole("button", { name: "Save report…" }).count()).toBe(0);
  expect(await saved(vera).getByRole("button").count()).toBe(1);
  await own.goto(`/team/${team.id}`);
  await own.getByRole("heading", { level: 1, name: "Research" }).waitFor();
  expect(
    await own
      .getByRole("navigation", { name: /Parts of the team/ })
      .getByText("Reports")
      .count(),
  ).toBe(0);
  await own.goto(`/team/${team.id}/report`);
  await row(own, "gpt-5.6").first().waitFor();
  await table(own).locator("tfoot tr").getByText("$2.000000").waitFor();
  expect(await saved(own).count()).toBe(0);
  await stan.goto(`/team/${team.id}/report`);
  await stan.getByRole("heading", { name: "There is no such team" }).waitFor();
  const body = { name: "x", question: { by: [], days: 1 } };
  for (const page of [vera, own, stan])
    expect(await asUser(page, "POST", `/api/team/${team.id}/report/saved/`, body)).toMatchObject({ success: false });
  for (const page of [vera, own, stan]) await page.context().close();
});

test("a report of the team is deleted with its schedule", async () => {
  await saved(amy).getByRole("button", { name: "By holder", exact: true }).click();
  await saved(amy).getByRole("button", { name: "Change the report By holder" }).click();
  await amy.getByRole("menuitem", { name: "Delete the report" }).click();
  const question = amy.getByRole("alertdialog").or(amy.getByRole("dialog"));
  await question.getByRole("button", { name: "Delete the report" }).click();
  await expect.poll(() => saved(amy).getByRole("button", { name: "By holder", exact: true }).count()).toBe(0);
  expect(await root.must<object[]>("GET", `/api/team/${team.id}/report/saved/`)).toEqual([]);
  expect(faults.flat()).toEqual([]);
});
