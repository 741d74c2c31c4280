import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPage } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { beyond, overflowAt, settled } from "./page-checks.ts";
import { insertRows } from "./rows.ts";
import { asUser, setOption } from "./session.ts";

// Texts that try to run, to break the layout, or to keep the page busy, in every place that shows a text.

/** The longest name that a channel may have. */
const LONGEST = 191;
const EMOJI = "🚢".repeat(LONGEST);
const BACKTICKS = "`".repeat(19_000);
const ATTACKS = [
  "<script>window.hacked=1</script>",
  "<img src=x onerror=window.hacked=1>",
  '"><svg onload=window.hacked=1>',
  "'-window.hacked=1-'",
  "javascript:window.hacked=1",
  "{{constructor.constructor('window.hacked=1')()}}",
  "[press](javascript:window.hacked=1)",
  '![x](x"onerror="window.hacked=1)',
  "<a href=javascript:window.hacked=1>press</a>",
  "</title><script>window.hacked=1</script>",
  "data:text/html,<script>parent.hacked=1</script>",
  '<iframe srcdoc="<script>parent.hacked=1</script>">',
];
const ADA = { username: "ada", password: "lovelace-1843" };

let open: OpenConsole;
let page: Page;

beforeAll(async () => {
  open = await openConsole();
  ({ page } = open);
  const channel = { name: EMOJI, type: 1, key: "k", base_url: open.upstream.url, models: "echo", group: "default" };
  expect(await asUser(page, "POST", "/api/channel/", channel)).toMatchObject({ success: true });
  await setOption(page, "SelfUseModeEnabled", "true");
});

afterAll(() => open?.close());

/** Returns whether a script of a text ran. */
function isHacked(): Promise<boolean> {
  return page.evaluate(() => "hacked" in globalThis);
}

async function ask(question: string): Promise<void> {
  await page.goto("/playground?model=echo");
  await expect.poll(() => page.getByRole("combobox", { name: "Model" }).inputValue()).toBe("echo");
  await page.getByRole("textbox", { name: "Message" }).fill(question);
  await page.keyboard.press("Control+Enter");
  // The button to regenerate appears when the answer is complete.
  await page
    .getByRole("group", { name: "Answer of echo" })
    .getByRole("button", { name: "Copy the text" })
    .first()
    .waitFor();
}

test.each(["/channel", "/channel/1", "/channel/edit/1", "/", "/log"])(
  "a channel named by emoji alone keeps %s in its width",
  async (path) => {
    for (const width of [320, 1024, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(path);
      await settled(page);
      expect(await overflowAt(page, width), `${width}: ${(await beyond(page)).join("; ")}`).toBeLessThanOrEqual(0);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  },
);

test("a name of 200 emoji is refused at its field, and nothing that was typed is lost", async () => {
  await page.goto("/channel/edit/1");
  const form = page.getByRole("dialog", { name: "Edit channel" });
  const name = form.getByLabel("Name");
  expect(await name.inputValue()).toBe(EMOJI);
  await name.fill("🚢".repeat(200));
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByText("Invalid input: name is too long: shorten it to at most 191 characters.").waitFor();
  expect(await name.inputValue()).toBe("🚢".repeat(200));
  await name.fill(`⚓${"🚢".repeat(LONGEST - 1)}`);
  await form.getByRole("button", { name: "Save" }).click();
  await form.waitFor({ state: "detached" });
  expect(await asUser(page, "GET", "/api/channel/1")).toMatchObject({
    data: { name: `⚓${"🚢".repeat(LONGEST - 1)}` },
  });
});

test("19,000 backticks of a model are shown, and the page answers to the next press", async () => {
  // Alone they open a code block that is still empty.
  await ask(BACKTICKS);
  const answer = page.getByRole("group", { name: "Answer of echo" });
  await answer.locator("pre").waitFor();
  await ask(`Harbour ${BACKTICKS} closed`);
  expect(await answer.evaluate((box) => box.querySelector(".prose")?.textContent.match(/`/g)?.length)).toBe(19_000);
  expect(await overflowAt(page, 320), (await beyond(page)).join("; ")).toBeLessThanOrEqual(0);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole("textbox", { name: "Message" }).fill("still here");
  expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("still here");
});

test("a notice of 19,000 backticks is shown and closed", async () => {
  expect(await setOption(page, "Notice", `Harbour ${BACKTICKS} closed`)).toMatchObject({ success: true });
  await page.goto("/");
  const notice = page.getByRole("region", { name: "Announcement" });
  await notice.waitFor();
  expect(await notice.evaluate((box) => box.textContent.match(/`/g)?.length)).toBe(19_000);
  expect(await overflowAt(page, 320), (await beyond(page)).join("; ")).toBeLessThanOrEqual(0);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole("button", { name: "Close the announcement" }).click();
  await notice.waitFor({ state: "detached" });
});

test("nothing in an answer of a model runs", async () => {
  await ask(ATTACKS.join("\n\n"));
  const answer = page.getByRole("group", { name: "Answer of echo" });
  for (const attack of ["<script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>"])
    await answer.locator(".prose p").getByText(attack).first().waitFor();
  const found = await answer.evaluate((box) => ({
    elements: [...box.querySelectorAll(".prose *")].map(({ localName }) => localName),
    links: [...box.querySelectorAll(".prose a")].map((link) => link.getAttribute("href")),
  }));
  expect(new Set(found.elements)).toEqual(new Set(["p"]));
  expect(found.links).toEqual([]);
  expect(await isHacked()).toBe(false);
});

test("nothing in what the operator writes runs, for visitors neither", async () => {
  const texts = { Notice: ATTACKS.join("\n\n"), Footer: ATTACKS.join(" "), SystemName: ATTACKS[0] ?? "" };
  for (const [key, value] of Object.entries(texts))
    expect(await setOption(page, key, value), key).toMatchObject({ success: true });
  const { page: visitor } = await openPage(open.browser, open.gateway.url);
  for (const one of [page, visitor]) {
    await one.goto("/");
    await one.getByRole("region", { name: "Announcement" }).waitFor();
    await one.goto("/about");
    await one.locator("h1").waitFor();
    expect(await one.evaluate(() => "hacked" in globalThis)).toBe(false);
    expect(await one.locator("a[href^='javascript:' i], a[href^='data:' i], main iframe").count()).toBe(0);
    expect(await one.title()).toContain(ATTACKS[0]);
  }
  await visitor.context().close();
});

test("nothing in the names of users, channels, tokens and models runs, on any page that shows them", async () => {
  const quota = 1_000_000;
  for (const [index, attack] of ATTACKS.entries()) {
    const name = attack.slice(0, 30);
    const user = { username: `user${index}`, password: ADA.password, display_name: attack.slice(0, 20) };
    const channel = { name: attack, type: 1, key: "k", base_url: open.upstream.url, models: `m${index}`, tag: attack };
    const answers = [
      await asUser(page, "POST", "/api/user/", user),
      await asUser(page, "POST", "/api/token/", { name, remain_quota: quota }),
      await asUser(page, "POST", "/api/channel/", channel),
      await asUser(page, "POST", "/api/redemption/", { name: attack.slice(0, 20), quota, count: 1 }),
    ];
    for (const answer of answers) expect(answer, attack).toMatchObject({ success: true });
  }
  const created_at = Math.floor(Date.now() / 1000);
  insertRows(
    open.file,
    "logs",
    ATTACKS.map((attack) => ({
      user_id: 1,
      created_at,
      type: 2,
      content: attack,
      username: attack.slice(0, 60),
      token_name: attack.slice(0, 60),
      model_name: attack.slice(0, 60),
      quota: 10,
      channel_id: 2,
      prompt_tokens: 1,
      completion_tokens: 1,
      use_time: 1,
      is_stream: 0,
      token_id: 1,
      group: attack.slice(0, 60),
      ip: attack.slice(0, 40),
      request_id: attack.slice(0, 60),
      other: JSON.stringify({ error: attack, message: attack, admin_info: { use_channel: [attack] }, reason: attack }),
    })),
  );
  for (const path of [
    "/token",
    "/channel",
    "/channel/2",
    "/channel/edit/2",
    "/user",
    "/user/2",
    "/user/edit/2",
    "/redemption",
    "/log?range=24h",
    "/detail",
    "/audit",
    "/playground",
    "/pricing",
    "/",
  ]) {
    await page.goto(path);
    await settled(page);
    expect(await isHacked(), path).toBe(false);
  }
});

test("nothing in a row of the log runs when it is opened", async () => {
  await page.goto("/log?range=24h&size=50");
  const rows = page.getByRole("row").filter({ hasText: "hacked" });
  await rows.first().waitFor();
  expect(await rows.count()).toBe(ATTACKS.length);
  for (let at = 0; at < ATTACKS.length; at += 1) {
    await rows.nth(at).click();
    const peek = page.getByRole("dialog");
    await peek.waitFor();
    expect(await isHacked()).toBe(false);
    await page.keyboard.press("Escape");
    await peek.waitFor({ state: "detached" });
  }
});

test("nothing went wrong behind the pages", () => {
  expect(open.faults).toEqual([]);
});
