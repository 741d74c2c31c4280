// The command with answers of compatible gateways: existing features work, missing ones are reported.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CANARY, FAMILIES, NEW_API, ONE_API, ONE_HUB, startRecorded, VELOERA } from "./recorded-families.ts";
import { parseRows } from "./rig.ts";
import { run } from "./terminal.ts";

const CHANNEL_COUNT = { "one-api": 23, "new-api": 1, "one-hub": 123, veloera: 1 } as const;

test.each(FAMILIES)("%s: lists, single things and switches work, and no secret is shown", async (name, answers) => {
  const { env, seen } = await startRecorded(answers);
  const fairway = async (line: string) => {
    const done = await run([...line.split(" "), "--debug"], env);
    expect(done.code, `${line}\n${done.err}`).toBe(0);
    expect(done.out + done.err, line).not.toContain(CANARY);
    return done;
  };
  expect((await fairway("whoami")).out).toContain("super administrator");
  const channels = parseRows(await fairway("channel list -o jsonl"));
  expect(channels[0]).toMatchObject({ id: 3, name: "upstream" });
  expect(new Set(channels.map(({ id }) => id)).size).toBe(channels.length);
  expect(channels).toHaveLength(CHANNEL_COUNT[name]);
  const all = parseRows(await fairway("channel list --limit all -o jsonl"));
  expect(new Set(all.map(({ id }) => id)).size).toBe(CHANNEL_COUNT[name]);
  const part = parseRows(await fairway("channel list --limit 6 --page 3 -o jsonl")).map(({ id }) => id);
  expect(part).toEqual(all.map(({ id }) => id).slice(12, 18));
  expect((await fairway("channel list")).out).toMatch(/3 +upstream +1 +enabled/);
  expect((await fairway("channel get upstream")).out).toContain("gpt-4o,gpt-4o-mini");
  await fairway("channel disable 3");
  await fairway("channel test 3");
  expect(parseRows(await fairway("token list -o jsonl"))).toMatchObject([{ id: 7, name: "laptop" }]);
  expect((await fairway("token get laptop")).out).toContain("laptop");
  expect((await fairway("user list")).out).toContain("root");
  expect(parseRows(await fairway("log list -o jsonl"))).toMatchObject([{ id: 11, quota: 1234 }]);
  expect((await fairway("option get RetryTimes")).out).toBe("2\n");
  expect((await fairway("group list --all")).out).toContain("vip");
  expect(seen.every((one) => one.endsWith(`Bearer ${CANARY} 1`))).toBe(true);
});

test.each(FAMILIES)("%s: status shows its name, version and channels", async (name, answers) => {
  const { env } = await startRecorded(answers);
  const { code, out, err } = await run(["status"], env);
  expect(code, err).toBe(0);
  const { system_name: title, version } = answers["/api/status"] as Record<string, string>;
  expect(out).toContain(title);
  expect(out).toContain(version);
  expect(out).toMatch(
    name === "one-api" || name === "one-hub" ? /not counted by this gateway/ : /3 requests, 90 tokens/,
  );
  expect(out + err).not.toMatch(/undefined|NaN|Invalid Date/);
  const counted = parseRows(await run(["status", "-o", "jsonl"], env));
  expect(counted).toMatchObject([{ channels: { enabled: CHANNEL_COUNT[name] } }]);
});

test.each([
  ["new-api", NEW_API],
  ["veloera", VELOERA],
] as const)("%s: pricing lists its prices", async (_name, answers) => {
  const { env } = await startRecorded(answers);
  const { code, out, err } = await run(["pricing", "list"], env);
  expect(code, err).toBe(0);
  expect(out).toMatch(/gpt-4o .*2\.5.*10/);
  expect(out + err).not.toMatch(/undefined|NaN/);
});

test.each([
  ["one-api", ONE_API],
  ["one-hub", ONE_HUB],
] as const)("%s: pricing is one sentence that names the call", async (_name, answers) => {
  const { env } = await startRecorded(answers);
  const { code, out, err } = await run(["pricing", "list"], env);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toContain("has no call GET /api/pricing");
});

describe("login", () => {
  let home: string;
  beforeEach(async () => void (home = await mkdtemp(join(tmpdir(), "fairway-compatible-"))));
  afterEach(() => rm(home, { recursive: true, force: true }));

  test.each(FAMILIES)("%s: a password replaces the only token after the person agrees", async (_name, answers) => {
    const { env, seen } = await startRecorded(answers);
    const config = { FAIRWAY_CONFIG: join(home, "credentials.json") };
    const address = env["FAIRWAY_SERVER"] ?? "";
    const login = ["login", address, "--username", "root", "--password-stdin"];
    const refused = await run(login, config, "password\n");
    expect(refused.code, refused.err).toBe(2);
    expect(refused.err).toContain("one access token for each account");
    expect(refused.err).toContain("--replace-token");
    expect(seen.filter((one) => one.startsWith("GET /api/user/token"))).toEqual([]);
    const replaced = await run([...login, "--replace-token"], config, "password\n");
    expect(replaced.code, replaced.err).toBe(0);
    expect(replaced.out + replaced.err).not.toContain(CANARY);
    expect(JSON.parse(await readFile(config.FAIRWAY_CONFIG, "utf8"))).toMatchObject({
      token: `${CANARY}-new`,
      userId: 1,
    });
    expect((await run(["whoami"], config)).code).toBe(0);
    expect(seen.at(-1)).toMatch(`Bearer ${CANARY}-new 1`);
  });

  test.each(FAMILIES)("%s: a token is stored with the id of its owner", async (_name, answers) => {
    const { env, seen } = await startRecorded(answers);
    const config = { FAIRWAY_CONFIG: join(home, "credentials.json") };
    const login = ["login", env["FAIRWAY_SERVER"] ?? "", "--token-stdin", "--user-id", "1"];
    const { code, err } = await run(login, config, `${CANARY}\n`);
    expect(code, err).toBe(0);
    expect(seen.at(-1)).toBe(`GET /api/user/self Bearer ${CANARY} 1`);
  });
});

test.each(FAMILIES)("%s: what only Fairway has is one sentence that names the call", async (_name, answers) => {
  const { env } = await startRecorded(answers);
  for (const [line, call] of [
    ["channel types", "GET /api/channel/types"],
    ["export", "GET /api/declarative/export"],
    ["option history", "GET /api/option/history"],
  ] as const) {
    const { code, out, err } = await run(line.split(" "), env);
    expect({ code, out }, line).toEqual({ code: 1, out: "" });
    expect(err, line).toContain(`has no call ${call}`);
    expect(err).toContain("it is a compatible gateway");
  }
});

test("a log that a gateway cannot stream is listed whole or not at all", async () => {
  const [row] = ONE_API["/api/log/"] as readonly object[];
  const logs = (count: number) => Array.from({ length: count }, (_one, at) => ({ ...row, id: at + 1 }));
  const few = await startRecorded({ ...ONE_API, "/api/log/": logs(9) });
  for (const flags of ["", " --limit all"])
    expect(parseRows(await run(`log list -o jsonl${flags}`.split(" "), few.env))).toHaveLength(9);
  const many = await startRecorded({ ...ONE_API, "/api/log/": logs(25) });
  for (const flags of ["", " -o csv", " --limit all"]) {
    const { code, out, err } = await run(`log list${flags}`.split(" "), many.env);
    expect({ code, out }, flags).toEqual({ code: 1, out: "" });
    expect(err).toContain("has no call GET /api/log/export");
  }
  expect(parseRows(await run("log list -o jsonl --limit 5".split(" "), many.env))).toHaveLength(5);
});

test("LiteLLM has no calls of this family, and that is one sentence", async () => {
  const litellm = createServer((_request, response) => {
    response.writeHead(404, { "content-type": "application/json" }).end('{"detail":"Not Found"}');
  }).listen(0, "127.0.0.1");
  await once(litellm, "listening");
  const address = `http://127.0.0.1:${(litellm.address() as AddressInfo).port}`;
  const env = { FAIRWAY_SERVER: address, FAIRWAY_TOKEN: CANARY, FAIRWAY_USER_ID: "1" };
  for (const line of ["status", "channel list", "whoami"]) {
    const { code, out, err } = await run(line.split(" "), env);
    expect({ code, out }, line).toEqual({ code: 7, out: "" });
    expect(err, line).toContain("is not a Fairway gateway");
    expect(err.split("\n").length, err).toBeLessThan(4);
  }
  litellm.close();
});

test("a server that answers like a model provider is still no gateway", async () => {
  const { env } = await startRecorded({});
  const { code, err } = await run(["status"], env);
  expect(code).toBe(7);
  expect(err).toContain("is not a Fairway gateway");
});
