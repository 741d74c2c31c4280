// What screens show in the end: at any size nothing of an earlier one, always the title, and what keys do.
import { channelCreate } from "@fairway/wire";
import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startRig, type Rig } from "./rig.ts";
import { createScreenBuffer } from "./screen-buffer.ts";
import { openTerminal } from "./terminal.ts";

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

interface Screen {
  lines(): string[];
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  leave(): Promise<void>;
}

function open(words: readonly string[], columns: number, name: string): Screen {
  const pidFile = join(rig.home, `${name}.pid`);
  const terminal = openTerminal(words, rig.env, columns, pidFile);
  const buffer = createScreenBuffer(columns, 24);
  let seen = 0;
  const read = () => {
    buffer.write(terminal.raw.slice(seen));
    seen = terminal.raw.length;
  };
  return {
    lines() {
      read();
      return buffer.lines();
    },
    resize(width, height) {
      read();
      const tty = readlinkSync(`/proc/${readFileSync(pidFile, "utf8").trim()}/fd/0`);
      buffer.resize(width, height);
      execFileSync("stty", ["-F", tty, "cols", String(width), "rows", String(height)]);
    },
    type: terminal.type,
    async leave() {
      terminal.type("q");
      await terminal.exited;
    },
  };
}

test.each([
  [["ui"], "fairway  channels"],
  [["top"], "fairway top"],
] as const)("%j leaves nothing behind at any size", async (words, title) => {
  const screen = open(words, 100, `${words[0]}-resized`);
  await expect.poll(() => screen.lines().join("\n"), { timeout: 30_000 }).toContain("harbour-");
  for (const [columns, rows] of SIZES) {
    screen.resize(columns, rows);
    const fresh = open(words, columns, `${words[0]}-${columns}`);
    await expect.poll(() => fresh.lines().join("\n"), { timeout: 30_000 }).toContain("harbour-");
    fresh.resize(columns, rows);
    const bodyOf = (lines: readonly string[]) =>
      lines.map((line) => line.replaceAll(/\d\d:\d\d:\d\d| · [▁▂▃▄▅▆▇█…]+/g, "").trimEnd());
    const differences = () => {
      const wanted = bodyOf(fresh.lines());
      return bodyOf(screen.lines()).filter((line, at) => line !== wanted[at]);
    };
    await expect.poll(differences, { timeout: 30_000, message: `${columns} x ${rows}` }).toEqual([]);
    // A read may come in the middle of a frame.
    const whole = { timeout: 30_000, message: `${columns} x ${rows}` };
    await expect.poll(() => screen.lines()[0], whole).toContain(title);
    await expect.poll(() => screen.lines().filter((line) => line.includes(title)), whole).toHaveLength(1);
    await expect.poll(() => screen.lines().join("\n"), whole).toContain("quit");
    await fresh.leave();
  }
  await screen.leave();
});

test("top reads more and less often, once a second at most", async () => {
  const screen = open(["top", "--interval", "3"], 100, "top-interval");
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
  const screen = open(["top", "--interval", "1"], 100, "top-keys");
  const shows = (text: string | RegExp) =>
    expect.poll(() => screen.lines().join("\n"), { timeout: 30_000 }).toMatch(text);
  await shows(/CHANNELS \(30\)/);
  screen.type("s");
  await shows("by calls");
  screen.type("3");
  await shows("over 24 h");
  screen.type("/name-2");
  await shows(/CHANNELS \(11 of 30\).* · \/name-2 · by calls/);
  screen.type("9\r");
  await shows(/CHANNELS \(1 of 30\) · \/name-29/);
  screen.type("\r");
  await shows(/CHANNEL \d+ harbour-with-a-long-name-29/);
  await shows(/calls, 24 h +none/);
  screen.type("q");
  await shows(/CHANNELS \(1 of 30\)/);
  screen.type("/");
  screen.type("\u001B");
  await shows(/CHANNELS \(30\)/);
  await screen.leave();
});
