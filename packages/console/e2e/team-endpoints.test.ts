import { ROOT_PASSWORD, signIn as apiSignIn, type Session } from "@fairway/testkit";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser, signIn } from "./session.ts";

// Endpoints of a team: its admins manage them, members and strangers see none, and no page shows a secret again.

const PEOPLE = { amy: "admin-1906", mia: "member-1906", stan: "stranger-1906" } as const;
const SECRET = "token-of-the-receiver";
/** A name that never resolves: a team's messages go to public addresses alone. */
const ADDRESS = `https://receiver.invalid/hook?token=${SECRET}`;

let opened: OpenConsole;
let root: Session;
let team: number;
let amy: Page;
const faults: (readonly string[])[] = [];

async function open(name: keyof typeof PEOPLE): Promise<Page> {
  const own = await openPage(opened.browser, opened.gateway.url);
  faults.push(own.faults);
  await signIn(own.page, name, PEOPLE[name]);
  return own.page;
}

beforeAll(async () => {
  opened = await openConsole();
  root = await apiSignIn(opened.gateway.url, "root", ROOT_PASSWORD);
  for (const [username, password] of Object.entries(PEOPLE))
    await root.must("POST", "/api/user/", { username, password, display_name: username });
  ({ id: team } = await root.must<{ id: number }>("POST", "/api/team/", { name: "Research", slug: "research" }));
  for (const [username, role] of [
    ["amy", "admin"],
    ["mia", "member"],
  ])
    await root.must("POST", `/api/team/${team}/members`, { username, role });
  amy = await open("amy");
});
afterAll(() => opened?.close());

const drawer = (page: Page, name = "Add endpoint") => page.getByRole("dialog", { name });
const more = async (page: Page, entry: string) => {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: entry, exact: true }).click();
};

test("an admin reaches the endpoints from the team, and makes one whose key is shown once", async () => {
  await amy.goto(`/team/${team}`);
  await amy.getByRole("link", { name: "Event endpoints" }).click();
  await amy.waitForURL(new RegExp(`/team/${team}/webhook$`));
  await amy.getByText("No endpoints yet").waitFor();
  expect(await axeFindings(amy)).toEqual([]);
  await amy.getByRole("link", { name: "Add endpoint" }).first().click();
  await drawer(amy).getByLabel("Name").fill("on-call");
  await drawer(amy).getByLabel("Address").fill(ADDRESS);
  await shoot(amy, "team-endpoint-form");
  await drawer(amy).getByRole("button", { name: "Create endpoint" }).click();
  await amy.waitForURL(new RegExp(`/team/${team}/webhook/\\d+$`));
  const key = (await amy.getByTestId("signing-key").textContent()) ?? "";
  expect(key).toMatch(/^whsec_[\w+/]{43}=$/);
  await amy.reload();
  await amy.getByRole("heading", { level: 1, name: "on-call" }).waitFor();
  const shown = await amy.getByRole("main").innerText();
  expect(shown).toContain("receiver.invalid");
  for (const secret of [key, SECRET]) expect(shown).not.toContain(secret);
});

test("a test that does not arrive says why, and leaves the endpoint without events", async () => {
  await amy.getByRole("main").getByRole("button", { name: "Send test message", exact: true }).click();
  await amy.getByText("The test message was not accepted.").waitFor();
  await amy.getByText("no connection to a public address").first().waitFor();
  expect(await axeFindings(amy)).toEqual([]);
  await shoot(amy, "team-endpoint");
});

test("an endpoint is changed and deleted", async () => {
  await amy.goto(`/team/${team}/webhook`);
  await amy.getByRole("button", { name: "Actions for on-call" }).click();
  await amy.getByRole("menuitem", { name: "Edit", exact: true }).click();
  const edit = amy.getByRole("dialog");
  await edit.getByLabel("Name").fill("night-shift");
  await edit.getByRole("button", { name: "Save", exact: true }).click();
  await amy.getByText("“night-shift” was saved.").waitFor();
  await amy.getByRole("link", { name: "night-shift" }).click();
  await more(amy, "Delete");
  await amy.getByRole("alertdialog").getByRole("button", { name: "Delete", exact: true }).click();
  await amy.getByText("“night-shift” was deleted.").waitFor();
  await amy.getByText("No endpoints yet").waitFor();
});

test("members find no link, and neither they nor strangers see or make endpoints", async () => {
  await root.must("POST", `/api/team/${team}/webhook/`, { name: "hidden", url: ADDRESS, format: "standard" });
  for (const name of ["mia", "stan"] as const) {
    const page = await open(name);
    await page.goto(`/team/${team}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await page.getByRole("link", { name: "Event endpoints" }).count(), name).toBe(0);
    await page.goto(`/team/${team}/webhook`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await expect.poll(async () => (await page.getByRole("main").innerText()).length).toBeGreaterThan(0);
    expect(await page.getByText("hidden").count(), name).toBe(0);
    const made = await asUser(page, "POST", `/api/team/${team}/webhook/`, { name: "x", url: ADDRESS, format: "slack" });
    expect(made, name).toMatchObject({ success: false });
  }
  expect(await root.must<unknown[]>("GET", `/api/team/${team}/webhook/`)).toHaveLength(1);
});
