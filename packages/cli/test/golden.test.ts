// The output of every command on both streams, with its exit code: in a pipe and in a terminal.
import { ROOT_PASSWORD, startGateway, startUpstream, UPSTREAM_KEY } from "@fairway/testkit";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Io } from "../src/core/io.ts";
import { printable } from "../src/print/printable.ts";
import { runWords } from "../src/run.ts";
import { VERSION } from "../src/core/version.ts";
import { run } from "./terminal.ts";
import tree from "./tree.json" with { type: "json" };

const FOLDER = join(import.meta.dirname, "golden");
const MODES = ["pipe", "terminal"] as const;
type Mode = (typeof MODES)[number];

interface Ran {
  readonly line: string;
  readonly code: number;
}

const ran: Record<Mode, Ran[]> = { pipe: [], terminal: [] };

/** Commands that need a person at a terminal, or an upstream of their own; the named file tests them. */
const BY_HAND: Readonly<Record<string, string>> = {
  top: "commands.test.ts",
  ui: "ui.test.ts",
  man: "man.test.ts",
  "report usage": "report.test.ts",
  "report run": "saved-reports.test.ts",
  "channel edit": "changes.test.ts",
  "channel balance": "changes.test.ts",
  "option edit": "changes.test.ts",
  "config edit": "settings.test.ts",
  "log follow": "follow.test.ts",
  "batch get": "batches.test.ts",
  "batch create": "batches.test.ts",
  "batch watch": "batches.test.ts",
  "batch results": "batches.test.ts",
  "batch cancel": "batches.test.ts",
  "batch settle": "batches.test.ts",
  "batch abandon": "batches.test.ts",
  "file upload": "batches.test.ts",
  "file download": "batches.test.ts",
  "file delete": "batches.test.ts",
  "cache get": "caches.test.ts",
  "cache delete": "caches.test.ts",
  "task get": "names.test.ts",
  "drawing get": "names.test.ts",
  "event endpoint test": "events.test.ts",
  "idp test": "idp.test.ts",
  "team join": "teams.test.ts",
  "team leave": "teams.test.ts",
};

describe.each(MODES)("in a %s", (mode) => {
  let stage: Stage;
  beforeAll(async () => void (stage = await openStage(mode)));
  afterAll(() => stage?.close());

  test("every command prints what it printed before", async () => {
    const text: string[] = [];
    for (const line of await storyLines()) {
      if (line === "@logged") await stage.logged();
      else if (line.startsWith("#")) text.push(`\n${line}`);
      else text.push(await stage.run(line));
    }
    await expect(stage.settled(text.join("\n"))).toMatchFileSnapshot(join(FOLDER, `${mode}.txt`));
  }, 300_000);

  test("every command of the tree ran once to its end, and failed once", () => {
    const commands = Object.keys(tree.commands);
    const outcomes = (command: string) =>
      ran[mode].filter(({ line }) => line === command || line.startsWith(`${command} `)).map(({ code }) => code);
    expect(commands.filter((one) => !outcomes(one).some((code) => code > 0))).toEqual([]);
    const alone = Object.keys(BY_HAND);
    expect(commands.filter((one) => !alone.includes(one) && !outcomes(one).includes(0))).toEqual([]);
  });

  test("what the story cannot run, another file does", async () => {
    for (const [command, file] of Object.entries(BY_HAND)) {
      const text = (await readFile(join(import.meta.dirname, file), "utf8")).replaceAll(/",\s*"/g, " ");
      expect(text, file).toMatch(new RegExp(`["'\`] ?${command}(?=["'\` ])`));
    }
  });

  test("every command refuses a flag that it does not have", async () => {
    const text: string[] = [];
    for (const command of Object.keys(tree.commands)) text.push(await stage.run(`${command} --no-such-flag`));
    await expect(stage.settled(text.join("\n"))).toMatchFileSnapshot(join(FOLDER, "unknown-flags.txt"));
  });
});

/** Returns the lines of the story, with each comment block as one. */
async function storyLines(): Promise<string[]> {
  const text = await readFile(join(FOLDER, "story.txt"), "utf8");
  return text
    .split("\n")
    .slice(text.split("\n").findIndex((line) => line === ""))
    .filter((line) => line !== "");
}

interface Stage {
  /** Runs the command and returns everything that it printed. */
  run(line: string): Promise<string>;
  /** Waits until the first call of the story is in the log. */
  logged(): Promise<void>;
  /** Removes what differs from run to run. */
  settled(text: string): string;
  close(): Promise<void>;
}

async function openStage(mode: Mode): Promise<Stage> {
  const [gateway, upstream] = await Promise.all([startGateway(), startUpstream()]);
  const home = await mkdtemp(join(tmpdir(), "fairway-golden-"));
  await writeFiles(home, upstream.url);
  const env = { XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home, EDITOR: "true", TZ: "UTC" };
  const names: Record<string, string> = {
    GATEWAY: gateway.url,
    UPSTREAM: upstream.url,
    HOME: home,
    PASSWORD: ROOT_PASSWORD,
    PASSWORDS: `${ROOT_PASSWORD}\ncorrect-horse-10`,
  };
  const filled = (text: string) => text.replaceAll(/\$([A-Z]+)/g, (all, name: string) => names[name] ?? all);

  const runHere = async (words: readonly string[]) => {
    let out = "";
    let err = "";
    const io: Io = {
      env,
      width: mode === "terminal" ? 100 : undefined,
      isTerminal: mode === "terminal",
      isPiped: mode === "pipe",
      closeInput: () => undefined,
      nowSeconds: () => Math.floor(Date.now() / 1000),
      useUtc: () => undefined,
      write: (text) => void (out += text),
      out: (text) => void (out += `${text}\n`),
      room: () => undefined,
      note: (text) => void (err += `${printable(text, "\n")}\n`),
    };
    const code = await runWords(words, io);
    return { code, out, err };
  };

  const execute = async (line: string) => {
    const [command = "", input] = line.split(" < ");
    const words = command.split(" ").map(filled);
    return input === undefined ? runHere(words) : run(words, env, `${filled(input)}\n`);
  };

  return {
    async run(line) {
      const { code, out, err } = await execute(line);
      ran[mode].push({ line, code: code ?? -1 });
      const noted = err
        .trimEnd()
        .split("\n")
        .map((one) => `! ${one}`);
      return [
        `$ fairway ${line}`,
        ...(out === "" ? [] : [out.trimEnd()]),
        ...(err === "" ? [] : noted),
        `= ${code}`,
      ].join("\n");
    },
    async logged() {
      const rows = async () => {
        const { out } = await runHere(["log", "list", "--token", "laptop", "--type", "consume", "-o", "json"]);
        return (JSON.parse(out) as { items: { request_id: string }[] }).items;
      };
      await expect.poll(async () => (await rows()).length, { timeout: 30_000 }).toBe(1);
      names["REQUEST"] = (await rows())[0]?.request_id ?? "";
    },
    settled: (text) => settledText(text, names),
    async close() {
      await Promise.all([gateway.stop(), upstream.stop()]);
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function writeFiles(home: string, upstream: string): Promise<void> {
  const channel = (extra: string) =>
    `apiVersion: fairway.dev/v1alpha1\nkind: Channel\nmetadata: { name: declared }\nspec: { type: openai, baseUrl: ${upstream}, models: [gpt-4o-mini], key: ${UPSTREAM_KEY}${extra} }\n`;
  const litellm = [
    "model_list:",
    "  - model_name: fast",
    "    litellm_params: { model: openai/gpt-4o-mini, api_key: os.environ/NO_SUCH_KEY, rpm: 60 }",
    "  - model_name: unpriced-model",
    "    litellm_params: { model: openai/unpriced-model, api_key: sk-in-the-file }",
    "router_settings: { num_retries: 3, routing_strategy: least-busy, fallbacks: [{ fast: [slow] }] }",
    "",
  ].join("\n");
  const files = {
    "openai.key": UPSTREAM_KEY,
    "channel.yaml": channel(""),
    "wrong.yaml": channel(", prioritty: 3"),
    "litellm.yaml": litellm,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(home, name), text);
}

function settledText(text: string, names: Readonly<Record<string, string>>): string {
  const known = ["REQUEST", "GATEWAY", "UPSTREAM", "HOME"].filter((name) => (names[name] ?? "") !== "");
  let settled = text;
  for (const name of known) settled = settled.replaceAll(names[name] ?? "", `$${name}`);
  return settled
    .replaceAll(VERSION, "VERSION")
    .replaceAll(process.versions.node, "NODE")
    .replaceAll(/sk-[A-Za-z0-9]{20,}/g, "sk-KEY")
    .replaceAll(/fwsc_\w{43}/g, "fwsc_TOKEN")
    .replaceAll(/fwsa_[\w-]{43}/g, "fwsa_TOKEN")
    .replaceAll(/fwsa_[\w-]{4}(?![\w-])/g, "fwsa_ENDS")
    .replaceAll(/code=[\w-]{43}/g, "code=CODE")
    .replaceAll(/whsec_[\w+/]{43}=/g, "whsec_KEY")
    .replaceAll(/sk-\w{4}…\w{4}/g, "sk-ENDS")
    .replaceAll(/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, "ID")
    .replaceAll(/\b[0-9a-f]{32}\b/g, "CODE")
    .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?(\.\d+)?Z?/g, "TIME")
    .replaceAll(/\d+(\.\d+)? (ms|s)\b/g, "N $2")
    .replaceAll(/answered by \S+/g, "answered by HOST")
    .replaceAll(/led by [\w-]+/g, "led by HOST")
    .replaceAll(/[^\S\n]{2,}/g, "  ")
    .replaceAll(/[^\S\n]+$/gm, "");
}
