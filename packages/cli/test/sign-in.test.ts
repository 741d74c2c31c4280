// The identity of a command, and how secrets are protected: real gateway, pipes and a pseudo-terminal.
import { createClient, twoFactorBegin, twoFactorConfirm, userCreate, type Client } from "@fairway/wire";
import { ROOT_PASSWORD, startGateway, type GatewayProcess } from "@fairway/testkit";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signInByPassword } from "../src/commands/account/login.ts";
import { createTransport } from "../src/session/transport.ts";
import { openTerminal, run } from "./terminal.ts";

const USER = "alice";
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const PASSWORD = " alice's pass-phrase ";

let gateway: GatewayProcess;
let home: string;
let root: Record<string, string>;
let alice: Record<string, string>;

beforeAll(async () => {
  gateway = await startGateway();
  home = await mkdtemp(join(tmpdir(), "fairway-cli-"));
  root = { FAIRWAY_CONFIG: join(home, "root.json") };
  alice = { FAIRWAY_CONFIG: join(home, "alice.json") };
});

afterAll(async () => {
  await gateway?.stop();
  if (home) await rm(home, { recursive: true, force: true });
});

async function readStoredToken({ FAIRWAY_CONFIG = "" }: Record<string, string>): Promise<string> {
  return (JSON.parse(await readFile(FAIRWAY_CONFIG, "utf8")) as { token: string }).token;
}

async function createTestClient(env: Record<string, string>): Promise<Client> {
  const headers = { Authorization: `Bearer ${await readStoredToken(env)}` };
  return createClient({ baseUrl: gateway.url, fetch, headers: () => headers });
}

/** Returns the six digits that an authenticator shows now. */
function calculateTotp(secret: string): string {
  const bits = secret.split("").map((one) => BASE32.indexOf(one).toString(2).padStart(5, "0"));
  const key = Buffer.from((bits.join("").match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
  const moment = Buffer.alloc(8);
  moment.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const hash = createHmac("sha1", key).update(moment).digest();
  const at = (hash.at(-1) ?? 0) & 0xf;
  return String((hash.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

test("Ctrl-C and Ctrl-D at a prompt are 130", async () => {
  for (const key of ["\u0003", "\u0004"]) {
    const terminal = openTerminal(["login", gateway.url], root);
    await terminal.sees("Username:");
    terminal.type(key);
    expect(await terminal.exited).toBe(130);
    expect(terminal.shown).not.toContain("Aborted");
  }
});

test("an address of this machine needs no scheme, and a password keeps its blanks", async () => {
  const first = openTerminal(["login", new URL(gateway.url).host, "--username", "root"], root);
  await first.sees("Password:");
  first.type(`${ROOT_PASSWORD}\r`);
  expect(await first.exited).toBe(0);
  const { call } = await createTestClient(root);
  await call(userCreate, { body: { username: USER, password: PASSWORD, display_name: USER } });
  const second = openTerminal(["login", gateway.url, "--username", USER], alice);
  await second.sees("Password:");
  second.type(`${PASSWORD}\r`);
  await second.sees(`as ${USER} (user)`);
  expect(await second.exited).toBe(0);
});

test("a token of the environment acts as its own user, not as the stored one", async () => {
  const { code, out, err } = await run(["status", "-o", "json"], {
    ...root,
    FAIRWAY_TOKEN: await readStoredToken(alice),
  });
  expect(code, err).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ user: USER });
  const other = await run(["status"], { ...root, FAIRWAY_TOKEN: await readStoredToken(alice), FAIRWAY_USER_ID: "1" });
  expect(other.code).toBe(4);
  expect(other.err).toContain("FAIRWAY_USER_ID");
});

test("--user is refused where it would not narrow anything", async () => {
  const { code, out, err } = await run(["log", "list", "--user", "root"], alice);
  expect({ code, out }).toEqual({ code: 6, out: "" });
  expect(err).toContain("--user is for administrators");
});

test("a stored token never goes to another server", async () => {
  const asked: (string | undefined)[] = [];
  let status = 200;
  const stranger: Server = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.writeHead(status).end("<html>");
  }).listen(0, "127.0.0.1");
  try {
    await once(stranger, "listening");
    const address = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
    const { code, err } = await run(["status"], { ...root, FAIRWAY_SERVER: address });
    expect(code).toBe(4);
    expect(err).toContain("FAIRWAY_TOKEN");
    expect(asked).toEqual([]);
    for (status of [200, 404]) {
      const login = await run(["login", address, "--token-stdin"], root, "t0ken");
      expect(login.code).toBe(7);
      expect(login.err).toContain(`${address} is not a Fairway gateway`);
    }
    expect(asked).toEqual([undefined, undefined]);
  } finally {
    stranger.close();
  }
});

test("what cannot be a token is refused without being quoted", async () => {
  const { code, err } = await run(["login", gateway.url, "--token-stdin"], root, "first-secret\nsecond-secret\n");
  expect(code).toBe(2);
  expect(err).toContain("standard input holds no access token");
  expect(err).not.toContain("secret\n");
  expect(err).not.toContain("first-secret");
});

test("a key in a terminal is asked for and not shown", async () => {
  const create = ["channel", "create", "--type", "1", "--name", "asked", "--models", "gpt-4o", "--key-stdin"];
  const terminal = openTerminal(create, root);
  await terminal.sees("Key (one line):");
  terminal.type("sk-typed-by-hand\r");
  await terminal.sees("Created channel");
  expect(await terminal.exited).toBe(0);
  expect(terminal.shown).not.toContain("sk-typed-by-hand");
});

test("where two-factor sign-in is on, the code is asked for", async () => {
  // Access tokens cannot change credentials.
  const transport = createTransport({ timeoutMs: 60_000, retries: 0, note: () => undefined });
  const { call } = (await signInByPassword(transport, gateway.url, { username: USER, password: PASSWORD })).client;
  const { data: begun } = await call(twoFactorBegin, {});
  const { data: confirmed } = await call(twoFactorConfirm, { body: { code: calculateTotp(begun.secret) } });
  const terminal = openTerminal(["login", gateway.url, "--username", USER], alice);
  await terminal.sees("Password:");
  terminal.type(`${PASSWORD}\r`);
  await terminal.sees("recovery code:");
  terminal.type(`${confirmed.recovery_codes[0] ?? ""}\r`);
  await terminal.sees(`as ${USER}`);
  expect(await terminal.exited).toBe(0);
});
