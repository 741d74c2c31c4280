import { createChannel, ROOT_PASSWORD, signIn as apiSignIn } from "@fairway/testkit";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser, setOption } from "./session.ts";

// Lists of fallback models: put in order by dragging and by keys, followed for one call, and refused where they are wrong.

let opened: OpenConsole;
let page: Page;

beforeAll(async () => {
  opened = await openConsole();
  ({ page } = opened);
  const root = await apiSignIn(opened.gateway.url, "root", ROOT_PASSWORD);
  await createChannel(root, { name: "one", base_url: opened.upstream.url, models: "gpt-4o,gpt-4o-mini,gpt-4.1" });
});

afterAll(() => opened?.close());

async function stored(): Promise<unknown> {
  const { data } = (await asUser(page, "GET", "/api/option/")) as { data: { key: string; value: string }[] };
  return JSON.parse(data.find(({ key }) => key === "ModelFallbacks")?.value ?? "");
}

async function openEditor(): Promise<Locator> {
  await page.goto("/setting?tab=operation&q=ModelFallbacks");
  const editor = page.getByRole("group", { name: "Fallback models", exact: true });
  await editor.waitFor();
  return editor;
}

const save = async () => {
  await page.getByRole("main").getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved.").first().waitFor();
};

async function addTo(editor: Locator, list: string, model: string): Promise<void> {
  await editor.getByRole("combobox", { name: `Next model of ${list}`, exact: true }).fill(model);
  await page.keyboard.press("Enter");
}

const order = (editor: Locator, list: string) =>
  editor
    .getByRole("region", { name: `Fallback models of ${list}`, exact: true })
    .locator("li .fallback-name bdi")
    .allInnerTexts();

test("a list is written, its models move by keys, and it is stored in that order", async () => {
  const editor = await openEditor();
  await editor.getByRole("combobox", { name: "Model, prefix with * at its end, or *" }).fill("gpt-4o");
  await page.keyboard.press("Enter");
  await addTo(editor, "gpt-4o", "gpt-4o-mini");
  await addTo(editor, "gpt-4o", "gpt-4.1");
  await addTo(editor, "gpt-4o", "unheard-of");
  await editor.getByText("no enabled channel serves it").first().waitFor();
  await editor
    .getByRole("group", { name: "When gpt-4.1 is asked" })
    .getByRole("button", { name: "prompt too long" })
    .click();
  await editor.getByRole("button", { name: /^Move gpt-4.1:/ }).focus();
  await page.keyboard.press("ArrowUp");
  await expect.poll(() => order(editor, "gpt-4o")).toEqual(["gpt-4.1", "gpt-4o-mini", "unheard-of"]);
  await editor.getByText("gpt-4.1 is now number 1 of 3.").waitFor({ state: "attached" });
  // The handle stays under the keys, and the end of the list is the end.
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute("data-handle"))).toBe("gpt-4.1");
  await page.keyboard.press("ArrowUp");
  expect(await order(editor, "gpt-4o")).toEqual(["gpt-4.1", "gpt-4o-mini", "unheard-of"]);
  await shoot(page, "settings-fallbacks");
  expect(await axeFindings(page)).toEqual([]);
  await save();
  expect(await stored()).toEqual({
    "gpt-4o": [{ model: "gpt-4.1", on: ["error", "context"] }, "gpt-4o-mini", "unheard-of"],
  });
});

test("a conversation stays with a model for a chosen time, and a time of the API is offered too", async () => {
  await setOption(page, "ModelFallbacks", '{"gpt-4o":["gpt-4.1",{"model":"gpt-4o-mini","sticky_seconds":90}]}');
  const editor = await openEditor();
  const stay = (model: string) => editor.getByRole("combobox", { name: `How long a conversation stays with ${model}` });
  expect(await stay("gpt-4o-mini").inputValue()).toBe("90");
  expect(await stay("gpt-4o-mini").locator("option:checked").innerText()).toBe("stays 90 seconds");
  await stay("gpt-4.1").selectOption("300");
  await shoot(page, "settings-fallbacks-stay");
  expect(await axeFindings(page)).toEqual([]);
  await save();
  expect(await stored()).toEqual({
    "gpt-4o": [
      { model: "gpt-4.1", on: ["error"], sticky_seconds: 300 },
      { model: "gpt-4o-mini", on: ["error"], sticky_seconds: 90 },
    ],
  });
  await stay("gpt-4.1").selectOption("0");
  await stay("gpt-4o-mini").selectOption("0");
  await save();
  expect(await stored()).toEqual({ "gpt-4o": ["gpt-4.1", "gpt-4o-mini"] });
});

test("a model is dragged to its place", async () => {
  await setOption(page, "ModelFallbacks", '{"gpt-4o":["gpt-4.1","gpt-4o-mini","unheard-of"]}');
  const editor = await openEditor();
  const handle = (model: string) => editor.getByRole("button", { name: `Move ${model}:` });
  const [from, to] = [await handle("unheard-of").boundingBox(), await handle("gpt-4.1").boundingBox()];
  if (!from || !to) throw new Error("the rows are not shown");
  await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 5 });
  await page.mouse.up();
  await expect.poll(() => order(editor, "gpt-4o")).toEqual(["unheard-of", "gpt-4.1", "gpt-4o-mini"]);
  await save();
  expect(await stored()).toEqual({ "gpt-4o": ["unheard-of", "gpt-4.1", "gpt-4o-mini"] });
});

test("a circle, a repeated model and a second list of one name are refused", async () => {
  await setOption(page, "ModelFallbacks", '{"gpt-4o":["gpt-4.1"]}');
  const editor = await openEditor();
  await addTo(editor, "gpt-4o", "gpt-4o");
  await editor.getByText("A model cannot stand for itself.").waitFor();
  await addTo(editor, "gpt-4o", "gpt-4.1");
  await editor.getByText("The model is in this list already.").waitFor();
  await editor.getByRole("combobox", { name: "Model, prefix with * at its end, or *" }).fill("gpt-4o");
  await page.keyboard.press("Enter");
  await editor.getByText("This name has a list already.").waitFor();
  expect(await page.getByRole("region", { name: "What changes" }).count()).toBe(0);
});

test("what a call would do is followed before anything is saved", async () => {
  await setOption(
    page,
    "ModelFallbacks",
    '{"gpt-4o":["gpt-4.1",{"model":"gpt-4o-mini","on":["context"]}],"gpt-*":["gone"]}',
  );
  const editor = await openEditor();
  const preview = editor.getByRole("region", { name: "What a call would do" });
  const steps = () => preview.getByRole("listitem").allInnerTexts();
  await expect
    .poll(steps)
    .toEqual([
      "gpt-4o asked first, at all its channels",
      "gpt-4.1 asked next, if the key, its limits and its money allow it",
      "gpt-4o-mini left out: it is not asked for this cause",
    ]);
  await preview.getByLabel("What happens").selectOption({ label: "the prompt does not fit" });
  await expect.poll(async () => (await steps())[2]).toMatch(/^gpt-4o-mini asked next/);
  await preview.getByLabel("A call of").fill("gpt-4.1");
  await preview.getByLabel("What happens").selectOption({ label: "all channels fail" });
  await expect.poll(async () => (await steps())[1]).toBe("gone left out: no enabled channel serves it");
  await preview.getByText("The list of gpt-* counts.").waitFor();
  await preview.getByLabel("A call of").fill("claude-opus-5");
  await preview.getByText("No list fits this model: the client gets the error.").waitFor();
  expect(opened.faults).toEqual([]);
});

test("lists of groups are edited the same way, on a phone and in Chinese", async () => {
  await setOption(page, "GroupModelFallbacks", '{"vip":{"gpt-4o":["gpt-4.1","gpt-4o-mini"]}}');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate(() => localStorage.setItem("fairway:language", "zh"));
  await page.goto("/setting?tab=operation&q=GroupModelFallbacks");
  const editor = page.getByRole("group", { name: "按分组的备用模型", exact: true });
  await editor.getByRole("button", { name: /^移动 gpt-4o-mini/ }).focus();
  await page.keyboard.press("ArrowUp");
  await expect
    .poll(() =>
      editor.getByRole("region", { name: "vip: gpt-4o 的备用模型" }).locator("li .fallback-name bdi").allInnerTexts(),
    )
    .toEqual(["gpt-4o-mini", "gpt-4.1"]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "settings-fallbacks-phone");
});
