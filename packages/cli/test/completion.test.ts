// Names from the gateway that a shell offers, at once or not at all.
import { channelCreate, tokenCreate } from "@fairway/wire";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startRig, type Rig } from "./rig.ts";
import { PROGRAM, run } from "./terminal.ts";

let rig: Rig;
let env: Record<string, string>;
beforeAll(async () => {
  rig = await startRig();
  env = { ...rig.env, XDG_CACHE_HOME: join(rig.home, "cache") };
  for (const name of ["openai", "azure one"]) {
    const body = { type: 1, key: "sk-1", models: "gpt-4o", group: "default", base_url: rig.upstream.url, name };
    await rig.client.call(channelCreate, { body });
  }
  await rig.client.call(tokenCreate, { body: { name: "ci", unlimited_quota: true } });
});
afterAll(() => rig?.stop());

async function words(...typed: string[]): Promise<string[]> {
  const { out } = await run(["__complete", "--", ...typed], env);
  return out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split("\t", 1)[0] ?? "");
}

test.each([
  [["channel", "get", "op"], ["openai"]],
  [["channel", "enable", "openai", ""], expect.arrayContaining(["openai", "2"]) as string[]],
  [["token", "get", "c"], ["ci"]],
  [["user", "get", "r"], ["root"]],
  [["log", "list", "--channel", "o"], ["openai"]],
  [["channel", "list", "--model", "gpt"], ["gpt-4o"]],
  [["channel", "create", "--type", "azu"], ["azure"]],
  [["channel", "list", "--group", "d"], ["default"]],
  [["-o", "ya"], ["yaml"]],
])("offers what the gateway knows for %j", async (typed, expected) => {
  // The gateway of a busy machine may need longer than a person waits; the next try gets the answer.
  await expect.poll(() => words(...typed), { timeout: 20_000 }).toEqual(expected);
});

test("a name that a shell would break is offered by its id, which says the name", async () => {
  const fresh = { ...env, XDG_CACHE_HOME: join(rig.home, "other-cache") };
  await rig.client.call(tokenCreate, { body: { name: "two words", unlimited_quota: true } });
  await rig.client.call(tokenCreate, { body: { name: "a(b)", unlimited_quota: true } });
  const lines = async (begun: string) => (await run(["__complete", "--", "token", "get", begun], fresh)).out;
  await expect.poll(() => lines(""), { timeout: 20_000 }).toMatch(/^\d+\ttwo words$/m);
  expect(await lines("")).toMatch(/^\d+\ta\(b\)$/m);
  expect(await lines('""')).toBe(await lines(""));
});

test("the script for PowerShell passes the words before the cursor without quotes, and quotes what it inserts", async () => {
  const { out } = await run(["completion", "powershell"], {});
  expect(out).toContain("Where-Object { $_.Extent.EndOffset -lt $cursorPosition }");
  expect(out).toContain(`if ($begun -eq '') { $begun = '""' }`);
  expect(out).toContain(`"'" + ($word -replace "'", "''") + "'"`);
  // Quotes, braces and parentheses outside texts are balanced.
  const bare = out.replaceAll(/'(?:[^']|'')*'|"(?:[^"`]|`.)*"/g, "");
  expect(bare).not.toMatch(/["']/);
  for (const [open, close] of [
    ["(", ")"],
    ["{", "}"],
    ["[", "]"],
  ] as const)
    expect(bare.split(open).length, open).toBe(bare.split(close).length);
});

test("keeps the names for a minute in files that only the user can read", async () => {
  const folders = await readdir(join(rig.home, "cache", "fairway"));
  const folder = folders.find((name) => name !== "compiled") ?? "";
  const file = join(rig.home, "cache", "fairway", folder, "channel.json");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const away = { ...env, FAIRWAY_SERVER: "http://127.0.0.1:1", FAIRWAY_TOKEN: "t" };
  expect((await run(["__complete", "--", "channel", "get", "op"], away)).out).toBe("");
});

/** Returns the variables of a shell that finds `fairway`. */
async function shellEnv(): Promise<Record<string, string>> {
  const bin = join(rig.home, "bin");
  await mkdir(bin, { recursive: true });
  await symlink(PROGRAM, join(bin, "fairway")).catch(() => undefined);
  await chmod(PROGRAM, 0o755);
  const path = `${bin}:${join(process.execPath, "..")}:${process.env["PATH"] ?? ""}`;
  return { ...env, HOME: rig.home, TERM: "xterm", PATH: path };
}

test("completes in fish", async () => {
  const script = 'fairway completion fish | source; complete -C "fairway channel get op"; complete -C "fairway chan"';
  const { stdout } = await promisify(execFile)("fish", ["--no-config", "-c", script], { env: await shellEnv() });
  expect(stdout.split("\n").map((line) => line.split("\t", 1)[0])).toEqual(["openai", "channel", ""]);
});

test("completes in zsh, at its line", async () => {
  const child = spawn("script", ["-q", "-f", "-e", "-c", "zsh -f -i", "/dev/null"], { env: await shellEnv() });
  let shown = "";
  child.stdout.on("data", (part: Buffer) => (shown += stripVTControlCharacters(part.toString())));
  const sees = (text: string) => expect.poll(() => shown, { timeout: 30_000 }).toContain(text);
  child.stdin.write("autoload -Uz compinit; compinit -u -D; source <(fairway completion zsh); echo is-re''ady\r");
  await sees("is-ready");
  child.stdin.write("fairway channel get op\t");
  await sees("fairway channel get openai");
  child.stdin.write("\u0015exit\r");
  await once(child, "close");
});

test("completes in bash", async () => {
  const script = [
    "source <(fairway completion bash)",
    'COMP_WORDS=(fairway channel get op); COMP_CWORD=3; _fairway; echo "${COMPREPLY[@]}"',
  ].join("\n");
  const { stdout } = await promisify(execFile)("bash", ["-c", script], { env: await shellEnv() });
  expect(stdout).toBe("openai\n");
  expect((await run(["completion", "powershell"], {})).out).toContain(
    "Register-ArgumentCompleter -Native -CommandName fairway",
  );
});
