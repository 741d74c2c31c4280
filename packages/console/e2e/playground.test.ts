import { NORMAL_TEXT } from "@fairway/testkit";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser, setOption } from "./session.ts";

// A conversation with models that behave, think, respond slowly, fail and break off.

const MODELS = [
  "gpt-4o-mini",
  "reasoning",
  "slow-120+long-400",
  "status-400",
  "error-after-3",
  "cut-after-3",
  "hang",
  "hang-after-3",
];

let opened: OpenConsole;
let upstream: OpenConsole["upstream"];
let page: Page;
let faults: readonly string[];

const heading = (name: string) => page.getByRole("heading", { level: 1, name });

beforeAll(async () => {
  opened = await openConsole();
  ({ upstream, page, faults } = opened);
});

afterAll(() => opened?.close());

async function open(model: string): Promise<void> {
  await page.goto(`/playground?model=${encodeURIComponent(model)}`);
  const picker = page.getByRole("combobox", { name: "Model" });
  await expect.poll(() => picker.inputValue(), { timeout: 15_000 }).toBe(model);
}

async function say(text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  // Nothing can be sent until the models are loaded.
  await expect.poll(() => page.getByRole("button", { name: "Send", exact: true }).isEnabled()).toBe(true);
  await page.keyboard.press("Control+Enter");
}

test("without models it says so", async () => {
  await heading("Token").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await heading("Playground").waitFor();
  await page.getByText("No model can be used in this group.").waitFor();
  expect(await axeFindings(page)).toEqual([]);
});

test("it begins empty, with a usual model and examples (C-355, C-356)", async () => {
  const channel = {
    name: "Harbour",
    type: 1,
    key: "k",
    base_url: upstream.url,
    models: MODELS.join(),
    group: "default",
  };
  expect(await asUser(page, "POST", "/api/channel/", channel)).toMatchObject({ success: true });
  await setOption(page, "SelfUseModeEnabled", "true");
  await page.goto("/playground");
  const picker = page.getByRole("combobox", { name: "Model" });
  await expect.poll(() => picker.inputValue(), { timeout: 15_000 }).toBe("gpt-4o-mini");
  await page.getByRole("button", { name: /^Explain what a harbour pilot does/ }).click();
  expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toMatch(/^Explain/);
  await shoot(page, "playground");
  expect(await axeFindings(page)).toEqual([]);
});

test("an answer streams in, with what it took and what it was charged (C-357, C-358)", async () => {
  await page.getByRole("slider", { name: "Temperature" }).fill("0.3");
  await page.getByLabel("System prompt").fill("Be brief.");
  await page.getByLabel("Max tokens").fill("64");
  await say("Ahoy");
  const log = page.getByRole("log");
  await log.getByText(NORMAL_TEXT).waitFor();
  await log.getByText("20 in · 10 out").waitFor();
  await log.getByTitle("Charged").waitFor();
  expect(upstream.requests.at(-1)?.json).toMatchObject({
    model: "gpt-4o-mini",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Ahoy" },
    ],
    temperature: 0.3,
    max_tokens: 64,
    stream: true,
  });
  expect(upstream.requests.at(-1)?.json).not.toHaveProperty("top_p");
  await shoot(page, "playground-answer");
  expect(await axeFindings(page)).toEqual([]);
});

test("the request can be taken along as code", async () => {
  await page.getByRole("button", { name: "Code" }).click();
  const dialog = page.getByRole("dialog", { name: "This request as code" });
  await dialog.getByText('"content": "Ahoy"').waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByRole("tab", { name: "Answer" }).click();
  await dialog.getByText('"prompt_tokens": 20').waitFor();
  await shoot(page, "playground-code");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});

test("a question can be edited and sent again, and the history goes with it", async () => {
  await say("And then?");
  await expect.poll(() => page.getByRole("log").getByText(NORMAL_TEXT).count(), { timeout: 15_000 }).toBe(2);
  await page.getByRole("button", { name: "Edit and send again" }).last().click();
  expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("And then?");
  await say("And now?");
  await expect.poll(() => page.getByRole("log").getByText(NORMAL_TEXT).count(), { timeout: 15_000 }).toBe(2);
  expect(upstream.requests.at(-1)?.json).toMatchObject({
    messages: [{ role: "system" }, { content: "Ahoy" }, { role: "assistant" }, { content: "And now?" }],
  });
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await page
    .getByRole("alertdialog", { name: "Clear the conversation?" })
    .getByRole("button", { name: "Clear" })
    .click();
  await page.getByRole("heading", { name: "Try a model" }).waitFor();
});

test("separates thoughts from the answer", async () => {
  await open("reasoning");
  await say("Think");
  await page.getByRole("log").getByText("Thoughts").waitFor();
  await page.getByRole("log").getByText(NORMAL_TEXT).waitFor();
});

test("stopping keeps what came, as incomplete", async () => {
  await open("slow-120+long-400");
  await say("Tell me everything");
  await page.getByRole("log").getByText(/\w{3}/).nth(1).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("log").getByText("Incomplete").waitFor();
  await page.getByRole("button", { name: "Ask again" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
});

test("shows failures in the gateway's words and offers a retry", async () => {
  await open("status-400");
  await say("Fail");
  const alert = page.getByRole("log").getByRole("alert");
  await alert.getByText("The request failed").waitFor();
  await alert.getByText(/^Status 400/).waitFor();
  await alert.getByRole("button", { name: "Copy the request ID" }).waitFor();
  await shoot(page, "playground-failure");
  expect(await axeFindings(page)).toEqual([]);
  const before = upstream.requests.length;
  await alert.getByRole("button", { name: "Ask again" }).click();
  await expect.poll(() => upstream.requests.length, { timeout: 15_000 }).toBe(before + 1);
});

test("answers that break off keep their text and say so", async () => {
  for (const model of ["error-after-3", "cut-after-3"]) {
    await open(model);
    await say("Break");
    await page
      .getByRole("log")
      .getByText("The request failed")
      .or(page.getByRole("log").getByText("Incomplete"))
      .waitFor();
  }
});

test("a call that hears nothing more is given up with one message, and can be asked again", async () => {
  const alert = page.getByRole("log").getByRole("alert");
  const message = page.getByRole("textbox", { name: "Message" });
  for (const [model, minutes] of [
    ["hang", 5],
    ["hang-after-3", 3],
  ] as const) {
    await page.clock.install();
    await open(model);
    const before = upstream.requests.length;
    await say("Are you there?");
    await expect.poll(() => upstream.requests.length).toBe(before + 1);
    if (model === "hang-after-3") await page.getByRole("log").getByText(/\w{3}/).nth(1).waitFor();
    await message.fill("Half a thought");
    await page.clock.fastForward(minutes * 60_000 - 5_000);
    expect(await alert.count()).toBe(0);
    await page.clock.fastForward(10_000);
    await alert.getByText(`Nothing has come for ${minutes} minutes.`, { exact: false }).waitFor();
    expect(await alert.count()).toBe(1);
    expect(await message.inputValue()).toBe("Half a thought");
    expect(await axeFindings(page)).toEqual([]);
    await alert.getByRole("button", { name: "Ask again" }).click();
    await expect.poll(() => upstream.requests.length).toBe(before + 2);
    expect(await message.inputValue()).toBe("Half a thought");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("log").getByText("Incomplete").waitFor();
    await message.fill("");
    await page.clock.resume();
  }
});

test("several models answer the same question side by side, with what each took", async () => {
  await page.goto("/playground?model=gpt-4o-mini");
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("combobox", { name: "Model 2" }).selectOption("reasoning");
  await page.getByRole("button", { name: "Stop comparing reasoning" }).waitFor();
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("combobox", { name: "Model 3" }).selectOption("status-400");
  // The address changes before the page does, and a question goes to the models that the page shows.
  await page.getByRole("button", { name: "Stop comparing status-400" }).waitFor();
  expect(new URL(page.url()).searchParams.get("with")).toBe("reasoning,status-400");
  await say("Who is faster?");
  const log = page.getByRole("log");
  const first = log.getByRole("group", { name: "Answer of gpt-4o-mini" });
  const second = log.getByRole("group", { name: "Answer of reasoning" });
  for (const one of [first, second]) {
    await one.getByText(NORMAL_TEXT).waitFor();
    await one.getByText(/to the first token/).waitFor();
    await one.getByText(/in all/).waitFor();
    await one.getByText(/\d+ in · \d+ out/).waitFor();
    await one.getByTitle("Charged").waitFor();
  }
  await log.getByRole("group", { name: "Answer of status-400" }).getByText("The request failed").waitFor();
  expect(await log.getByRole("group", { name: "you" }).count()).toBe(1);
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "playground-compare");

  await page.getByRole("button", { name: "Stop comparing status-400" }).click();
  await page.getByRole("combobox", { name: "Model 3" }).waitFor({ state: "detached" });
  await say("And now?");
  await expect.poll(() => log.getByText(NORMAL_TEXT).count(), { timeout: 15_000 }).toBe(4);
  const sent = upstream.requests.slice(-2).map(({ json }) => json as { model: string; messages: object[] });
  expect(sent.map(({ model }) => model).toSorted()).toEqual(["gpt-4o-mini", "reasoning"]);
  for (const { messages } of sent) expect(messages).toHaveLength(3);

  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "playground-compare-phone");
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("the conversation survives a visit to another page, and Back keeps the models", async () => {
  await page.getByRole("textbox", { name: "Message" }).fill("Half a thought");
  await page.getByRole("link", { name: "Model price" }).click();
  await heading("Model prices").waitFor();
  await page.goBack();
  await page.getByRole("combobox", { name: "Model 2" }).waitFor();
  await expect.poll(() => page.getByRole("log").getByText(NORMAL_TEXT).count()).toBe(4);
  expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("Half a thought");
});

test("it is whole in the dark and on a phone", async () => {
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto("/playground");
    await page.evaluate(() => localStorage.setItem("theme-mode", "dark"));
    await page.reload();
    await page.getByRole("heading", { name: "Try a model" }).waitFor();
    await say("Ahoy");
    await page.getByRole("log").getByText(NORMAL_TEXT).waitFor();
    expect(await axeFindings(page), `at ${width}`).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await shoot(page, `playground-dark-${width}`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.evaluate(() => localStorage.removeItem("theme-mode"));
});

test("a lost session leads to the login page (C-359)", async () => {
  await page.goto("/playground");
  await page.getByRole("heading", { name: "Try a model" }).waitFor();
  await page.context().clearCookies();
  await say("Who am I?");
  await page.waitForURL(/\/login\?expired=true/);
  // Browsers report refused calls themselves, here the failures above.
  expect(faults.filter((fault) => !/status of (400|401|5\d\d)|ERR_INCOMPLETE_CHUNKED_ENCODING/.test(fault))).toEqual(
    [],
  );
});
