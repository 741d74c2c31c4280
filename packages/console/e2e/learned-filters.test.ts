import { MESSAGES_ANSWER } from "@fairway/testkit/messages-answer";
import { createToken, signIn as signInByApi, ROOT_PASSWORD } from "@fairway/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser } from "./session.ts";

// The names that a channel's host refused, on the page of the channel.

let opened: OpenConsole;
beforeAll(async () => {
  opened = await openConsole();
});
afterAll(() => opened?.close());

test("names that a host refused are on the channel's page until they are forgotten", async () => {
  const { page, gateway, upstream } = opened;
  const body = { type: 14, name: "claude", key: "sk-a", models: "claude-sonnet-4", group: "default" };
  expect(await asUser(page, "POST", "/api/channel/", { ...body, base_url: upstream.url })).toMatchObject({
    success: true,
  });
  const root = await signInByApi(gateway.url, "root", ROOT_PASSWORD);
  await root.must("PUT", "/api/option/", { key: "SelfUseModeEnabled", value: "true" });
  const key = await createToken(root, { unlimited_quota: true });
  upstream.script("/v1/messages", ({ json }) => {
    const [found] = Object.keys(json ?? {}).filter((name) => name.startsWith("new_"));
    if (found === undefined) return { body: MESSAGES_ANSWER };
    const error = { type: "invalid_request_error", message: `${found}: Extra inputs are not permitted` };
    return { status: 400, body: { type: "error", error } };
  });
  for (const name of ["new_one", "new_two"]) {
    const answer = await fetch(`${gateway.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: "claude-sonnet-4",
        max_tokens: 9,
        messages: [{ role: "user", content: "hi" }],
        [name]: 1,
      }),
    });
    expect(answer.status).toBe(200);
  }
  await page.goto("/channel/1");
  const panel = page.locator("section").filter({ has: page.getByRole("heading", { name: "Refused by the host" }) });
  const line = (name: string) => panel.getByRole("listitem").filter({ hasText: name });
  await line("new_two").waitFor();
  expect(await line("new_one").textContent()).toMatch(/anthropic · claude-sonnet-4 · refused .+ · sent again /);
  expect(await panel.textContent()).toContain("Each replica learns on its own");
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "channel-learned-filters");
  await panel.getByRole("button", { name: "Forget new_one of claude-sonnet-4" }).click();
  await line("new_one").waitFor({ state: "detached" });
  await panel.getByRole("button", { name: "Forget all" }).click();
  await panel.waitFor({ state: "detached" });
  expect(await asUser(page, "GET", "/api/channel/1/filters")).toMatchObject({ data: [] });
});
