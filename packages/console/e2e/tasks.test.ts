import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage, shoot } from "./browser.ts";
import { insertRows } from "./rows.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser, setOption, signIn } from "./session.ts";

// Long-running tasks, as their operator and as their owner see them.

const PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="480"><rect width="640" height="480" fill="#008490"/><circle cx="320" cy="240" r="140" fill="#f98b3f"/></svg>`;
const PROMPT = "A lighthouse over a calm bay at dawn, long exposure, muted colours, a small red buoy in the lane";

let opened: OpenConsole;
let gateway: OpenConsole["gateway"];
let browser: OpenConsole["browser"];
let page: Page;
let faults: readonly string[];
let file: string;

const heading = (name: string) => page.getByRole("heading", { level: 1, name });
const now = () => Math.floor(Date.now() / 1000);

beforeAll(async () => {
  opened = await openConsole();
  ({ gateway, browser, page, faults, file } = opened);
  await page.route("**/mj/image/**", (route) => route.fulfill({ contentType: "image/svg+xml", body: PICTURE }));
  // Channels that never answer, so that the rows do not change during the test.
  for (const [name, type] of [
    ["Easel", 2],
    ["Organ", 36],
    ["Kino", 50],
  ] as const) {
    const channel = { name, type, key: "k|k", base_url: "http://127.0.0.1:9", models: "m", group: "default" };
    expect(await asUser(page, "POST", "/api/channel/", channel)).toMatchObject({ success: true });
  }
  await asUser(page, "POST", "/api/user/", { username: "grace", password: "hopper-1906", display_name: "Grace" });
});

afterAll(() => opened?.close());

function drawing(id: string, more: Readonly<Record<string, string | number>>): Record<string, string | number> {
  const at = (now() - 600) * 1_000;
  return {
    code: 1,
    user_id: 1,
    action: "IMAGINE",
    mj_id: id,
    prompt: PROMPT,
    prompt_en: "",
    description: "",
    state: "",
    submit_time: at,
    start_time: at + 2_000,
    finish_time: at + 47_000,
    image_url: `https://cdn.example.test/${id}.png`,
    status: "SUCCESS",
    progress: "100%",
    fail_reason: "",
    channel_id: 1,
    quota: 50_000,
    buttons: "",
    properties: "",
    created_at: at / 1_000,
    request_id: id,
    ...more,
  };
}

function task(id: string, more: Readonly<Record<string, string | number>>): Record<string, string | number> {
  return {
    created_at: now() - 300,
    updated_at: now() - 100,
    task_id: id,
    platform: "suno",
    user_id: 1,
    channel_id: 2,
    quota: 100_000,
    action: "MUSIC",
    status: "SUCCESS",
    fail_reason: "",
    submit_time: now() - 300,
    start_time: now() - 290,
    finish_time: now() - 175,
    progress: "100%",
    properties: '{"input":"a sea shanty"}',
    data: '[{"audio_url":"https://cdn.example.test/song.mp3","title":"Fairway"}]',
    request_id: id,
    ...more,
  };
}

test("without drawings the page says what belongs there, and that callbacks are off (C-331)", async () => {
  await heading("Token").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await heading("Drawing").waitFor();
  await page.getByRole("heading", { name: "No drawings in the last 30 days" }).waitFor();
  await page.getByText(/The drawing callback is switched off/).waitFor();
  expect(await axeFindings(page)).toEqual([]);
});

test("drawings show how far they are, and their images (C-332, C-335)", async () => {
  insertRows(file, "midjourneys", [
    drawing("1731000000000001", {}),
    drawing("1731000000000002", { action: "UPSCALE", finish_time: now() * 1_000 - 400_000 }),
    drawing("1731000000000003", { status: "IN_PROGRESS", progress: "45%", image_url: "", finish_time: 0 }),
    drawing("1731000000000004", {
      action: "SWAP_FACE",
      status: "FAILURE",
      progress: "30%",
      image_url: "",
      fail_reason: "The prompt was refused by the moderation of the upstream.",
    }),
    drawing("1731000000000005", { action: "MODAL", status: "MODAL", code: 21, progress: "", image_url: "" }),
    drawing("1731000000000006", { user_id: 2, action: "BLEND", status: "SUBMITTED", code: 22, progress: "0%" }),
  ]);
  await page.getByRole("button", { name: "Refresh" }).click();
  const row = (text: string) => page.getByRole("row").filter({ hasText: text });
  await row("Swap face").getByText("Failed").waitFor();
  await row("1731000000000001").getByText("47 s").waitFor();
  await row("1731000000000003")
    .getByText(/10 min \d\d s/)
    .waitFor();
  expect(await row("1731000000000003").getByRole("progressbar").getAttribute("aria-valuenow")).toBe("45");
  await row("Window").getByText("Awaiting window").waitFor();
  await row("Blend").getByText("Repeat submit").waitFor();
  await shoot(page, "drawing");
  expect(await axeFindings(page)).toEqual([]);

  await page.getByRole("button", { name: "Show the image of 1731000000000001" }).click();
  const large = page.getByRole("dialog", { name: "Image of 1731000000000001" });
  await large.getByRole("img", { name: PROMPT }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "drawing-large");
  await page.keyboard.press("Escape");
  await large.waitFor({ state: "detached" });
  await row("Swap face").getByRole("button", { name: "Show details" }).click();
  await page.locator(".facts").getByText("The prompt was refused by the moderation of the upstream.").waitFor();
});

test("drawings are narrowed by task, channel and time (C-330)", async () => {
  await page.getByRole("searchbox", { name: "Task ID" }).fill("1731000000000002");
  await page.getByText("1–1 of 1").waitFor();
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByRole("combobox", { name: "Channel", exact: true }).fill("8");
  await page.getByRole("heading", { name: "Nothing matches these filters" }).waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByText("1–6 of 6").waitFor();
  await page.getByRole("combobox", { name: "Time range" }).selectOption("24h");
  await page.waitForURL(/[?&]range=24h/);
  await page.getByText("1–6 of 6").waitFor();
});

test("tasks show their state, and their record at a click (C-336, C-337, C-338)", async () => {
  await page.goto("/task");
  await heading("Asynchronous task").waitFor();
  await page.getByRole("heading", { name: "No tasks yet today" }).waitFor();
  insertRows(file, "tasks", [
    task("song-1", {}),
    task("song-2", { action: "LYRICS", status: "QUEUED", progress: "10%", finish_time: 0 }),
    task("clip-1", {
      platform: "kling",
      channel_id: 3,
      action: "text2video",
      status: "FAILURE",
      fail_reason: "No credit left.",
      data: "",
    }),
    task("clip-2", {
      platform: "kling",
      channel_id: 3,
      action: "text2video",
      status: "",
      progress: "",
      finish_time: 0,
      user_id: 2,
    }),
  ]);
  await page.getByRole("button", { name: "Refresh" }).click();
  const row = (text: string) => page.getByRole("row").filter({ hasText: text });
  await row("song-1").getByText("2 min 05 s").waitFor();
  await row("song-2").getByText("Queued").waitFor();
  await row("clip-1").getByText("No credit left.").waitFor();
  await row("clip-2").getByText("Submitting").waitFor();
  await row("song-1").getByRole("button", { name: "song-1" }).click();
  await page.getByRole("link", { name: "https://cdn.example.test/song.mp3" }).waitFor();
  await page.getByText('"input": "a sea shanty"').waitFor();
  await shoot(page, "tasks");
  expect(await axeFindings(page)).toEqual([]);
  for (const name of ["Submitted", "Task ID", "Status", "Progress"])
    await page.getByRole("columnheader", { name, exact: true }).waitFor();
  await page.getByRole("combobox", { name: "Status" }).selectOption("FAILURE");
  await page.getByText("1–1 of 1").waitFor();
  const asking = page.waitForRequest((request) => request.url().includes("task_id=clip-1"));
  await page.getByRole("searchbox", { name: "Task ID" }).fill("clip-1");
  const asked = new URL((await asking).url());
  expect(asked.pathname).toBe("/api/task/");
  const midnight = Math.floor(new Date().setHours(0, 0, 0, 0) / 1_000);
  expect(Number(asked.searchParams.get("start_timestamp"))).toBe(midnight);
});

test("drawings and tasks have the fields of compatible gateways (C-339)", async () => {
  const members = async (path: string) => {
    const { data } = (await asUser(page, "GET", path)) as { data: object[] | { items: object[] } };
    return Object.keys(("items" in data ? data.items[0] : data[0]) ?? {});
  };
  const both = [
    "id",
    "created_at",
    "submit_time",
    "finish_time",
    "channel_id",
    "action",
    "status",
    "progress",
    "fail_reason",
  ];
  const drawn = ["mj_id", "code", "image_url", "prompt", "prompt_en"];
  expect(await members("/api/mj/?p=0&page_size=10")).toEqual(expect.arrayContaining([...both, ...drawn]));
  expect(await members("/api/task/?p=0&page_size=10")).toEqual(
    expect.arrayContaining([...both, "platform", "task_id"]),
  );
});

test("owners see their own rows, without channels", async () => {
  const { page: owner, faults: own } = await openPage(browser, gateway.url);
  await owner.route("**/mj/image/**", (route) => route.fulfill({ contentType: "image/svg+xml", body: PICTURE }));
  await signIn(owner, "grace", "hopper-1906");
  await owner.goto("/midjourney");
  await owner.getByText("1–1 of 1").waitFor();
  expect(await owner.getByRole("columnheader", { name: "Channel" }).count()).toBe(0);
  expect(await owner.getByText(/The drawing callback is switched off/).count()).toBe(0);
  await owner.goto("/task");
  await owner.getByText("1–1 of 1").waitFor();
  expect(await owner.getByRole("combobox", { name: "Channel", exact: true }).count()).toBe(0);
  expect(own).toEqual([]);
  await owner.context().close();
});

test("both are whole in the dark and on a phone", async () => {
  for (const path of ["/midjourney", "/task"]) {
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(path);
      await page.evaluate(() => localStorage.setItem("theme-mode", "dark"));
      await page.reload();
      await page.locator('[aria-busy="false"]').waitFor();
      expect(await axeFindings(page), `${path} at ${width}`).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      await shoot(page, `${path.slice(1)}-dark-${width}`);
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.evaluate(() => localStorage.removeItem("theme-mode"));
});

test("switched off they leave the sidebar and say who can switch them on", async () => {
  await setOption(page, "DrawingEnabled", "false");
  await page.goto("/midjourney");
  await page.getByRole("heading", { name: "Drawing is switched off" }).waitFor();
  expect(await page.getByRole("navigation").getByRole("link", { name: "Drawing" }).count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);
  expect(faults).toEqual([]);
});
