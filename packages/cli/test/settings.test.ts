// The program's own settings and flags: what it stores, asks and prints.
import { chmod, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseJsonOutput, parseRows, startRig, type Rig } from "./rig.ts";
import { openTerminal, run } from "./terminal.ts";

let rig: Rig;
let home: string;
beforeAll(async () => {
  rig = await startRig();
  home = await mkdtemp(join(tmpdir(), "fairway-settings-"));
});
afterAll(async () => {
  await rig?.stop();
  await rm(home, { recursive: true, force: true });
});

test("config edit changes all defaults at once, and keeps a text that is wrong", async () => {
  const env = { XDG_CONFIG_HOME: home };
  const edit = (script: string) => openTerminal(["config", "edit"], { ...env, EDITOR: `sed -i '${script}'` });
  const terminal = edit(`s/{}/{"retries": 9, "output": "json"}/`);
  expect(await terminal.exited, terminal.shown).toBe(0);
  expect(parseRows(await run(["config", "view", "-o", "jsonl"], env))).toMatchObject([
    { setting: "output", value: "json" },
    { setting: "timeout", value: 60 },
    { setting: "retries", value: 9 },
  ]);
  const wrong = edit("s/9/many/");
  expect(await wrong.exited).not.toBe(0);
  expect(wrong.shown).toContain("your text is in");
  expect((await run(["config", "get", "retries", "-o", "raw"], env)).out).toBe("9\n");
  expect((await run(["config", "edit"], env)).code).toBe(2);
});

test("doctor --fix closes a sign-in that others can read", async () => {
  await chmod(rig.env["FAIRWAY_CONFIG"] ?? "", 0o644);
  const open = await rig.fairway("doctor");
  expect(open.code).toBe(1);
  expect(open.out).toMatch(/^FAIL +files +.* can be read by others .*chmod 600/m);
  const fixed = await rig.fairway("doctor --fix");
  expect(fixed.code, fixed.err).toBe(0);
  expect(fixed.err).toContain("Only you can read");
  expect((await stat(rig.env["FAIRWAY_CONFIG"] ?? "")).mode & 0o777).toBe(0o600);
});

test("context add signs in without going there", async () => {
  const env = { XDG_CONFIG_HOME: join(home, "contexts") };
  const add = (name: string) => run(["context", "add", name, rig.gateway.url, "--token-stdin"], env, rig.token);
  const added = await add("staging");
  expect(added.code, added.err).toBe(0);
  expect((await run(["context", "show"], env)).out).toBe("default\n");
  expect(parseJsonOutput(await run(["-c", "staging", "whoami", "-o", "json"], env))).toMatchObject({
    username: "root",
  });
  expect((await add("staging")).code).toBe(5);
});

test("--no-input asks nothing, also in a terminal", async () => {
  await rig.fairway("token create --name asked");
  const terminal = openTerminal(["token", "delete", "asked", "--no-input"], rig.env);
  expect(await terminal.exited).toBe(2);
  expect(terminal.shown).toContain("add --yes if it is meant");
  expect((await rig.fairway("token get asked")).code).toBe(0);
});

test("--request-id tells the id of each call", async () => {
  const { code, err } = await rig.fairway("whoami --request-id -o json");
  expect(code).toBe(0);
  expect(err).toMatch(/^request \S{16,}\n/);
});
