// A screen that stays open for a day: it refreshes, goes back, lets the shell in between, and works without a cursor.
import { channelCreate, LOG_TYPE, logList, tokenCreate } from "@fairway/wire";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { startRig, type Rig } from "./rig.ts";
import { openScreen } from "./screen.ts";
import { environment, openTerminal, PROGRAM } from "./terminal.ts";

let rig: Rig;
const channel = { type: 1, key: "sk-1", models: "gpt-4o", group: "default", base_url: "http://127.0.0.1:9" };

beforeAll(async () => {
  rig = await startRig();
  await rig.client.call(channelCreate, { body: { ...channel, name: "harbour" } });
  const { data } = await rig.client.call(tokenCreate, { body: { name: "ci", unlimited_quota: true } });
  const failed = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer sk-${data.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "hi" }] }),
  });
  expect(failed.status).toBe(502);
  const recorded = async () => {
    const { data: page } = await rig.client.call(logList, { query: { type: LOG_TYPE.error } });
    expect(page.items).toHaveLength(1);
  };
  await vi.waitFor(recorded, { timeout: 20_000, interval: 200 });
});
afterAll(() => rig?.stop());

test("a list shows within seconds what changed elsewhere", async () => {
  const screen = openScreen(["ui"], rig.env, 100);
  await screen.shows(/channels 1 [^]*> +\d+ +harbour/);
  await rig.client.call(channelCreate, { body: { ...channel, name: "jetty" } });
  await screen.shows(/channels 2 [^]*jetty/);
  expect(screen.lines().join("\n")).toMatch(/> +\d+ +harbour/);
  await rig.client.call(channelCreate, { body: { ...channel, name: "pier" } });
  await screen.shows(/channels 3 /);
  expect(await screen.leave()).toBe(0);
});

test("failing calls show their status, reason and cost at 80 columns, and esc goes back to the channel", async () => {
  const screen = openScreen(["ui"], rig.env, 80);
  await screen.shows(/harbour/);
  screen.type("/harbour\rl");
  await screen.shows(/failing calls of channel/);
  await screen.shows(/TIME +STATUS +REASON +COST +MODEL/);
  await screen.shows(/ 502 +upstream_connect_failed +\$0\.000000 +gpt-4o/);
  screen.type("\u001B");
  await screen.shows(/> +\d+ +harbour/);
  await screen.shows("/harbour");
  screen.type(":to\t");
  await screen.shows(":tokens");
  screen.type("\r");
  await screen.shows(/tokens 1 /);
  screen.type("\u001B");
  await screen.shows(/> +\d+ +harbour/);
  expect(await screen.leave()).toBe(0);
});

test("ctrl-z gives the terminal to the shell, and fg brings the screen back", async () => {
  const shell = spawn("script", ["-q", "-f", "-e", "-c", "bash --norc --noprofile -i", "/dev/null"], {
    env: { ...environment(rig.env), PS1: "shell> " },
  });
  onTestFinished(async () => {
    const ended = once(shell, "close");
    shell.kill("SIGKILL");
    await ended;
  });
  let shown = "";
  shell.stdout.on("data", (part: Buffer) => (shown += stripVTControlCharacters(part.toString())));
  const sees = async (text: RegExp) => {
    await expect.poll(() => shown, { timeout: 30_000, message: String(text) }).toMatch(text);
    shown = "";
  };
  await sees(/shell> /);
  shell.stdin.write(`stty cols 100 rows 24; '${process.execPath}' '${PROGRAM}' ui tokens\n`);
  await sees(/q quit[^]*ci  /);
  shell.stdin.write("\u001A");
  await sees(/Stopped[^]*shell> /);
  shell.stdin.write("echo $((40 + 2))\n");
  await sees(/42[^]*shell> /);
  shell.stdin.write("fg\n");
  await sees(/tokens 1 [^]*ci  /);
  shell.stdin.write("q");
  await sees(/shell> /);
});

test("a terminal that cannot move its cursor gets plain lines", async () => {
  const env = { ...rig.env, TERM: "dumb" };
  const terminal = openTerminal(["ui", "tokens"], env, 80);
  await terminal.sees(/tokens 1 [^]*ci/);
  terminal.type(":channels\n");
  await terminal.sees("harbour");
  terminal.type("q\n");
  expect(await terminal.exited).toBe(0);
  expect(terminal.raw).not.toContain("\u001B[");
  const top = openTerminal(["top"], env, 80);
  expect(await top.exited).toBe(0);
  expect(top.shown).toContain("CHANNELS");
  expect(top.raw).not.toContain("\u001B[");
});

test("top has what is in trouble first", async () => {
  await rig.client.call(channelCreate, { body: { ...channel, name: "zebra", priority: 99 } });
  const { out } = await rig.fairway("top --once");
  expect(out.indexOf("harbour")).toBeLessThan(out.indexOf("zebra"));
  expect(out.indexOf("zebra")).toBeGreaterThan(0);
});
