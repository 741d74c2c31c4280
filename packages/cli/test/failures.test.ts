// Gateways that die, hang or grow during a call, and readers that go away.
import { createClient, optionUpdate, type Client } from "@fairway/wire";
import {
  ROOT_PASSWORD,
  startGateway,
  startUpstream,
  UPSTREAM_KEY,
  type GatewayProcess,
  type Upstream,
} from "@fairway/testkit";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { environment, openTerminal, PROGRAM, run } from "./terminal.ts";

let upstream: Upstream;
let gateway: GatewayProcess;
let home: string;
let env: Record<string, string>;
let token: string;
let client: Client;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway();
  home = await mkdtemp(join(tmpdir(), "fairway-cli-"));
  env = { FAIRWAY_CONFIG: join(home, "credentials.json") };
  const terminal = openTerminal(["login", gateway.url, "--username", "root"], env);
  await terminal.sees("Password:");
  terminal.type(`${ROOT_PASSWORD}\r`);
  await terminal.exited;
  token = (JSON.parse(await readFile(join(home, "credentials.json"), "utf8")) as { token: string }).token;
  const headers = { Authorization: `Bearer ${token}` };
  client = createClient({ baseUrl: gateway.url, fetch, headers: () => headers });
});

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  if (home) await rm(home, { recursive: true, force: true });
});

const fairway = (args: string, input?: string) => run(args.split(" "), env, input);
const create = (name: string, key: string, more = "") =>
  fairway(
    `channel create --type 1 --name ${name} --models gpt-4o-mini --base-url ${upstream.url} --key-stdin${more}`,
    key,
  );

/** Starts a server with this `answer`; returns the environment that points at it. */
async function between(answer: RequestListener) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { address, stop, env: { FAIRWAY_SERVER: address, FAIRWAY_TOKEN: token } };
}

/** Passes a call on to the gateway unchanged. */
async function pass(...[request, response]: Parameters<RequestListener>): Promise<void> {
  const headers = { authorization: request.headers.authorization ?? "" };
  const answer = await fetch(gateway.url + (request.url ?? ""), { headers });
  response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
}

test("an amount whose answer was lost counts once when it is sent again", async () => {
  let isLost = false;
  const forward = async (...[request, response]: Parameters<RequestListener>) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const names = ["authorization", "content-type", "idempotency-key"] as const;
    const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name] ?? "")]));
    const body = request.method === "GET" ? {} : { body: Buffer.concat(chunks) };
    const answer = await fetch(gateway.url + (request.url ?? ""), {
      method: request.method ?? "GET",
      headers,
      ...body,
    });
    const text = await answer.text();
    if (isLost || request.url !== "/api/user/manage")
      return void response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
    isLost = true;
    response.destroy();
  };
  const proxy = await between((...call) => void forward(...call));
  const before = JSON.parse((await fairway("user get 1 -o json")).out) as { quota: number };
  const tried = await run("user quota 1 --add 500".split(" "), proxy.env);
  expect(tried.code).toBe(7);
  const again = /run it again with (--idempotency-key \S+), and it counts once/.exec(tried.err)?.[1];
  expect(again, tried.err).toBeDefined();
  const done = await run(`user quota 1 --add 500 ${again} -o json`.split(" "), proxy.env);
  expect(done.code, done.err).toBe(0);
  expect(JSON.parse(done.out)).toMatchObject({ quota: before.quota + 500 });
  const other = await run(`user quota 1 --add 501 ${again}`.split(" "), proxy.env);
  expect(other.code).toBe(5);
  expect(other.err).toContain("This Idempotency-Key was sent with another change before");
  proxy.stop();
});

test("a new channel is found among many whose names begin alike, and by no other's id", async () => {
  const many = Array.from({ length: 101 }, (_one, at) => `key-${at}`).join("\n");
  expect((await create("prod-eu", many, " --priority 5")).code).toBe(0);
  const { code, out, err } = await create("prod", UPSTREAM_KEY, " -o json");
  expect(code, err).toBe(0);
  expect(JSON.parse(out)).toEqual({ id: 102, name: "prod" });
});

test("all channels that a key of several lines makes are named", async () => {
  const { code, out, err } = await create("three", "key-1\nkey-2\nkey-3\n", " -o jsonl");
  expect(code, err).toBe(0);
  const ids = out
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { id: number }).id);
  expect(ids).toEqual([103, 104, 105]);
  expect(err).toContain("fairway channel test 103 104 105");
});

test("tests the other channels when one no longer exists", async () => {
  const { code, out, err } = await fairway("channel test 999 102 -o json");
  expect(code, err).toBe(8);
  expect(JSON.parse(out)).toMatchObject({
    kind: "ChannelTestList",
    items: [
      { id: 999, ok: false, message: "Channel 999 does not exist." },
      { id: 102, ok: true },
    ],
  });
});

test("a key that is not there names the flag and the file", async () => {
  const { code, err } = await fairway("channel create --type 1 --name x --models m --key-file /nowhere/key");
  expect(code).toBe(2);
  expect(err).toContain("--key-file: /nowhere/key cannot be read (ENOENT)");
  expect((await create("x", "")).err).toContain("standard input holds no key");
});

test("dollars are counted in the units of this gateway", async () => {
  await client.call(optionUpdate, { body: { key: "QuotaPerUnit", value: "1000000" } });
  const { out } = await fairway("token create --name dear --quota 5usd -o json");
  expect(JSON.parse(out)).toMatchObject({ remain_quota: 5_000_000 });
});

test("rows that come in between two pages of the log are not listed twice", async () => {
  for (let at = 0; at < 150; at++)
    await client.call(optionUpdate, { body: { key: "SystemName", value: `Harbour ${at}` } });
  let pages = 0;
  const busy = await between((request, response) => {
    const isPage = request.url?.startsWith("/api/log/?") === true;
    const grown =
      isPage && ++pages === 2 ? client.call(optionUpdate, { body: { key: "SystemName", value: "Later" } }) : undefined;
    void Promise.resolve(grown).then(() => pass(request, response));
  });
  try {
    const { code, out, err } = await run(
      ["log", "list", "--type", "manage", "--limit", "500", "-o", "jsonl"],
      busy.env,
    );
    expect(code, err).toBe(0);
    const ids = out
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { id: number }).id);
    expect(pages).toBe(2);
    expect(ids.length).toBeGreaterThan(150);
    expect(new Set(ids).size).toBe(ids.length);
  } finally {
    busy.stop();
  }
});

test("a gateway that dies in the middle of an answer is unreachable by its name", async () => {
  const dying = await between((_request, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"success":tr', () => response.destroy());
  });
  try {
    const { code, err } = await run(["channel", "list"], dying.env);
    expect(code).toBe(7);
    expect(err).toContain(`${dying.address} cannot be reached`);
  } finally {
    dying.stop();
  }
});

test("an address that only redirects names the one that it leads to", async () => {
  const door = await between((_request, response) => {
    response.writeHead(308, { location: "https://ai.example.com/" }).end();
  });
  try {
    const { code, err } = await run(["status"], door.env);
    expect(code).toBe(7);
    expect(err).toContain(`${door.address} sends requests on to https://ai.example.com`);
  } finally {
    door.stop();
  }
});

test("the live screen asks a silent gateway once at a time, and q ends it at once", async () => {
  let isSilent = false;
  let open = 0;
  let most = 0;
  const silent = await between((request, response) => {
    if (!isSilent) return void pass(request, response);
    most = Math.max(most, ++open);
    response.once("close", () => open--);
  });
  try {
    const terminal = openTerminal(["status", "--watch", "--interval", "1"], silent.env);
    await terminal.sees("enabled");
    isSilent = true;
    await expect.poll(() => most).toBeGreaterThan(0);
    const since = Date.now();
    await expect.poll(() => Date.now() - since).toBeGreaterThan(3_000);
    terminal.type("q");
    const asked = Date.now();
    expect(await terminal.exited).toBe(0);
    expect(Date.now() - asked).toBeLessThan(10_000);
    expect(most).toBeLessThanOrEqual(2);
  } finally {
    silent.stop();
  }
});

test("an interval that no timer holds is refused", async () => {
  const { code, err } = await fairway("status --interval 9999999");
  expect(code).toBe(2);
  expect(err).toContain("3600 at most");
});

test("an output that cannot be written is a failure, a reader of messages that left is none", async () => {
  const full = openSync("/dev/full", "w");
  const child = spawn(process.execPath, [PROGRAM, "option", "get"], {
    env: environment(env),
    stdio: ["ignore", full, "pipe"],
  });
  closeSync(full);
  let err = "";
  child.stderr?.on("data", (part: Buffer) => (err += part.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  expect(code).toBe(1);
  expect(err).toContain("the output could not be written (ENOSPC)");

  const unheard = spawn(process.execPath, [PROGRAM, "bogus"], {
    env: environment(env),
    stdio: ["ignore", "ignore", "pipe"],
  });
  unheard.stderr?.destroy();
  expect(await once(unheard, "close")).toEqual([2, null]);
});
