import { createChannel, createToken, ROOT_PASSWORD, signIn as apiSignIn, type Session } from "@fairway/testkit";
import type { ChannelKey } from "@fairway/wire";
import { expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { useVisits } from "./clicks.ts";

// The key of a channel is replaced while requests run, from a cold sign-in.

let root: Session;
let token: string;
let id: number;

const OLD = "sk-the-key-of-last-year-old1";
const NEW = "sk-the-key-of-this-year-new1";

const visits = useVisits(async (opened) => {
  root = await apiSignIn(opened.gateway.url, "root", ROOT_PASSWORD);
  id = await createChannel(root, { name: "main", base_url: opened.upstream.url, models: "gpt-4o", key: OLD });
  token = await createToken(root, { unlimited_quota: true });
});

async function call(): Promise<number> {
  const answer = await fetch(`${visits.opened.gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "Which key?" }] }),
  });
  await answer.text();
  return answer.status;
}

const readKeys = () => root.must<ChannelKey[]>("GET", `/api/channel/${id}/keys`);

test("a channel's key is added, tested, switched, drained and removed: eight clicks", async () => {
  const { page } = visits.visitor;
  await page.getByRole("link", { name: "Channel", exact: true }).click();
  await page.getByRole("button", { name: "Actions for main" }).click();
  await page.getByRole("menuitem", { name: "Health and usage" }).click();
  await page.getByRole("button", { name: "Replace a key…" }).click();
  const dialog = page.getByRole("dialog", { name: "Replace a key of “main”" });
  await dialog.getByLabel(/^New key/).fill(NEW);
  await dialog.getByRole("button", { name: "Add and test" }).click();
  await dialog.getByText(/^Key 2 …new1 answered in /).waitFor();
  expect((await readKeys()).map(({ status }) => status)).toEqual([1, 2]);
  expect(await call()).toBe(200);
  await shoot(page, "daily-channel-key");
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Switch over" }).click();
  await dialog.getByText("No request runs with key 1 …old1 here.").waitFor();
  expect((await readKeys()).map(({ status }) => status)).toEqual([2, 1]);
  expect(await call()).toBe(200);
  await dialog.getByRole("button", { name: "Remove key 1 …old1" }).click();
  await dialog.getByText("Key 1 …old1 is removed.").waitFor();
  await dialog.getByRole("button", { name: "Close", exact: true }).last().click();
  expect(await visits.visitor.countClicks()).toBeLessThanOrEqual(8);
  expect(await readKeys()).toMatchObject([{ hint: "new1", status: 1 }]);
  expect(await call()).toBe(200);
  expect(await page.content()).not.toContain(NEW);
});

test("single keys are tested, switched and removed on the page of their channel", async () => {
  await root.must("PUT", "/api/channel/", { id, key: `${NEW}\n${OLD}` });
  const { page } = visits.visitor;
  await page.goto(`/channel/${id}`);
  const row = (name: string) => page.getByRole("listitem").filter({ hasText: name });
  const choose = async (name: string, entry: string) => {
    await page.getByRole("button", { name: `Actions for Key ${name}` }).click();
    await page.getByRole("menuitem", { name: entry }).click();
  };
  await choose("2 …old1", "Test");
  await page.getByText(/^Key 2 …old1 answered in /).waitFor();
  await choose("2 …old1", "Disable");
  await row("Key 2 …old1").getByText("Switched off").waitFor();
  await shoot(page, "channel-keys");
  expect(await axeFindings(page)).toEqual([]);
  await choose("2 …old1", "Remove");
  await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("Key 2 …old1 is removed.").waitFor();
  expect(await readKeys()).toMatchObject([{ hint: "new1", status: 1 }]);
});
