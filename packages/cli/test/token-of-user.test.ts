// `token get` as an administrator, against a real gateway.
import { signIn as signInAs } from "@fairway/testkit";
import type { Token } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseJsonOutput, parseRows, signIn, startRig, type Rig } from "./rig.ts";
import { run } from "./terminal.ts";
import { join } from "node:path";

const PASSWORD = "analytical-engine-1843";
let rig: Rig;
let token: Token;

beforeAll(async () => {
  rig = await startRig();
  const root = await signInAs(rig.gateway.url);
  for (const username of ["ada", "bob"]) await root.must("POST", "/api/user/", { username, password: PASSWORD });
  const ada = await signInAs(rig.gateway.url, "ada", PASSWORD);
  token = await ada.must<Token>("POST", "/api/token/", { name: "build-bot", unlimited_quota: true });
});
afterAll(() => rig?.stop());

test("an administrator reads a user's token by its id, without any part of its key", async () => {
  const { code, out, err } = await rig.fairway(`token get ${token.id}`);
  expect(code, err).toBe(0);
  expect(out).toMatch(/^name +build-bot$/m);
  expect(out).toMatch(/^owner +ada$/m);
  expect(out).toMatch(/^key +only its owner sees it$/m);
  expect(out).not.toContain(token.key.slice(0, 4));
  const data = parseJsonOutput(await rig.fairway(`token get ${token.id} -o json`));
  expect(data).toMatchObject({ id: token.id, username: "ada", key_hint: "" });
  expect((await rig.fairway(`token key ${token.id}`)).code).toBe(3);
});

test("an administrator disables it, and its owner cannot enable it again", async () => {
  const env = { FAIRWAY_CONFIG: join(rig.home, "ada.json") };
  await signIn(rig.gateway.url, env, { username: "ada", password: PASSWORD });
  const disabled = await rig.fairway(`token disable ${token.id}`);
  expect(disabled.code, disabled.err).toBe(0);
  expect((await run(["token", "get", "build-bot"], env)).out).toMatch(/^status +disabled by an administrator$/m);
  const refused = await run(["token", "enable", "build-bot"], env);
  expect(refused.code).toBe(6);
  expect(refused.err).toContain("An administrator disabled this token. Ask an administrator to enable it.");
  expect((await rig.fairway(`token enable ${token.id}`)).code).toBe(0);
  expect((await run(["token", "get", "build-bot"], env)).out).toMatch(/^status +enabled$/m);
});

test("a leaked key is found by the whole key, and everything that takes a token takes it", async () => {
  const { key } = token;
  const found = await rig.fairway(`token find sk-${key}`);
  expect(found.code, found.err).toBe(0);
  expect(found.out).toMatch(/^owner +ada$/m);
  expect(found.out).not.toContain(key.slice(0, 4));
  expect((await rig.fairway("token find - -o name", `sk-${key}\n`)).out).toBe(`token/${token.id}\n`);
  expect(parseRows(await rig.fairway(`token list --search sk-${key} -o jsonl`))).toMatchObject([{ id: token.id }]);
  expect((await rig.fairway(`log list --token sk-${key}`)).code).toBe(0);
  expect((await rig.fairway(`token disable sk-${key}`)).code).toBe(0);
  expect((await rig.fairway(`token enable ${key}`)).code).toBe(0);
});

test("an unknown key is said to be none, without repeating it", async () => {
  const unknown = `sk-${"0".repeat(48)}`;
  const { code, err } = await rig.fairway(`token find ${unknown}`);
  expect(code).toBe(3);
  expect(err).toContain("there is no token with this key");
  expect(err).not.toContain("0000");
  expect(parseRows(await rig.fairway(`token list --search ${unknown} -o jsonl`))).toEqual([]);
  const env = { FAIRWAY_CONFIG: join(rig.home, "bob.json") };
  await signIn(rig.gateway.url, env, { username: "bob", password: PASSWORD });
  expect((await run(["token", "find", `sk-${token.key}`], env)).code).toBe(3);
});

test("another user learns nothing, not even that there is such a token", async () => {
  const env = { FAIRWAY_CONFIG: join(rig.home, "bob.json") };
  await signIn(rig.gateway.url, env, { username: "bob", password: PASSWORD });
  const { code, err } = await run(["token", "get", String(token.id)], env);
  expect(code).toBe(3);
  expect(err).toBe((await run(["token", "get", "999"], env)).err.replace("999", String(token.id)));
});
