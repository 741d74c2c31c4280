import { createChannel, ROOT_PASSWORD, signIn as apiSignIn, type Session } from "@fairway/testkit";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { beyond, cutLabels, latinTexts, overflowAt, settled } from "./page-checks.ts";
import { signIn } from "./session.ts";

// Teams, from the link of an invitation to the last tab, for every role.

const PEOPLE = { mia: "member-1906", vera: "viewer-1906", stan: "stranger-1906" } as const;
type Person = keyof typeof PEOPLE;

interface Team {
  readonly id: number;
  readonly slug: string;
}

let opened: OpenConsole;
let page: Page;
let root: Session;
let team: Team;
const pages = new Map<Person, Page>();
const faults: (readonly string[])[] = [];

async function open(name: Person): Promise<Page> {
  const known = pages.get(name);
  if (known) return known;
  const own = await openPage(opened.browser, opened.gateway.url);
  faults.push(own.faults);
  await signIn(own.page, name, PEOPLE[name]);
  pages.set(name, own.page);
  return own.page;
}

async function invite(body: object): Promise<string> {
  const { link } = await root.must<{ link: string }>("POST", `/api/team/${team.id}/invitations`, body);
  const { pathname, search } = new URL(link, opened.gateway.url);
  return pathname + search;
}

const tab = (on: Page, name: string) =>
  on.getByRole("navigation", { name: "Parts of the team Research" }).getByRole("link", { name, exact: true }).click();
const row = (on: Page, name: string) => on.getByRole("row").filter({ hasText: name });
const menu = async (on: Page, name: string, entry: string) => {
  await on.getByRole("button", { name: `Actions for ${name}` }).click();
  await on.getByRole("menuitem", { name: entry, exact: true }).click();
};

beforeAll(async () => {
  opened = await openConsole();
  ({ page } = opened);
  faults.push(opened.faults);
  root = await apiSignIn(opened.gateway.url, "root", ROOT_PASSWORD);
  await createChannel(root, { name: "quay", base_url: opened.upstream.url, models: "gpt-4o,gpt-4o-mini" });
  await root.must("PUT", "/api/option/", { key: "ModelRatio", value: '{"gpt-4o":1.25,"gpt-4o-mini":1}' });
  for (const [username, password] of Object.entries(PEOPLE))
    await root.must("POST", "/api/user/", { username, password, display_name: username });
});

afterAll(() => opened?.close());

test("an administrator creates a team, which has its own page at once", async () => {
  await page.goto("/team");
  await page.getByRole("heading", { name: "No teams yet" }).waitFor();
  await page.getByRole("link", { name: "Create a team" }).first().click();
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByText("Give it a name.").waitFor();
  await page.getByLabel("Name").first().fill("Research");
  await page.getByLabel("Labels").fill("cost_centre=4711");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Research" }).waitFor();
  const [made] = await root.must<Team[]>("GET", "/api/team/");
  expect(made).toMatchObject({ slug: "research", labels: { cost_centre: "4711" } });
  team = made as Team;
  await page.getByText("The wallet is empty, so calls with keys of this team are refused.").waitFor();
  await page.getByText("cost_centre=4711").waitFor();
  await page.getByRole("link", { name: "Teams" }).click();
  await row(page, "research").getByText("Owner").waitFor();
});

test("who is in no team sees the console of a single user", async () => {
  const stan = await open("stan");
  await stan.getByRole("link", { name: "Wallet" }).waitFor();
  expect(await stan.getByRole("link", { name: "Teams" }).count()).toBe(0);
  await stan.goto("/team/1");
  await stan.getByRole("heading", { name: "There is no such team" }).waitFor();
  await root.must("PUT", "/api/option/", { key: "TeamCreation", value: "user" });
  await stan.goto("/team");
  await stan.getByRole("link", { name: "Create a team" }).first().waitFor();
  await stan.getByRole("link", { name: "Teams" }).waitFor();
  await root.must("PUT", "/api/option/", { key: "TeamCreation", value: "admin" });
});

test("a link survives the sign-in, joins the team once, and then says that it is used up", async () => {
  const link = await invite({ role: "member" });
  const guest = await openPage(opened.browser, opened.gateway.url);
  faults.push(guest.faults);
  const mia = guest.page;
  pages.set("mia", mia);
  await mia.goto(link);
  await mia.getByLabel("Username").fill("mia");
  await mia.getByLabel("Password", { exact: true }).fill(PEOPLE.mia);
  await mia.keyboard.press("Enter");
  await mia.getByRole("heading", { name: "You are invited to a team" }).waitFor();
  expect(await axeFindings(mia)).toEqual([]);
  await mia.emulateMedia({ colorScheme: "dark" });
  expect(await axeFindings(mia, "color-contrast")).toEqual([]);
  await mia.emulateMedia({ colorScheme: "light" });
  await mia.getByRole("button", { name: "Join the team" }).click();
  await mia.getByRole("heading", { name: "You are a member of Research" }).waitFor();
  await mia.getByRole("link", { name: "Teams" }).waitFor();
  await mia.getByRole("link", { name: "Open the team" }).click();
  await mia.getByRole("heading", { level: 1, name: "Research" }).waitFor();
  const stan = await open("stan");
  await stan.goto(link);
  await stan.getByRole("button", { name: "Join the team" }).click();
  await stan.getByRole("heading", { name: "You did not join" }).waitFor();
  await stan
    .getByText(/invitation/i)
    .first()
    .waitFor();
  expect(await axeFindings(stan)).toEqual([]);
  await stan.goto("/team/join");
  await stan.getByRole("heading", { name: "This link has no invitation" }).waitFor();
});

test("an administrator fills the wallet, and each amount is a line", async () => {
  await page.goto(`/team/${team.id}?tab=wallet`);
  await page.getByRole("button", { name: "Change the balance" }).click();
  await page.getByRole("textbox", { name: "Amount" }).fill("20");
  await page.getByLabel("Note").fill("Order 17");
  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByText("The balance of the team Research is changed").waitFor();
  await page.getByText(/Order 17/).waitFor();
  expect(await page.getByText("$20.00").count()).toBeGreaterThan(0);
  await page.getByRole("button", { name: "Change the balance" }).click();
  await page.getByLabel("Change", { exact: true }).selectOption("take");
  await page.getByRole("textbox", { name: "Amount" }).fill("21");
  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByText("There are only $20.00.").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
});

test("an owner moves money from the own balance", async () => {
  await page.goto(`/team/${team.id}?tab=wallet`);
  await page.getByRole("button", { name: "Move money from my balance" }).click();
  await page.getByRole("textbox", { name: "Amount" }).fill("5");
  await page.getByRole("button", { name: "Move", exact: true }).click();
  await page.getByText("$5.00 moved to the team Research").waitFor();
  expect(await root.must("GET", `/api/team/${team.id}`)).toMatchObject({ quota: 12_500_000 });
});

test("a member makes a key that works, replaces it and disables it", async () => {
  const mia = await open("mia");
  await mia.goto(`/team/${team.id}`);
  await mia.getByRole("link", { name: "New key" }).click();
  await mia.getByRole("button", { name: "New key" }).first().click();
  await mia.getByLabel("Name").last().fill("Support chat");
  await mia.getByRole("button", { name: "Create", exact: true }).click();
  const key = await mia.getByTestId("new-key").textContent();
  expect(key).toMatch(/^sk-[0-9A-Za-z]{48}$/);
  await mia
    .getByRole("group", { name: /test request/i })
    .getByRole("button")
    .click();
  await mia.getByText("It is in the log").waitFor();
  await mia.getByRole("button", { name: "Done" }).click();
  await row(mia, "Support chat").getByText("mia").waitFor();
  await menu(mia, "Support chat", "Edit");
  await mia.getByLabel("Name").last().fill("Support desk");
  await mia.getByRole("button", { name: "Save" }).click();
  await mia.getByText("The key Support desk is saved").waitFor();
  await menu(mia, "Support desk", "Replace the key");
  await mia.getByRole("button", { name: "Replace", exact: true }).click();
  const next = await mia.getByTestId("new-key").textContent();
  expect(next).not.toBe(key);
  await mia.getByRole("button", { name: "Done" }).click();
  await menu(mia, "Support desk", "Disable");
  await mia.getByText("The key Support desk is disabled").waitFor();
  await menu(mia, "Support desk", "Enable");
  await mia.getByText("The key Support desk is enabled").waitFor();
  // What others use is not for a member.
  const links = mia.getByRole("navigation", { name: "Parts of the team Research" }).getByRole("link");
  expect(await links.allTextContents()).toEqual(["Overview", "Keys", "Members", "Wallet", "Budgets", "Settings"]);
  await tab(mia, "Settings");
  await mia.getByText("Admins of the team change these settings.").waitFor();
  expect(await mia.getByLabel("Name").first().isDisabled()).toBe(true);
});

test("an admin sees every key without its text, and replaces one for its maker", async () => {
  await page.goto(`/team/${team.id}?tab=keys`);
  await row(page, "Support desk").getByText("mia").waitFor();
  await page.getByRole("button", { name: "Actions for Support desk" }).click();
  expect(await page.getByRole("menuitem", { name: "Show and connect" }).count()).toBe(0);
  await page.getByRole("menuitem", { name: "Replace the key" }).click();
  await page.getByRole("button", { name: "Replace", exact: true }).click();
  await page.getByText(/The key is replaced: sk-.*mia can read the new one/).waitFor();
});

test("people are invited, given roles and removed", async () => {
  await page.goto(`/team/${team.id}?tab=members`);
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByLabel("Role").selectOption("viewer");
  await page.getByLabel("How many people").fill("2");
  await page.getByRole("button", { name: "Make the link" }).click();
  const link = await page.getByTestId("invitation-link").textContent();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText("0 of 2 used").waitFor();
  const vera = await open("vera");
  const { pathname, search } = new URL(link ?? "");
  await vera.goto(pathname + search);
  await vera.getByRole("button", { name: "Join the team" }).click();
  await vera.getByRole("link", { name: "Open the team" }).click();
  await vera.getByRole("heading", { level: 1, name: "Research" }).waitFor();
  const links = vera.getByRole("navigation", { name: "Parts of the team Research" }).getByRole("link");
  expect(await links.allTextContents()).toEqual([
    "Overview",
    "Members",
    "Wallet",
    "Budgets",
    "Usage",
    "Settings",
    "Reports",
  ]);
  await page.reload();
  await page.getByText("1 of 2 used").waitFor();
  await page.getByRole("button", { name: "Revoke" }).click();
  await page.getByText("No invitation is open.").waitFor();
  await menu(page, "vera", "Make Admin");
  await page.getByText("vera has the role Admin now").waitFor();
  await menu(page, "vera", "Remove from the team");
  await page.getByRole("button", { name: "Remove from the team" }).click();
  await page.getByText("vera is no member any more").waitFor();
  await vera.reload();
  await vera.getByRole("heading", { name: "There is no such team" }).waitFor();
  await page.getByRole("button", { name: "Add a person" }).click();
  await page.getByLabel("User name").fill("nemo");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page
    .getByText(/no such user|not exist|not found/i)
    .first()
    .waitFor();
  await page.getByLabel("User name").fill("vera");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText("vera is a member now").waitFor();
});

test("budgets are made, changed, reset and deleted on the page of the team", async () => {
  await page.goto(`/team/${team.id}?tab=budgets`);
  await page.getByRole("button", { name: "New budget" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Member", { exact: true }).selectOption({ label: "mia" });
  await dialog.getByRole("textbox", { name: "Limit" }).fill("1");
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByText("The budget is saved").waitFor();
  await page.getByRole("link", { name: "mia of team Research" }).waitFor();
  const menu = page.getByRole("button", { name: /mia of team Research/ });
  await menu.click();
  await page.getByRole("menuitem", { name: "Change the budget" }).click();
  await dialog.getByRole("textbox", { name: "Limit" }).fill("2");
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("$2.00").first().waitFor();
  await menu.click();
  await page.getByRole("menuitem", { name: "Count from 0 again" }).click();
  await page.getByText("counts from 0 again").waitFor();
  await menu.click();
  await page.getByRole("menuitem", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("No budgets", { exact: true }).waitFor();
});

test("a budget of a tag is written like the tag", async () => {
  await page.goto(`/team/${team.id}?tab=budgets`);
  await page.getByRole("button", { name: "New budget" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("What it limits").selectOption({ label: "Tag" });
  const tag = dialog.getByRole("textbox", { name: "Tag", exact: true });
  await tag.fill("shop");
  await dialog.getByRole("textbox", { name: "Limit" }).fill("1");
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await dialog.getByText("Write it like app=shop.").waitFor();
  await tag.fill("app=shop");
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByText("The budget is saved").waitFor();
  await page.getByRole("button", { name: /app=shop of/ }).click();
  await page.getByRole("menuitem", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("No budgets", { exact: true }).waitFor();
});

test("settings are saved as they are changed, and a newer version is offered", async () => {
  await page.goto(`/team/${team.id}?tab=settings`);
  await page.getByLabel("Most days that a new key works").fill("90");
  await page.getByLabel("Keys of a member who leaves").selectOption("transfer");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The settings are saved").waitFor();
  const saved = await root.must<{ settings: object }>("GET", `/api/team/${team.id}`);
  expect(saved.settings).toMatchObject({ max_key_days: 90, on_leave: "transfer", models: [] });
  await root.must("PUT", `/api/team/${team.id}`, { description: "Set by another" });
  await page.getByLabel("Name").first().fill("Laboratory");
  await page.getByRole("button", { name: "Save" }).click();
  const offer = page.getByRole("alertdialog");
  await offer.waitFor();
  await offer.getByRole("button").last().click();
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>('input[name="description"]')?.value !== "");
  expect(await page.getByLabel("Name").first().inputValue()).toBe("Research");
});

const TABS = ["", "?tab=keys", "?tab=members", "?tab=wallet", "?tab=budgets", "?tab=usage", "?tab=settings"];

test("every tab is accessible in light and dark, and fits every width", async () => {
  const found: string[] = [];
  const note = (path: string, all: readonly string[]) => found.push(...all.map((one) => `${path}: ${one}`));
  for (const path of ["/team", "/team/add", ...TABS.map((search) => `/team/${team.id}${search}`)]) {
    await page.goto(path);
    await settled(page);
    await shoot(page, `team-${path.replace(/\W+/g, "-")}`);
    note(path, await axeFindings(page));
    await page.emulateMedia({ colorScheme: "dark" });
    note(`dark ${path}`, await axeFindings(page, "color-contrast"));
    await page.emulateMedia({ colorScheme: "light" });
    for (const width of [320, 390, 600, 1024]) {
      const pixels = await overflowAt(page, width);
      if (pixels > 0) note(path, [`${pixels} px wider than ${width}`, ...(await beyond(page))]);
      if (width === 390) await shoot(page, `team-phone-${path.replace(/\W+/g, "-")}`);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    note(path, await cutLabels(page));
  }
  expect(found).toEqual([]);
}, 300_000);

test("every tab is Chinese where Chinese was chosen", async () => {
  await page.evaluate(() => localStorage.setItem("fairway:language", "zh"));
  const known =
    /Fairway|root|mia|vera|Research|Support desk|research|cost_centre|Set by another|Order 17|gpt-4o(-mini)?|v\d[\w.+-]*|API|RPM|TPM|ms|p50|p95|Ctrl|default|Root User|ID|AI|Token/g;
  const found: string[] = [];
  for (const search of TABS) {
    await page.goto(`/team/${team.id}${search}`);
    await settled(page);
    found.push(...(await latinTexts(page, known)).map((text) => `${search}: ${text}`));
  }
  await shoot(page, "team-zh");
  await page.evaluate(() => localStorage.setItem("fairway:language", "en"));
  // What the server wrote to the log and what people typed stays as it was written.
  expect(found.filter((text) => !/administrator changed|transferred/.test(text))).toEqual([]);
}, 120_000);

test("a member leaves; an owner deletes the team, and an administrator restores it", async () => {
  const mia = await open("mia");
  await mia.goto(`/team/${team.id}?tab=settings`);
  await mia.getByRole("button", { name: "Leave the team" }).click();
  await mia.getByRole("alertdialog").getByRole("button", { name: "Leave the team" }).click();
  await mia.getByText("You left the team Research").waitFor();
  await page.goto(`/team/${team.id}?tab=settings`);
  await page.getByRole("button", { name: "Delete the team" }).click();
  await page.getByLabel("Type research to confirm").fill("lab");
  const submit = page.getByRole("dialog").getByRole("button", { name: "Delete the team" });
  await submit.click();
  await page.getByText("Type research.").waitFor();
  await page.getByLabel("Type research to confirm").fill("research");
  await submit.click();
  await page.getByText("The team Research is deleted").waitFor();
  await page.goto(`/team/${team.id}`);
  await page.getByRole("button", { name: "Restore the team" }).click();
  await page.getByText("The team Research is restored").waitFor();
  await page.getByRole("navigation", { name: "Parts of the team Research" }).waitFor();
});

test("nothing went wrong behind the pages", () => {
  expect(faults.flat().filter((fault) => !/status of 40\d/.test(fault))).toEqual([]);
});
