import { ROOT_PASSWORD } from "@fairway/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPage } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser, signIn } from "./session.ts";

// A browser whose clock is hours off: the server dates the rows and expires the tokens, so its time counts.

const HOUR = 3_600;

let open: OpenConsole;

beforeAll(async () => {
  open = await openConsole();
  const channel = { name: "Harbour", type: 1, key: "k", base_url: open.upstream.url, models: "gpt-4o" };
  expect(await asUser(open.page, "POST", "/api/channel/", channel)).toMatchObject({ success: true });
  const expired_time = Math.floor(Date.now() / 1000) + 30 * 60;
  const token = { name: "half-an-hour", unlimited_quota: true, expired_time };
  expect(await asUser(open.page, "POST", "/api/token/", token)).toMatchObject({ success: true });
  const answer = await fetch(`${open.gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${await loadTokenKey("half-an-hour")}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "Ahoy" }] }),
  });
  expect(answer.status, await answer.text()).toBe(200);
});

afterAll(() => open?.close());

async function loadTokenKey(name: string): Promise<string> {
  const list = (await asUser(open.page, "GET", "/api/token/")) as { data: { name: string; key: string }[] };
  return `sk-${list.data.find((token) => token.name === name)?.key ?? ""}`;
}

test.each([
  ["ahead", 3 * HOUR],
  ["behind", -3 * HOUR],
])("a clock that is three hours %s shows calls, ages and expiries as the server has them", async (_way, skew) => {
  const { page, faults } = await openPage(open.browser, open.gateway.url);
  await page.addInitScript((seconds) => {
    const Real = Date;
    const now = () => Real.now() + seconds * 1000;
    globalThis.Date = new Proxy(Real, {
      construct: (_target, given: unknown[]) => Reflect.construct(Real, given.length === 0 ? [now()] : given) as Date,
      get: (target, name) => (name === "now" ? now : (Reflect.get(target, name) as unknown)),
    });
  }, skew);
  await signIn(page, "root", ROOT_PASSWORD);
  const row = page.getByRole("row").filter({ hasText: "half-an-hour" });
  await row.getByText("Enabled").waitFor();
  await row.getByText(/^in (29|30) min/).waitFor();

  await page.goto("/log?range=1h");
  await page.getByRole("row").filter({ hasText: "gpt-4o" }).waitFor();

  await page.goto("/token/add");
  const form = page.getByRole("dialog", { name: "Add token" });
  await form.getByRole("button", { name: "1 hour" }).click();
  const local = await form.getByLabel("Expires").inputValue();
  const expiry = Date.parse(local) / 1000;
  expect(Math.abs(expiry - (Date.now() / 1000 + HOUR))).toBeLessThan(5 * 60);
  expect(faults).toEqual([]);
  await page.context().close();
});
