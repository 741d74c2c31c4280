// From a new gateway to the first call, by a person and by a script.
import {
  ROOT_PASSWORD,
  startGateway,
  startUpstream,
  UPSTREAM_KEY,
  type GatewayProcess,
  type Upstream,
} from "@fairway/testkit";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseJsonOutput } from "./rig.ts";
import { openTerminal, run } from "./terminal.ts";

let upstream: Upstream;
let gateway: GatewayProcess;
let home: string;
const buildEnv = (name: string) => ({ XDG_CONFIG_HOME: join(home, name), XDG_CACHE_HOME: home });

beforeAll(async () => {
  [upstream, gateway] = await Promise.all([startUpstream(), startGateway()]);
  home = await mkdtemp(join(tmpdir(), "fairway-init-"));
  await writeFile(join(home, "key"), UPSTREAM_KEY);
});
afterAll(async () => {
  await Promise.all([gateway?.stop(), upstream?.stop()]);
  await rm(home, { recursive: true, force: true });
});

/** Checks that the key that the wizard printed works for a call. */
async function makesCalls(shown: string): Promise<void> {
  const key = /OPENAI_API_KEY=(sk-\w+)/.exec(shown)?.[1] ?? "";
  const body = JSON.stringify({ model: "gpt-4o-mini", messages: [{ role: "user", content: "hi" }] });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", headers, body });
  expect(answer.status, await answer.text()).toBe(200);
}

test("the wizard asks step by step, shows no secret, and ends with a key that works", async () => {
  const terminal = openTerminal(["init", "--base-url", upstream.url], buildEnv("screen"), 100);
  await terminal.sees("Address of the gateway");
  terminal.type(`${gateway.url}\r`);
  await terminal.sees("Username");
  terminal.type("root\r");
  await terminal.sees(/Password: +/);
  terminal.type(`${ROOT_PASSWORD}\r`);
  await terminal.sees("Signed in to");
  await terminal.sees("Provider [openai]");
  terminal.type("o\r");
  await terminal.sees(/o may be openai or /);
  terminal.type("penai\r");
  await terminal.sees(/Key of OpenAI/);
  terminal.type(`${UPSTREAM_KEY}\r`);
  await terminal.sees("Models, with commas between");
  terminal.type("gpt-4o-mini\r");
  await terminal.sees("Name of the channel [openai]");
  terminal.type("wizard\r");
  await terminal.sees(/Created channel \d+, wizard, with 1 model\./);
  await terminal.sees("OPENAI_API_KEY=sk-", 60_000);
  expect(await terminal.exited).toBe(0);
  expect(terminal.shown).not.toContain(ROOT_PASSWORD);
  expect(terminal.shown).not.toContain(UPSTREAM_KEY);
  await makesCalls(terminal.shown);
});

test("the wizard is plain lines for a screen reader", async () => {
  const env = { ...buildEnv("plain"), INK_SCREEN_READER: "true" };
  const words = ["init", gateway.url, "--username", "root", "--base-url", upstream.url, "--type", "openai"];
  const terminal = openTerminal(words, env);
  await terminal.sees("Password:");
  terminal.type(`${ROOT_PASSWORD}\r`);
  await terminal.sees("Key of OpenAI");
  terminal.type(`${UPSTREAM_KEY}\r`);
  await terminal.sees("It offers ");
  await terminal.sees("Models, with commas between [all]:");
  terminal.type("gpt-4o-mini\r");
  await terminal.sees("Name of the channel [openai]:");
  terminal.type("plain\r");
  expect(await terminal.exited).toBe(0);
  expect(terminal.raw).not.toContain("\u001B[2K");
  expect(terminal.shown).toMatch(/It answered gpt-4o-mini in [\d.]+ s\./);
  await makesCalls(terminal.shown);
});

test("the wizard says what could not be read, and offers what the kind of upstream usually has", async () => {
  const words = ["init", gateway.url, "--username", "root", "--base-url", "http://127.0.0.1:9", "--type", "openai"];
  const terminal = openTerminal(words, buildEnv("away"), 100);
  await terminal.sees("Password:");
  terminal.type(`${ROOT_PASSWORD}\r`);
  await terminal.sees("Key of OpenAI");
  terminal.type(`${UPSTREAM_KEY}\r`);
  await terminal.sees("! Its models could not be read");
  await terminal.sees("✓ OpenAI usually has gpt-");
  terminal.type("\u0003");
  expect(await terminal.exited).toBe(130);
});

test("Ctrl-C leaves the wizard with 130 and the cursor on", async () => {
  const terminal = openTerminal(["init"], buildEnv("left"), 100);
  await terminal.sees("Address of the gateway");
  terminal.type("\u0003");
  expect(await terminal.exited).toBe(130);
  expect(terminal.raw.lastIndexOf("\u001B[?25h")).toBeGreaterThan(terminal.raw.lastIndexOf("\u001B[?25l"));
});

test("a script gives flags instead of answers", async () => {
  const env = buildEnv("script");
  const missing = await run(["init", gateway.url, "--yes"], env);
  expect(missing).toMatchObject({ code: 2, out: "" });
  expect(missing.err).toContain("give it with --username");
  const words = [
    "init",
    gateway.url,
    "--username",
    "root",
    "--password-stdin",
    "--type",
    "openai",
    "--name",
    "scripted",
  ];
  const more = [
    "--base-url",
    upstream.url,
    "--key-file",
    join(home, "key"),
    "--models",
    "gpt-4o-mini",
    "--yes",
    "-o",
    "json",
  ];
  const done = await run([...words, ...more], env, ROOT_PASSWORD);
  expect(done.code, done.err).toBe(0);
  expect(parseJsonOutput(done)).toMatchObject({
    server: gateway.url,
    channel: { name: "scripted", models: ["gpt-4o-mini"], test: { ok: true } },
    token: { name: "first" },
  });
  const alone = await run(["init"], env);
  expect(alone.code).toBe(2);
  expect(alone.err).toContain("--yes");
});
