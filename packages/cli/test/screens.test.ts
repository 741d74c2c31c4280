// What screens finally show: no remains of an earlier frame at any size, always the title, and the effects of keys.
import { channelCreate } from "@fairway/wire";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startRig, type Rig } from "./rig.ts";
import { openScreen } from "./screen.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  for (let at = 1; at <= 30; at++) {
    const body = {
      type: 1,
      key: "sk-1",
      models: "gpt-4o,gpt-4o-mini,o3",
      group: "default",
      base_url: "http://127.0.0.1:9",
    };
    await rig.client.call(channelCreate, { body: { ...body, name: `harbour-with-a-long-name-${at}` } });
  }
});
afterAll(() => rig?.stop());

const SIZES = [
  [60, 20],
  [200, 50],
  [80, 24],
  [61, 15],
  [120, 30],
] as const;

test.each([
  [["ui"], "fairway  channels"],
  [["top"], "fairway top"],
] as const)("%j leaves nothing behind at any size", async (words, title) => {
  const screen = openScreen(words, rig.env, 100);
  await expect.poll(() => screen.lines().join("\n"), { timeout: 30_000 }).toContain("harbour-");
  for (const [columns, rows] of SIZES) {
    screen.resize(columns, rows);
    const fresh = openScreen(words, rig.env, columns);
    await expect.poll(() => fresh.lines().join("\n"), { timeout: 30_000 }).toContain("harbour-");
    fresh.resize(columns, rows);
    const normalizeBody = (lines: readonly string[]) =>
      lines.map((line) => line.replaceAll(/\d\d:\d\d:\d\d| · (?:calls|tokens) ?[▁▂▃▄▅▆▇█…]*| · …$/g, "").trimEnd());
    const differences = () => {
      const wanted = normalizeBody(fresh.lines());
      return normalizeBody(screen.lines()).filter((line, at) => line !== wanted[at]);
    };
    await expect.poll(differences, { timeout: 30_000, message: `${columns} x ${rows}` }).toEqual([]);
    // A read may happen in the middle of a frame.
    const whole = { timeout: 30_000, message: `${columns} x ${rows}` };
    await expect.poll(() => screen.lines()[0], whole).toContain(title);
    await expect.poll(() => screen.lines().filter((line) => line.includes(title)), whole).toHaveLength(1);
    await expect.poll(() => screen.lines().join("\n"), whole).toContain("quit");
    await fresh.leave();
  }
  await screen.leave();
});

test("top reads more and less often, once a second at most", async () => {
  const screen = openScreen(["top", "--interval", "3"], rig.env, 100);
  const last = () => screen.lines().findLast((line) => line !== "");
  const shows = (text: RegExp) => expect.poll(last, { timeout: 30_000 }).toMatch(text);
  await shows(/every 3 s/);
  screen.type("+");
  await shows(/every 4 s/);
  screen.type("-----");
  await shows(/every 1 s/);
  await screen.leave();
});

test("top filters, sorts, sums over another span and opens a channel", async () => {
  const screen = openScreen(["top", "--interval", "1"], rig.env, 100);
  const { shows } = screen;
  await shows(/CHANNELS \(30\)/);
  screen.type("s");
  await shows("by calls");
  screen.type("4");
  await shows("over 24 h");
  screen.type("/name-2");
  await shows(/CHANNELS \(11 of 30\).* · \/name-2 · by calls/);
  screen.type("9\r");
  await shows(/CHANNELS \(1 of 30\) · \/name-29/);
  screen.type("\r");
  await shows(/CHANNEL \d+ harbour-with-a-long-name-29/);
  await shows(/attempts, 24 h +none/);
  screen.type("q");
  await shows(/CHANNELS \(1 of 30\)/);
  screen.type("/");
  screen.type("\u001B");
  await shows(/CHANNELS \(30\)/);
  await screen.leave();
});

test.each([60, 80])(
  "forms, questions and details of ui leave nothing behind at %d columns, without colours",
  async (columns) => {
    const config = join(rig.home, `config-${columns}`);
    const screen = openScreen(["ui"], { ...rig.env, NO_COLOR: "1", XDG_CONFIG_HOME: config }, columns);
    await screen.shows(/harbour-/);
    await screen.shows("quit");
    for (const [keys, shown, back] of [
      ["c", "Create a channel", "\u001B"],
      ["v", "Columns of channels", "\r"],
      ["P", /priority of channel \d+/, "\u001B"],
      ["x", /delete channel \d+/, "n"],
      ["?", "choose a row", "x"],
      ["\r", "LAST 24 HOURS", "q"],
      ["/no such channel", "No channels match", "\u001B"],
    ] as const) {
      screen.type(keys);
      await screen.shows(shown);
      expect(screen.lines().filter((line) => line.length > columns)).toEqual([]);
      screen.type(back);
      await screen.shows(/\? help/);
      // The next answer removes the last notice.
      screen.type("r");
      const fresh = openScreen(["ui"], { ...rig.env, NO_COLOR: "1", XDG_CONFIG_HOME: config }, columns);
      await fresh.shows(/harbour-/);
      await expect.poll(() => screen.lines(), { timeout: 30_000, message: keys }).toEqual(fresh.lines());
      expect(await fresh.leave()).toBe(0);
    }
    expect(await screen.leave()).toBe(0);
    const colours = screen
      .raw()
      .split("\u001B[")
      .filter((part) => /^[\d;]*m/.test(part));
    expect(colours).toEqual([]);
  },
);

test.each([["ui"], ["top"]])("%s says what size it needs, and comes back when the terminal has it", async (word) => {
  const screen = openScreen([word], rig.env);
  const { shows } = screen;
  await shows("harbour-");
  screen.resize(59, 24);
  await shows("Needs 60x15, has 59x24.");
  await expect.poll(() => screen.lines().filter((line) => line !== "")).toEqual(["Needs 60x15, has 59x24."]);
  // Keys have no effect on what is not visible.
  screen.type("?");
  screen.resize(40, 10);
  await shows("Needs 60x15, has 40x10.");
  screen.resize(80, 24);
  await shows("harbour-");
  await expect.poll(() => screen.lines().join("\n")).not.toContain("Needs");
  await screen.leave();
});

test("top lists its keys, moves by pages, and opens the log of the chosen channel and comes back", async () => {
  const screen = openScreen(["top", "--interval", "1"], rig.env, 120);
  const { shows } = screen;
  await shows(/CHANNELS \(30\)/);
  screen.type("?");
  await shows(/l +the log; of the chosen channel/);
  screen.type("x");
  await shows(/CHANNELS \(30\)/);
  screen.type("s/name-2\r");
  await shows(/CHANNELS \(11 of 30\)/);
  screen.type("jjj");
  await shows(/> +26 +harbour-with/);
  const name = "harbour-with-a-long-name-26";
  screen.type("l");
  await shows(new RegExp(`fairway  logs .*calls of channel \\d+ \\(${name}`));
  screen.type("q");
  await shows(/CHANNELS \(11 of 30\).* · \/name-2 · by calls/);
  await shows(/> +26 +harbour-with/);
  screen.type("G");
  await shows(/> +2 +harbour-with/);
  screen.type("y");
  await shows(/Copied \d+\./);
  await screen.leave();
});
