// The built command against a real gateway: with pipes as in scripts, and in a pseudo-terminal as people use it.
import {
  ROOT_PASSWORD,
  startGateway,
  startUpstream,
  UPSTREAM_KEY,
  type GatewayProcess,
  type Upstream,
} from "@fairway/testkit";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTerminal, PROGRAM, run, type Finished } from "./terminal.ts";
import { parseRows } from "./rig.ts";

let upstream: Upstream;
let gateway: GatewayProcess;
let home: string;
let env: Record<string, string>;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway();
  home = await mkdtemp(join(tmpdir(), "fairway-cli-"));
  env = { FAIRWAY_CONFIG: join(home, "credentials.json"), XDG_CONFIG_HOME: home };
});

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  if (home) await rm(home, { recursive: true, force: true });
});

const json = ({ out }: Finished) => JSON.parse(out) as Record<string, unknown>;
const fairway = (args: string, input?: string) => run(args.split(" "), env, input);

test("what starts every command is small: all else is loaded by the command that needs it", () => {
  const loaded = new Map<string, string>();
  const load = (file: string) => {
    if (loaded.has(file)) return;
    const text = readFileSync(join(dirname(PROGRAM), file), "utf8");
    loaded.set(file, text);
    for (const [, inner = ""] of text.matchAll(/^(?:import|export) .*?"\.\/([^"]+)";$/gm)) load(inner);
  };
  load("fairway.mjs");
  load("main.mjs");
  // Reading 100 KB more takes 30 ms, and `fairway --version` must stay below 100 ms.
  const bytes = [...loaded.values()].reduce((sum, text) => sum + text.length, 0);
  expect(bytes, [...loaded.keys()].join()).toBeLessThan(180_000);
});

test("without a profile, a command says how to sign in", async () => {
  const { code, out, err } = await fairway("status");
  expect(code).not.toBe(0);
  expect(out).toBe("");
  expect(err).toContain("fairway login");
});

test("a password is asked for in a terminal and never shown", async () => {
  const terminal = openTerminal(["login", gateway.url, "--username", "root"], env);
  await terminal.sees("Password:");
  terminal.type(`${ROOT_PASSWORD}\r`);
  await terminal.sees("as root (super administrator)");
  expect(await terminal.exited).toBe(0);
  expect(terminal.shown).not.toContain(ROOT_PASSWORD);
  const { mode } = await stat(env["FAIRWAY_CONFIG"] as string);
  expect(mode & 0o777).toBe(0o600);
});

test("a wrong password is one line and an exit code", async () => {
  const other = { ...env, FAIRWAY_CONFIG: join(home, "other.json") };
  const terminal = openTerminal(["login", gateway.url, "--username", "root"], other);
  await terminal.sees("Password:");
  terminal.type("wrong-password\r");
  await terminal.sees("error: Wrong username or password");
  expect(await terminal.exited).not.toBe(0);
  expect(terminal.shown).not.toMatch(/\bat .*\.mjs:\d+/);
});

test("a channel is created with its key from standard input, listed and tested", async () => {
  const created = await run(
    [
      "channel",
      "create",
      "--type",
      "1",
      "--name",
      "first",
      "--models",
      "gpt-4o-mini",
      "--base-url",
      upstream.url,
    ].concat(["--key-stdin", "-o", "json"]),
    env,
    `${UPSTREAM_KEY}\n`,
  );
  expect(created.code, created.err).toBe(0);
  const { id } = json(created);
  expect(created.err).toContain(`fairway channel test ${String(id)}`);
  const listed = await fairway("channel list -o json");
  expect(listed.out).toContain('"first"');
  expect(listed.out + created.out).not.toContain(UPSTREAM_KEY);
  const tested = await fairway(`channel test ${String(id)}`);
  expect(tested.code, tested.err).toBe(0);
  expect(tested.out).toMatch(/^ok +channel/);
});

test("a channel whose upstream refuses fails its test, with exit code 8", async () => {
  const broken = ["channel", "create", "--type", "1", "--name", "broken", "--models", "status-401"];
  const created = await run([...broken, "--base-url", upstream.url, "--key-stdin", "-o", "json"], env, UPSTREAM_KEY);
  const tested = await fairway(`channel test ${String(json(created)["id"])} -o jsonl`);
  expect(tested.code).toBe(8);
  expect(JSON.parse(tested.out)).toMatchObject({ ok: false });
  expect(tested.err).toContain("1 of 1 channels failed");
});

test("a key works, and its calls are in the log", async () => {
  const { out, code } = await fairway("token create --name laptop --quota 5usd -o json");
  expect(code).toBe(0);
  const key = /sk-[\w-]+/.exec(out)?.[0] ?? "";
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o-mini", messages: [{ role: "user", content: "Hi" }] }),
  });
  expect(answer.status).toBe(200);
  await answer.arrayBuffer();
  const rows = await fairway("log list --token laptop --since 1h -o jsonl");
  expect(rows.out.trim().split("\n")).toHaveLength(1);
  expect(rows.out).toContain('"laptop"');
  const table = await fairway("log list --type consume");
  expect(table.out).toContain("gpt-4o-mini");
});

test("chat prints one answer for scripts, and its price on standard error", async () => {
  const answer = await run(["chat", "-m", "gpt-4o-mini", "Hi"], env, "piped words");
  expect(answer.code, answer.err).toBe(0);
  expect(answer.out.trim()).not.toBe("");
  expect(answer.err).toMatch(/^20 tokens in, 10 out · \d+ quota \(\$0\.\d+\) · key \d+ \(laptop\)\n$/);
  const asked = JSON.stringify(upstream.requests.at(-1)?.json);
  expect(asked).toContain("Hi\\n\\npiped words");
  const whole = json(
    await run(["chat", "-t", "laptop", "-m", "gpt-4o-mini", "-o", "json", "-s", "Be brief.", "Hi"], env),
  );
  expect(whole).toMatchObject({ model: "gpt-4o-mini", prompt_tokens: 20, quota: expect.any(Number) as number });
  const refused = await run(["chat", "-m", "unserved-model", "Hi"], env);
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain("unserved-model");
  expect((await run(["chat"], env)).err).toContain("there is nothing to ask");
  const none = await run(["chat", "-g", "vip", "Hi"], env);
  expect(none.code).toBe(2);
  expect(none.err).toContain("fairway token create --name chat --group vip");
  expect((await run(["chat", "Hi"], env)).err).toContain("name one with --model: ");
});

test("a price is explained to the unit that a call was charged", async () => {
  const [row] = (await fairway("log list --token laptop --type consume --limit 1 -o jsonl")).out.trim().split("\n");
  const { quota, prompt_tokens, completion_tokens } = JSON.parse(row ?? "") as Record<string, number>;
  const words = `pricing explain gpt-4o-mini --prompt ${prompt_tokens} --completion ${completion_tokens}`;
  expect(json(await fairway(`${words} -o json`))).toMatchObject({ quota, group: "default" });
  const { out } = await fairway(words);
  expect(out).toMatch(/^input +20 +0\.075 +1\.5$/m);
  expect(out).toMatch(/^exactly +\(1\.5 \+ 3\) × 1 = 4\.5$/m);
  expect(out).toContain(`charged  ${quota} quota, rounded once, halves up\ndollars  $0.000010`);
  expect((await fairway(`${words} --cached 21`)).err).toContain("--cached 21 is more than --prompt 20");
  expect((await fairway("pricing explain unserved-model --prompt 1 --completion 1")).code).toBe(3);
  expect((await fairway(`${words} --group nowhere`)).code).toBe(6);
});

test("a conversation remembers, Ctrl-C stops the answer and not the program", async () => {
  await run(["channel", "update", "1", "--add-model", "echo", "slow-40+long-500"], env);
  await fairway("option set SelfUseModeEnabled true");
  const talk = openTerminal(["chat", "-m", "echo"], env);
  await talk.sees("> ");
  talk.type("first question\r");
  await talk.sees("quota ($");
  talk.type("and the second\r");
  await talk.sees(/quota \(\$[^]*quota \(\$/);
  expect(JSON.stringify(upstream.requests.at(-1)?.json)).toMatch(/first question.*assistant.*and the second/);
  talk.type("/exit\r");
  expect(await talk.exited).toBe(0);
  const slow = openTerminal(["chat", "-m", "slow-40+long-500"], env);
  await slow.sees("> ");
  slow.type("go\r");
  await slow.sees(/> go\s+\S+/);
  slow.type("\u0003");
  await slow.sees(" …");
  await slow.sees(/stopped · .*key \d+ \(laptop\)\s+> /);
  slow.type("\u0004");
  expect(await slow.exited).toBe(0);
});

test("an option is set and read back; a bad value names the option", async () => {
  expect((await fairway("option set SystemName Harbour")).code).toBe(0);
  expect((await fairway("option get SystemName")).out).toContain("Harbour");
  expect((await fairway("option get option/SystemName -o raw")).out).toBe("Harbour\n");
  expect((await fairway("option list --prefix SystemN -o name")).out).toBe("option/SystemName\n");
  const refused = await fairway("option set QuotaPerUnit many");
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain("QuotaPerUnit");
});

test("an option goes back to its default, also a secret, but not one that documents keep", async () => {
  expect((await fairway("option set RetryTimes 7")).code).toBe(0);
  expect((await fairway("option unset RetryTimes")).code).toBe(2);
  expect((await fairway("option unset RetryTimes --yes")).err).toBe("RetryTimes has its default again.\n");
  expect((await fairway("option get RetryTimes")).out).not.toBe("7\n");
  const [last] = parseRows(await fairway("option history RetryTimes -o jsonl"));
  expect(last).toMatchObject({ old_value: "7", new_value: null });
  expect((await fairway("option set RetryTimes 7")).code).toBe(0);
  await fairway("option set SMTPToken -", "hidden");
  const secret = await fairway("option unset SMTPToken --yes");
  expect(secret.code, secret.err).toBe(0);
  const set = { apiVersion: "fairway.dev/v1alpha1", kind: "OptionSet", metadata: { name: "stored" } };
  await fairway("apply -f -", JSON.stringify({ ...set, spec: { values: { RetryTimes: "6" } } }));
  expect(await fairway("option unset RetryTimes --yes")).toMatchObject({ code: 5 });
  expect((await fairway("option get RetryTimes")).out).toBe("6\n");
  expect((await fairway("option unset Nothing --yes")).code).toBe(3);
});

test("sums calls by the chosen field, the most expensive group first", async () => {
  const rows = parseRows(await fairway("log list --type consume -o jsonl"));
  const quota = rows.reduce((sum, row) => sum + Number(row["quota"]), 0);
  const bill = await fairway("log stats --by user -o csv --columns user,calls,quota,quota_usd");
  expect(bill.err).toBe(`${rows.length} calls, $${(quota / 500_000).toFixed(6)} (${quota} quota).\n`);
  expect(bill.out).toBe(
    `name,requests,quota,quota_usd\nroot,${rows.length},${quota},${(quota / 500_000).toFixed(6)}\n`,
  );
  expect((await fairway("log stats --by channel -o name")).out).toContain("channel/1\n");
  const models = parseRows(await fairway("log stats --by model --model gpt-4o-mini -o jsonl"));
  expect(models).toMatchObject([{ name: "gpt-4o-mini" }]);
  expect((await fairway("log stats --by token")).out).toMatch(
    /^ID +TOKEN +CALLS +IN +OUT +COST +SHARE\n[^]* 1 +laptop/,
  );
});

test("prints errors as JSON when output is JSON, with an exit code of its own for bad usage", async () => {
  const missing = await fairway("channel test 999 -o json");
  expect(missing.code).toBe(3);
  expect(JSON.parse(missing.err)).toMatchObject({
    error: { message: expect.stringContaining("does not exist") as string },
  });
  const usage = await fairway("log list --limit none");
  expect(usage.code).toBe(2);
  expect(usage.err).toContain("whole number");
  const kind = await fairway("channel test user/3");
  expect(kind.code).toBe(2);
  expect(kind.err).toContain("It names a user, not a channel.");
});

test("status prints once for scripts", async () => {
  const overview = json(await fairway("status -o json"));
  expect(overview).toMatchObject({ name: "Harbour", user: "root", channels: { enabled: 2, disabled: 0 } });
});

test("status --watch draws a live screen that follows what happens and ends with q", async () => {
  const terminal = openTerminal(["status", "--watch", "--interval", "1"], env);
  await terminal.sees("▲ 2 enabled");
  const second = ["channel", "create", "--type", "1", "--name", "second", "--models", "gpt-4o", "--key-stdin"];
  expect((await run(second, env, "sk-second")).code).toBe(0);
  await terminal.sees("▲ 3 enabled");
  terminal.type("q");
  expect(await terminal.exited).toBe(0);
});

test("top is one frame for scripts, and says so where there is no terminal", async () => {
  const { code, out, err } = await fairway("top --once");
  expect(code, err).toBe(0);
  expect(out).toMatch(
    /^fairway top {2}http:.* · root\n.* · \d+ calls\/min · .* · errors .*\/hour\nbalance .* · channels \d on, 0 off/,
  );
  expect(out).toMatch(/^ +1 +first +enabled +\d+ +0 +ok +0\.0 %/m);
  expect(out).toMatch(/^LATEST CALLS\nTIME +USER +TOKEN +MODEL [^]*\n20.* root +laptop +gpt-4o-mini/m);
  expect(json(await fairway("top --once -o json"))).toMatchObject({ channels: expect.any(Array) as unknown[] });
  const piped = await fairway("top");
  expect(piped).toMatchObject({ code: 2, out: "" });
  expect(piped.err).toContain("fairway top --once");
});

test("top tests, disables and enables the chosen channel, and leaves the terminal as it was", async () => {
  const top = openTerminal(["top", "--interval", "1"], env);
  // Among equal rows the newest comes first.
  await top.sees(/> +\d+ +(second|broken) +enabled/);
  top.type("jjjj");
  await top.sees(/> +1 +first +enabled/);
  top.type("t");
  await top.sees("channel 1 (first) answered in");
  top.type("d");
  await top.sees("Disable channel 1 (first)? [y/N]");
  top.type("n");
  await top.sees("Nothing was changed.");
  top.type("d");
  await top.sees(/\?[^]*Nothing[^]*\[y\/N\]/);
  top.type("y");
  await top.sees("channel 1 (first) is disabled");
  await top.sees(/> +1 +first +disabled/);
  top.type("e");
  await top.sees("channel 1 (first) is enabled");
  top.type("\t");
  await top.sees("MODELS OF THE LAST MINUTE");
  top.type("p");
  await top.sees("PAUSED");
  top.type("\u0003");
  expect(await top.exited).toBe(0);
  expect(top.raw).toContain("\u001b[?1049h");
  expect(top.raw.lastIndexOf("\u001b[?1049l")).toBeGreaterThan(top.raw.indexOf("\u001b[?1049h"));
  expect(top.raw).toContain("\u001b[?25h");
});

test("the live screen survives a gateway that is away", async () => {
  const terminal = openTerminal(["status", "--watch", "--interval", "1"], env);
  await terminal.sees("enabled");
  await gateway.stop();
  await terminal.sees(/! .*(reach|connect|refused)/i);
  terminal.type("q");
  expect(await terminal.exited).toBe(0);
});

test("a gateway that is away is one sentence with the address", async () => {
  const { code, err } = await fairway("status");
  expect(code).not.toBe(0);
  expect(err).toContain(new URL(gateway.url).host);
  expect(err).not.toMatch(/\n\s+at /);
});
