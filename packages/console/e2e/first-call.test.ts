import { createChannel, createToken, ROOT_PASSWORD, signIn as apiSignIn } from "@fairway/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";

let opened: OpenConsole;
beforeAll(async () => void (opened = await openConsole()));
afterAll(() => opened?.close());

test("the page after the first start sees the call of the user's own program", async () => {
  const { gateway, page, upstream, faults } = opened;
  const root = await apiSignIn(gateway.url, "root", ROOT_PASSWORD);
  await createChannel(root, { name: "quay", base_url: upstream.url, models: "gpt-4o" });
  const key = await createToken(root, { name: "shop" });
  await page.goto("/setup");
  await page.getByText("Waiting for the first call with this key").waitFor();
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "Ahoy" }] }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
  await page.getByText("We saw your call to gpt-4o.").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("link", { name: "See it", exact: true }).click();
  await page.waitForURL(/\/log\?request=/);
  expect(faults).toEqual([]);
});
