// `fairway ui` in a pseudo-terminal against a real gateway.
import {
  budgetCreate,
  CHANNEL_STATUS,
  channelCreate,
  channelList,
  LOG_TYPE,
  logList,
  optionList,
  optionUpdate,
  tokenCreate,
  tokenKey,
  tokenList,
} from "@fairway/wire";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { parseRows, startRig, type Rig } from "./rig.ts";
import { openScreen } from "./screen.ts";
import { openTerminal, run } from "./terminal.ts";

let rig: Rig;
const MAIN_SCREEN = "\u001B[?1049l";

beforeAll(async () => {
  rig = await startRig();
  const channel = { type: 1, key: "sk-1", models: "gpt-4o", group: "default", base_url: "http://127.0.0.1:9" };
  await rig.client.call(channelCreate, { body: { ...channel, name: "harbour", priority: 50 } });
  await rig.client.call(tokenCreate, { body: { name: "ci", unlimited_quota: true } });
  const { data: tokens } = await rig.client.call(tokenList, { query: {} });
  const { data } = await rig.client.call(tokenKey, { params: { id: tokens[0]?.id ?? 0 } });
  const response = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${data.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "hi" }] }),
  });
  expect(response.status).toBe(502);
  const recorded = async () => {
    const { data } = await rig.client.call(logList, { query: { type: LOG_TYPE.error } });
    expect(data.items).toHaveLength(1);
  };
  await vi.waitFor(recorded, { timeout: 20_000, interval: 200 });
});
afterAll(() => rig?.stop());

async function readHarbourStatus(): Promise<number | undefined> {
  const { data } = await rig.client.call(channelList, { query: { keyword: "harbour" } });
  return data.find(({ name }) => name === "harbour")?.status;
}

test("walks from a channel to its failing calls, their explanation and a disabled channel in four keys", async () => {
  const terminal = openTerminal(["ui"], rig.env);
  await terminal.sees(/> +\d+ +harbour/);
  terminal.type("l");
  await terminal.sees(/failing calls of channel \d+ \(harbour\)/);
  await terminal.sees(/> .* 502 +upstream/);
  terminal.type("\r");
  await terminal.sees("upstream_connect_failed");
  await terminal.sees(/THEN/);
  terminal.type("d");
  await terminal.sees(/disable channel \d+ \(harbour\)\? \[y\/N\]/);
  expect(await readHarbourStatus()).toBe(CHANNEL_STATUS.enabled);
  terminal.type("y");
  await expect.poll(readHarbourStatus, { timeout: 20_000 }).toBe(CHANNEL_STATUS.disabledByHand);
  terminal.type("\u0003");
  await terminal.exited;
  expect(terminal.raw).toContain(MAIN_SCREEN);
});

test("opens every resource by name and leaves with q", async () => {
  const terminal = openTerminal(["ui", "tokens"], rig.env);
  await terminal.sees("tokens 1");
  for (const [name, text] of [
    ["channels", "harbour"],
    ["options", /options \d/],
    ["users", "super-a"],
    ["budgets", "budgets 0"],
    ["codes", "codes 0"],
    ["prices", /prices \d/],
    ["logs", /logs \d/],
  ] as const) {
    terminal.type(`:${name}`);
    await terminal.sees(`:${name}`);
    terminal.type("\r");
    await terminal.sees(text);
  }
  terminal.type("q");
  expect(await terminal.exited).toBe(0);
  expect(terminal.raw).toContain(MAIN_SCREEN);
});

test("a budget of a token names the token", async () => {
  const { data: tokens } = await rig.client.call(tokenList, { query: {} });
  const subject = String(tokens[0]?.id);
  await rig.client.call(budgetCreate, { body: { scope: "token", subject, period: "day", quota_limit: 500_000 } });
  const terminal = openTerminal(["ui", "budgets"], rig.env, 120);
  await terminal.sees(new RegExp(`token +ci #${subject} `));
  terminal.type("q");
  expect(await terminal.exited).toBe(0);
});

test("an option shows who changed it when", async () => {
  await rig.client.call(optionUpdate, { body: { key: "SystemName", value: "Quayside" } });
  const terminal = openTerminal(["ui", "options"], rig.env, 120);
  await terminal.sees("AutoGroups");
  terminal.type("/SystemName");
  await terminal.sees("Quayside");
  terminal.type("\r");
  await terminal.sees(/enter keep[^]*\? help/);
  terminal.type("\r");
  await terminal.sees("changes, the latest first");
  await terminal.sees(/root.*Quayside/);
  terminal.type("qq");
  expect(await terminal.exited).toBe(0);
});

test("undo takes the last change of an option back, and a value that was the first away", async () => {
  const readOption = async (key: string) => {
    const { data } = await rig.client.call(optionList, {});
    return data.find((row) => row.key === key)?.value;
  };
  const before = await readOption("Footer");
  await rig.client.call(optionUpdate, { body: { key: "Footer", value: "first" } });
  await rig.client.call(optionUpdate, { body: { key: "Footer", value: "second" } });
  const terminal = openTerminal(["ui", "options"], rig.env, 120);
  await terminal.sees("AutoGroups");
  terminal.type("/Footer\r");
  await terminal.sees(/Footer +second/);
  terminal.type("u");
  await terminal.sees("changes, the latest first");
  terminal.type("u");
  await terminal.sees("undo option Footer? [y/N]");
  terminal.type("y");
  await terminal.sees("Footer is first again.");
  expect(await readOption("Footer")).toBe("first");
  terminal.type("qq");
  expect(await terminal.exited).toBe(0);

  expect((await rig.fairway("option undo Footer --yes")).err).toContain("Footer is second again.");
  await rig.client.call(optionUpdate, { body: { key: "ServerAddress", value: "https://ai.example.com" } });
  expect((await rig.fairway("option undo ServerAddress --yes")).err).toContain("ServerAddress has its default again.");
  expect(await readOption("ServerAddress")).not.toBe("https://ai.example.com");
  expect(before).not.toBe("second");
  expect(await rig.fairway("option undo AutoGroups --yes")).toMatchObject({ code: 3 });
});

test("reviews documents: what they would change, and applies the marked ones", async () => {
  const file = join(rig.home, "review.yaml");
  const channel = (name: string, members: string) =>
    `---\napiVersion: fairway.dev/v1alpha1\nkind: Channel\nmetadata: { name: ${name} }\nspec: { ${members} }\n`;
  const own = "type: openai, models: [gpt-4o], key: sk-review";
  await writeFile(file, channel("reviewed", own) + channel("left-out", own));
  const terminal = openTerminal(["ui"], rig.env, 120);
  await terminal.sees(/> +\d+ +harbour/);
  terminal.type(`:apply ${file}\r`);
  await terminal.sees(/\* \+ create +Channel\/reviewed/);
  await terminal.sees("2 marked");
  terminal.type("\r");
  await terminal.sees(/ {3}models {2}\["gpt-4o"\][^]*esc back/);
  terminal.type("q");
  await terminal.sees(/esc back[^]*Channel\/left-out/);
  terminal.type("/left\r");
  await terminal.sees(/· \/left/);
  terminal.type(" ");
  await terminal.sees("1 marked");
  terminal.type("\u001B");
  await terminal.sees(/1 marked[^]*Channel\/reviewed/);
  terminal.type("a");
  await terminal.sees("apply Channel/reviewed? [y/N]");
  expect(parseRows(await rig.fairway("channel list --search reviewed -o jsonl"))).toEqual([]);
  terminal.type("y");
  await terminal.sees("Applied: 1 create.");
  terminal.type("q");
  expect(await terminal.exited).toBe(0);
  expect(parseRows(await rig.fairway("channel list --search reviewed -o jsonl"))).toHaveLength(1);
  expect(parseRows(await rig.fairway("channel list --search left-out -o jsonl"))).toEqual([]);
  expect(terminal.shown).not.toContain("sk-review");
  expect((await rig.fairway(`delete -f ${file} --yes`)).code).toBe(0);

  await writeFile(file, channel("mistaken", "type: openai, modles: [gpt-4o]"));
  const refused = openTerminal(["ui"], rig.env, 120);
  await refused.sees(/> +\d+ +harbour/);
  refused.type(`:apply ${file}\r`);
  await refused.sees(/review\.yaml:\d+: Channel\/mistaken: spec has no field modles; did you mean models\?/);
  refused.type("qq");
  expect(await refused.exited).toBe(0);
  const { code, err } = await run(["ui", "apply", file, "--plain"], rig.env);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("did you mean models?") as string });
});

test("with --prune deletions are apart, and what is marked is deleted after its name is typed", async () => {
  const file = join(rig.home, "pruned.yaml");
  const channel = (name: string, weight: number) =>
    `---\napiVersion: fairway.dev/v1alpha1\nkind: Channel\nmetadata: { name: ${name} }\nspec: { type: openai, models: [gpt-4o], key: sk-prune, weight: ${weight} }\n`;
  await writeFile(file, ["stays", "goes", "waits"].map((name) => channel(name, 1)).join(""));
  expect((await rig.fairway(`apply -f ${file} --yes`)).code).toBe(0);
  await writeFile(file, channel("stays", 2));
  const names = async () =>
    parseRows(await rig.fairway("channel list --search s -o jsonl")).map(
      ({ name, weight }) => `${String(name)} ${String(weight)}`,
    );
  const screen = openScreen(["ui", "apply", "--prune", file], rig.env);
  await screen.shows("fairway  changes 1 update, 2 delete");
  await screen.shows(/~ update +Channel\/stays/);
  await screen.shows(/DELETED, because no document names it any more:[^]*- delete +Channel\/goes/);
  await screen.shows("1 marked");
  screen.type("/goes\r ");
  await screen.shows("/goes · 1 marked");
  screen.type("\u001B");
  await screen.shows("2 marked");
  screen.type("a");
  await screen.shows("apply 2 changes, 1 of them deleted? Type goes:");
  screen.type("y\r");
  await screen.shows("Nothing was changed.");
  expect(await names()).toContain("stays 1");
  screen.type("agoes\r");
  await screen.shows(/Applied: 1 update, 1 delete\./);
  expect(await screen.leave()).toBe(0);
  expect(await names()).toEqual(expect.arrayContaining(["stays 2", "waits 1"]));
  expect((await names()).filter((one) => one.startsWith("goes"))).toEqual([]);
  // The list of channels names the manager of each.
  const env = { ...rig.env, XDG_CONFIG_HOME: join(rig.home, "config") };
  const list = openScreen(["ui"], env, 200);
  await list.shows("stays");
  list.type("vG \r/stays\r");
  await list.shows(/stays .* cli$/m);
  expect(await list.leave()).toBe(0);
  const { code, err } = await run(["ui", "--prune"], { ...rig.env, INK_SCREEN_READER: "true" });
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("--prune goes with apply") as string });
  expect((await rig.fairway(`apply -f ${file} --prune --force --yes`)).code).toBe(0);
  expect((await rig.fairway(`delete -f ${file} --yes`)).code).toBe(0);
});

test("copies an id to the clipboard of the terminal and opens the page of the console", async () => {
  const opened = join(rig.home, "opened");
  const browser = join(rig.home, "browser.sh");
  await writeFile(browser, `#!/bin/sh\necho "$1" > ${opened}\n`, { mode: 0o700 });
  const { data } = await rig.client.call(channelList, { query: { keyword: "harbour" } });
  const id = String(data[0]?.id);
  const terminal = openTerminal(["ui"], { ...rig.env, BROWSER: browser }, 120);
  await terminal.sees(/> +\d+ +harbour/);
  terminal.type("y");
  await terminal.sees(`Copied ${id}.`);
  expect(terminal.raw).toContain(`\u001B]52;c;${Buffer.from(id).toString("base64")}\u0007`);
  terminal.type("o");
  await terminal.sees(`The page is ${rig.gateway.url}/channel`);
  await vi.waitFor(async () => expect(await readFile(opened, "utf8")).toBe(`${rig.gateway.url}/channel\n`), 20_000);
  terminal.type("q");
  expect(await terminal.exited).toBe(0);
});

test("a name and Enter pasted at once filter and close the filter", async () => {
  const terminal = openTerminal(["ui", "options"], rig.env, 120);
  await terminal.sees("AutoGroups");
  terminal.type("/");
  await terminal.sees("enter keep");
  terminal.type("SystemName\r");
  await terminal.sees(/of \d+ · \/SystemName[^]*\? help/);
  terminal.type("q");
  expect(await terminal.exited).toBe(0);
});

test("edits a channel in $EDITOR and returns to the list", async () => {
  const env = { ...rig.env, EDITOR: "sed -i 's/^priority: 50/priority: 51/'" };
  const terminal = openTerminal(["ui"], env);
  await terminal.sees(/> +\d+ +harbour/);
  terminal.type("E");
  await terminal.sees("Change channel");
  terminal.type("y\r");
  await terminal.sees(/Changed channel \d+, harbour: priority/);
  await terminal.sees(/harbour .* 51 /);
  terminal.type("q");
  expect(await terminal.exited).toBe(0);
});

test("writes no colours under NO_COLOR", async () => {
  const terminal = openTerminal(["ui"], { ...rig.env, NO_COLOR: "1" });
  await terminal.sees("harbour");
  terminal.type("q");
  await terminal.exited;
  expect(terminal.raw.split("\u001B[").filter((part) => /^[\d;]*m/.test(part))).toEqual([]);
});

test("refuses to run without a terminal and names what scripts use", async () => {
  const { code, err } = await run(["ui"], rig.env);
  expect(code).toBe(2);
  expect(err).toContain("fairway channel list");
});

test("restores the terminal when it is ended from outside", async () => {
  for (const [words, signal] of [
    [["ui"], "SIGTERM"],
    [["ui"], "SIGHUP"],
    [["ui"], "SIGINT"],
    [["top"], "SIGTERM"],
    [["top"], "SIGHUP"],
    [["status", "--watch"], "SIGTERM"],
  ] as const) {
    const pidFile = join(rig.home, `${words[0]}.pid`);
    const terminal = openTerminal(words, rig.env, 80, pidFile);
    await terminal.sees(words[0] === "status" ? "enabled" : "harbour");
    process.kill(Number(await readFile(pidFile, "utf8")), signal);
    await terminal.exited;
    expect(terminal.raw.lastIndexOf("\u001B[?25h"), `${words.join(" ")}, ${signal}`).toBeGreaterThan(
      terminal.raw.lastIndexOf("\u001B[?25l"),
    );
    if (words[0] !== "status") expect(terminal.raw.trimEnd()).toContain(MAIN_SCREEN);
  }
});

/** A window title, which no screen writes. */
const READY = "\u001B]2;ready\u0007";

test.each([
  ["in a timer", "setTimeout(() => { throw new Error('a planned fault'); })"],
  ["in a promise", "void Promise.reject(new Error('a planned fault'))"],
  ["while it draws", "String.prototype.repeat = () => { throw new Error('a planned fault'); }"],
])("a fault %s gives the terminal back, with one sentence and exit 1", async (_where, fault) => {
  const script = join(rig.home, "fault.mjs");
  await writeFile(script, `process.on("SIGUSR2", () => { process.stdout.write("${READY}"); ${fault}; });\n`);
  const pidFile = join(rig.home, "fault.pid");
  const env = { ...rig.env, NODE_OPTIONS: `--import=${pathToFileURL(script).href}` };
  for (const words of [["ui"], ["top", "--interval", "1"], ["status", "--watch", "--interval", "1"]]) {
    // This screen draws none of that.
    if (words[0] === "status" && fault.includes("repeat")) continue;
    const terminal = openTerminal(words, env, 100, pidFile);
    await terminal.sees(words[0] === "status" ? "enabled" : "harbour");
    process.kill(Number(await readFile(pidFile, "utf8")), "SIGUSR2");
    await vi.waitFor(() => expect(terminal.raw).toContain(READY), 20_000);
    terminal.type("j");
    expect(await terminal.exited, terminal.shown).toBe(1);
    const last = words[0] === "status" ? terminal.raw : terminal.raw.split(MAIN_SCREEN).at(-1);
    expect(last, words.join(" ")).toContain("error: a planned fault");
    expect(terminal.shown).not.toContain("    at ");
    expect(terminal.raw.lastIndexOf("\u001B[?25h")).toBeGreaterThan(terminal.raw.lastIndexOf("\u001B[?25l"));
    if (words[0] !== "status") expect(terminal.raw).toContain(MAIN_SCREEN);
  }
});

test("fits a terminal of 60 columns, with title, rows and keys", async () => {
  for (const [words, title] of [
    [["ui"], "fairway  channels"],
    [["top"], "fairway top"],
  ] as const) {
    const terminal = openTerminal(words, rig.env, 60);
    await terminal.sees("harbour");
    await terminal.sees(title);
    await terminal.sees("quit");
    const lines = terminal.shown.split(/\r?\n/).map((line) => line.trimEnd());
    expect(lines.filter((line) => line.length > 60)).toEqual([]);
    terminal.type("q");
    expect(await terminal.exited).toBe(0);
  }
});

test("is plain lines for a screen reader", async () => {
  const keys = ["l", "", "esc", ":tokens", "/ci", "q"].join("\n");
  const { code, out, err } = await run(["ui", "--plain"], rig.env, `${keys}\n`);
  expect(code, err).toBe(0);
  expect(out).not.toContain("\u001B");
  expect(out).toMatch(/fairway {2}channels 1 .*\n.*NAME[^]*> +\d+ +harbour/);
  expect(out).toMatch(/failing calls of channel \d+ \(harbour\)/);
  expect(out).toContain("upstream_connect_failed");
  expect(out).toMatch(/fairway {2}tokens 1 of 1 · \/ci/);
  expect((await run(["ui"], { ...rig.env, INK_SCREEN_READER: "true" }, "q\n")).code).toBe(0);
});
