import { startOidcServer, type OidcServer } from "@fairway/testkit/oidc-server";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { asUser, setOption } from "./session.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";

// Identity providers, with one that really answers.

let opened: OpenConsole;
let page: Page;
let faults: readonly string[];
let oidc: OidcServer;

beforeAll(async () => {
  opened = await openConsole();
  ({ page, faults } = opened);
  oidc = await startOidcServer({ redirectUris: [`${origin()}/oauth/acme-inc`] });
});

afterAll(async () => {
  await opened?.close();
  await oidc?.close();
});

const origin = () => new URL(page.url()).origin;
const main = () => page.getByRole("main");
const button = (name: string) => main().getByRole("button", { name, exact: true });
const drawer = (name = "Add provider") => page.getByRole("dialog", { name });

test("a provider is added from the settings, with words for its service", async () => {
  await page.goto("/setting?tab=system");
  const index = page.getByRole("navigation", { name: "Settings: sections" });
  await index.getByRole("link", { name: "Identity providers" }).click();
  await page.getByText("No identity providers yet").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("link", { name: "Add provider" }).first().click();
  await drawer().getByRole("button", { name: "Create provider" }).click();
  await drawer().getByText("Please enter the address of the issuer.").waitFor();
  await drawer().getByText("“Application (client) ID” of the app registration.").waitFor();
  await drawer().getByLabel("Service").selectOption({ label: "Okta" });
  await drawer().getByText("“Client ID” of a web application with the authorization code grant.").waitFor();
  await drawer().getByLabel("Service").selectOption({ label: "Another OpenID provider" });
  await drawer().locator('input[name="name"]').fill("Acme Inc");
  expect(await drawer().locator('input[name="slug"]').inputValue()).toBe("acme-inc");
  await drawer().getByText("/oauth/acme-inc").waitFor();
  await drawer().locator('input[name="issuer"]').fill(oidc.issuer);
  await drawer().locator('input[name="client_id"]').fill("client-1");
  await drawer().locator('input[name="secret"]').fill("not-the-secret");
  await drawer().getByRole("button", { name: "Add rule" }).click();
  await drawer().getByRole("button", { name: "Create provider" }).click();
  await drawer().getByText("Enter what the claim must be.").waitFor();
  const rule = drawer().getByRole("group", { name: "Rule 1" });
  await rule.getByLabel("Value").fill("fw-admins");
  await rule.getByLabel("Role").selectOption({ label: "Administrator" });
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "identity-provider-form");
  await drawer().getByRole("button", { name: "Create provider" }).click();
  await page.waitForURL(/\/identity-provider\/\d+$/);
  await page.getByRole("heading", { level: 1, name: "Acme Inc" }).waitFor();
});

test("the test names what is wrong and how to repair it", async () => {
  await button("Test the provider").click();
  await page.getByText("The provider refused the client or its proof.", { exact: false }).waitFor();
  await page.getByText("Set ServerAddress to the https address", { exact: false }).waitFor();
  await main().getByRole("link", { name: "Edit", exact: true }).click();
  await drawer("Edit provider").locator('input[name="secret"]').fill("client-1-secret");
  await drawer("Edit provider").getByRole("button", { name: "Save" }).click();
  await page.getByText("“Acme Inc” is saved.").waitFor();
  await page.getByRole("link", { name: "Acme Inc" }).click();
  await page.getByLabel("Claims").fill('{"groups": ["fw-admins"');
  await page.getByText("This is neither a JSON object nor a token.").waitFor();
  await page.getByLabel("Claims").fill('{"groups": ["fw-admins"]}');
  await button("Test the provider").click();
  const gifts = page.getByTestId("mapping");
  await gifts.getByText("Role: Administrator (Rule 1)").waitFor();
  await gifts.getByText("Group: no rule gives one").waitFor();
  expect(await page.getByText("The provider refused the client or its proof.", { exact: false }).count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "identity-provider");
});

test("a token of the directory is shown once and ends", async () => {
  await button("Create token").click();
  const token = (await page.getByTestId("scim-token").textContent()) ?? "";
  expect(token).toMatch(/^fwsc_\w{43}$/);
  const read = async () => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${origin()}/scim/v2/acme-inc/Users`, { headers })).status;
  };
  expect(await read()).toBe(200);
  expect(await axeFindings(page)).toEqual([]);
  await page.reload();
  await button("Create next token").waitFor();
  expect(await main().innerText()).not.toContain(token);
  await button("End all tokens").click();
  await page.getByRole("alertdialog").getByRole("button", { name: "End all tokens" }).click();
  await page.getByText("The tokens no longer work.").waitFor();
  expect(await read()).toBe(401);
});

test("a person signs in with it, and the provider shows who is linked", async () => {
  expect(await setOption(page, "ServerAddress", origin())).toMatchObject({ success: true });
  oidc.person = { sub: "ada-1", preferred_username: "ada", groups: ["fw-admins"] };
  const context = await opened.browser.newContext({ baseURL: origin() });
  const visitor = await context.newPage();
  await visitor.goto("/login");
  await visitor.getByRole("button", { name: "Continue with Acme Inc" }).click();
  await visitor.waitForURL(/\/token/);
  await context.close();
  await page.reload();
  await page.locator(".grid-row").filter({ hasText: "ada-1" }).filter({ hasText: "Administrator" }).waitFor();
});

test("a person whom the provider does not let in reads why", async () => {
  oidc.refusal = { error: "access_denied", error_description: "You are not assigned to this application." };
  const context = await opened.browser.newContext({ baseURL: origin() });
  const visitor = await context.newPage();
  await visitor.goto("/login");
  await visitor.getByRole("button", { name: "Continue with Acme Inc" }).click();
  await visitor.getByText("Acme Inc did not sign you in: You are not assigned to this application.").waitFor();
  await context.close();
  oidc.refusal = undefined;
});

test("an address leads to the company, with or without an account", async () => {
  await asUser(page, "PUT", "/api/identity_provider/1", { domains: ["acme.example"] });
  oidc.person = { sub: "ada-1", preferred_username: "ada", groups: ["fw-admins"] };
  const context = await opened.browser.newContext({ baseURL: origin() });
  const visitor = await context.newPage();
  await visitor.goto("/login");
  await visitor.getByLabel("Username").fill("ann@other.example");
  await visitor.getByLabel("Password", { exact: true }).focus();
  await visitor.getByLabel("Username").fill("who@acme.example");
  await visitor.getByLabel("Password", { exact: true }).focus();
  await visitor.getByText("Acme Inc signs in with its own accounts.").waitFor();
  expect(await axeFindings(visitor)).toEqual([]);
  await shoot(visitor, "login-company");
  await visitor.getByLabel("Username").press("Enter");
  await visitor.waitForURL(/\/token/);
  await context.close();
});

test("names of an account that the directory manages are read-only", async () => {
  const database = new DatabaseSync(opened.file, { timeout: 10_000 });
  const add = database.prepare(
    "insert into scim_users (id, provider_id, user_id, user_name, user_name_key, external_id, active, is_disabler, data, version, created_at, updated_at) values ('s1', 1, 1, 'root', 'root', '', 1, 0, '{}', 1, 1, 1)",
  );
  add.run();
  await page.goto("/setting");
  await page.getByText("Acme Inc manages this account").waitFor();
  expect(await page.getByLabel("Display name").isDisabled()).toBe(true);
  database.exec("delete from scim_users");
  database.close();
  await page.goto("/identity-provider/1");
});

test("a provider is switched off and deleted", async () => {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Switch off" }).click();
  await page.getByText("“Acme Inc” is off.", { exact: false }).waitFor();
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No identity providers yet").waitFor();
  expect(faults).toEqual([]);
});
