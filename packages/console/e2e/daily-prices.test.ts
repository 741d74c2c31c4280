import { createChannel, ROOT_PASSWORD, setOptions, signIn as apiSignIn, type Session } from "@fairway/testkit";
import type { PricePlan } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openVisitor } from "./clicks.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { insertRows } from "./rows.ts";

let opened: OpenConsole;
let root: Session;

beforeAll(async () => {
  opened = await openConsole({ isSignedIn: false });
  root = await apiSignIn(opened.gateway.url, "root", ROOT_PASSWORD);
  await createChannel(root, { name: "main", base_url: opened.upstream.url, models: "gpt-4o" });
  await setOptions(root, { ModelRatio: '{"gpt-4o":1}', CompletionRatio: '{"gpt-4o":4}', CacheRatio: "{}" });
  const row = {
    user_id: 1,
    username: "root",
    created_at: Math.floor(Date.now() / 1000) - 60,
    type: 2,
    content: "",
    token_name: "shop",
    token_id: 1,
    model_name: "gpt-4o",
    quota: 500_000,
    prompt_tokens: 500_000,
    completion_tokens: 0,
    use_time: 1,
    is_stream: 0,
    channel_id: 1,
    group: "default",
    ip: "",
    request_id: "yesterday",
    other: JSON.stringify({ group_ratio: 1 }),
  };
  insertRows(opened.file, "logs", [row]);
});

afterAll(() => opened?.close());

function toLocalText(at: Date): string {
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

test("the price of a model from tomorrow, with what yesterday would have cost: four clicks", async () => {
  const visitor = await openVisitor(opened.browser, opened.gateway.url, { name: "root", password: ROOT_PASSWORD });
  const { page } = visitor;
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await page.getByRole("link", { name: "Price table", exact: true }).click();
  const cell = (name: string) => page.getByRole("textbox", { name: `${name} of gpt-4o, in dollars`, exact: true });
  await expect.poll(() => cell("Input / 1M").inputValue()).toBe("2");
  await cell("Input / 1M").fill("1");
  await page.getByRole("button", { name: "Review changes (1)" }).click();
  const review = page.getByRole("dialog", { name: "Change prices?" });
  const cost = review.getByRole("status").filter({ hasText: "1 request of gpt-4o" });
  await cost.getByText("$1.000000").waitFor();
  await cost.getByText("$0.500000").waitFor();
  await review.getByLabel("From").fill("2020-01-01T00:00");
  await review.getByLabel("From").press("Enter");
  await review.getByText("Choose a later time, or none.").waitFor();
  await review.getByLabel("From").fill(toLocalText(new Date(Date.now() + 86_400_000)));
  await review.getByText("1 model has another price from then on.").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "daily-price-plan");
  await review.getByRole("button", { name: "Plan changes (1)" }).click();
  const planned = page.locator("section", { has: page.getByRole("heading", { name: "Planned prices" }) });
  await planned.getByText("gpt-4o").waitFor();
  await shoot(page, "daily-price-planned");
  expect(await axeFindings(page)).toEqual([]);
  expect(await visitor.countClicks()).toBeLessThanOrEqual(4);
  const [plan] = await root.must<PricePlan[]>("GET", "/api/price/plan");
  expect(plan).toMatchObject({ state: "planned", prices: [{ model: "gpt-4o", input: "1" }] });
  await expect.poll(() => cell("Input / 1M").inputValue()).toBe("2");

  await planned.getByRole("button", { name: "Cancel plan" }).click();
  await planned.waitFor({ state: "detached" });
  expect((await root.must<PricePlan[]>("GET", "/api/price/plan"))[0]?.state).toBe("cancelled");
  const { faults } = visitor;
  await visitor.close();
  expect(faults).toEqual([]);
});
