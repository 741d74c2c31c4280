import { mkdtemp, readFile, rm } from "node:fs/promises";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT_PASSWORD, signIn as apiSignIn } from "@fairway/testkit";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { useVisits } from "./clicks.ts";

// Moving from another gateway: its database, or its address, from a cold sign-in.

const visits = useVisits(() => Promise.resolve());
const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** Returns an SQLite file of a gateway with one user, one key and two channels. */
async function makeDatabase(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "moving-"));
  folders.push(folder);
  const path = join(folder, "one-api.db");
  const database = new DatabaseSync(path);
  database.exec(`
    create table users (id integer primary key, username text, password text, role integer, status integer, quota integer, used_quota integer, "group" text);
    create table tokens (id integer primary key, user_id integer, key text, status integer, name text, remain_quota integer, unlimited_quota integer, expired_time integer, created_time integer);
    create table channels (id integer primary key, type integer, key text, status integer, name text, models text, "group" text, base_url text);
    create table options (key text primary key, value text);
    insert into users values (7, 'ada', '!', 1, 1, 5000000, 0, 'default');
    insert into tokens values (1, 7, '${"k".repeat(48)}', 1, 'laptop', 100, 0, -1, 5);
    insert into channels values (4, 1, 'sk-of-the-import', 1, 'harbour', 'gpt-4o', 'default', ''), (5, 999, 'sk-2', 1, 'unknown', 'x', 'default', '');
    insert into options values ('Theme', 'berry');
  `);
  database.close();
  return readFile(path);
}

const openDialog = async () => {
  const { page } = visits.visitor;
  await page.getByRole("link", { name: "Channel", exact: true }).click();
  await page.getByRole("button", { name: "All channels…" }).click();
  await page.getByRole("menuitem", { name: "Import…" }).click();
  return page.getByRole("dialog", { name: "Import channels" });
};

test("a database is uploaded, tried and imported, and its result is there after a reload: five clicks", async () => {
  const { page } = visits.visitor;
  const dialog = await openDialog();
  await dialog.getByRole("combobox", { name: "Source" }).selectOption("database");
  const file = { name: "one-api.db", mimeType: "application/octet-stream", buffer: await makeDatabase() };
  await dialog.getByLabel("File").setInputFiles(file);
  await dialog.getByRole("button", { name: "Try it" }).click();
  const trial = dialog.getByRole("list", { name: "What the import would do" });
  await trial.getByText("channels: 1 created, 1 skipped").waitFor();
  await trial.getByText("the channel unknown has the type 999").waitFor();
  await trial.getByText("options that this gateway does not have: Theme").waitFor();
  const root = await apiSignIn(visits.opened.gateway.url, "root", ROOT_PASSWORD);
  expect(await root.must("GET", "/api/channel/")).toEqual([]);
  await shoot(page, "daily-moving");
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Import", exact: true }).click();
  const done = dialog.getByRole("list", { name: "What was imported" });
  await done.getByText("users: 1 created").waitFor();
  expect(await visits.visitor.countClicks()).toBeLessThanOrEqual(5);
  expect(await done.getByRole("link").allInnerTexts()).toEqual(["users", "tokens", "channels", "options"]);
  await page.reload();
  await done.getByText("channels: 1 created, 1 skipped").waitFor();
  await done.getByRole("link", { name: "channels" }).click();
  await page.getByRole("row").filter({ hasText: "harbour" }).waitFor();
});

test("a running gateway is tried and imported from its address: five clicks", async () => {
  const answers: Readonly<Record<string, unknown>> = {
    "/api/user/self": { id: 1, username: "root", role: 100 },
    "/api/status": { quota_per_unit: 500_000 },
    "/api/option/": [],
    "/api/channel/": {
      items: [{ id: 9, name: "distant", type: 1, models: "gpt-4o", status: 1, group: "default" }],
      total: 1,
    },
    "/api/user/": { items: [], total: 0 },
    "/api/token/": { items: [], total: 0 },
    "/api/redemption/": { items: [], total: 0 },
  };
  const server = createServer((request, response) => {
    const data = answers[(request.url ?? "").split("?", 1)[0] ?? ""];
    const isKnown = request.headers.authorization === "Bearer token-of-the-test" && data !== undefined;
    response.writeHead(isKnown ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isKnown ? { success: true, message: "", data } : {}));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const dialog = await openDialog();
  await dialog.getByRole("combobox", { name: "Source" }).selectOption("new-api");
  await dialog.getByRole("button", { name: "Try it" }).click();
  await dialog.getByText("Write an address such as").waitFor();
  await dialog.getByLabel("Address").fill(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await dialog.getByLabel("Access token of a super administrator there", { exact: true }).fill("token-of-the-test");
  await dialog.getByRole("button", { name: "Try it" }).press("Enter");
  const trial = dialog.getByRole("list", { name: "What the import would do" });
  await trial.getByText("channels: 1 created").waitFor();
  await trial.getByText("its calls show no keys of channels").waitFor();
  await dialog.getByRole("button", { name: "Import", exact: true }).click();
  await dialog.getByRole("list", { name: "What was imported" }).getByText("channels: 1 created").waitFor();
  expect(await visits.visitor.countClicks()).toBeLessThanOrEqual(5);
});
