// The command against answers as compatible gateways give them: what they have works, what they lack is said.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { rowsOf } from "./rig.ts";
import { run } from "./terminal.ts";

const CANARY = "canary-3f8a";
const CHANNEL = {
  id: 3,
  type: 1,
  key: "",
  openai_organization: null,
  test_model: null,
  status: 1,
  name: "upstream",
  weight: 0,
  created_time: 1_730_000_000,
  test_time: 1_730_000_100,
  response_time: 812,
  base_url: "",
  other: "",
  balance: 0,
  balance_updated_time: 0,
  models: "gpt-4o,gpt-4o-mini",
  group: "default",
  used_quota: 500_000,
  model_mapping: "",
  priority: 5,
};
const TOKEN = {
  id: 7,
  user_id: 1,
  key: `${CANARY}0123456789abcdef`,
  status: 1,
  name: "laptop",
  created_time: 1_730_000_000,
  accessed_time: 1_730_000_000,
  expired_time: -1,
  remain_quota: 500_000,
  unlimited_quota: false,
  used_quota: 100,
};
const USER = {
  id: 1,
  username: "root",
  display_name: "Root",
  role: 100,
  status: 1,
  quota: 5_000_000,
  used_quota: 9,
  request_count: 4,
  group: "default",
  access_token: CANARY,
};
const LOG = {
  id: 11,
  user_id: 1,
  created_at: 1_730_000_200,
  type: 2,
  content: "model ratio 1.25",
  username: "root",
  token_name: "laptop",
  model_name: "gpt-4o",
  quota: 1234,
  prompt_tokens: 12,
  completion_tokens: 30,
};
const STARTED = 1_730_000_000;
const OPTIONS = [{ key: "RetryTimes", value: "2" }];

type Answers = Readonly<Record<string, unknown>>;

/** Rows alone, ten a page, and a log that is such a list as well. */
const ONE_API: Answers = {
  "/api/status": {
    version: "v0.6.10",
    start_time: STARTED,
    system_name: "One API",
    quota_per_unit: 500_000,
    display_in_currency: true,
  },
  "/api/user/self": USER,
  "/api/channel/": [
    CHANNEL,
    ...Array.from({ length: 22 }, (_one, at) => ({ ...CHANNEL, id: at + 10, name: `other-${at}` })),
  ],
  "/api/channel/3": CHANNEL,
  "/api/channel/test/3": undefined,
  "/api/token/": [TOKEN],
  "/api/token/7": TOKEN,
  "/api/user/": [USER],
  "/api/user/1": USER,
  "/api/log/": [{ ...LOG, channel: 3, elapsed_time: 800 }],
  "/api/option/": OPTIONS,
  "/api/group/": ["default", "vip"],
  "/api/log/stat": { quota: 1234 },
  "/api/user/login": { id: 1, username: "root", display_name: "Root", role: 100, status: 1 },
  "/api/user/token": `${CANARY}-new`,
};

const PRICE = {
  model_name: "gpt-4o",
  quota_type: 0,
  model_ratio: 1.25,
  model_price: 0,
  owner_by: "",
  completion_ratio: 4,
};

/** A page around the rows of every list. */
const NEW_API: Answers = {
  ...ONE_API,
  "/api/log/stat": { quota: 1234, rpm: 3, tpm: 90 },
  "/api/pricing": [{ ...PRICE, enable_groups: ["default"], supported_endpoint_types: ["openai"] }],
  "/api/status": {
    version: "v0.9.3",
    start_time: STARTED,
    system_name: "New API",
    quota_per_unit: 500_000,
    display_in_currency: true,
  },
  "/api/channel/": { items: [CHANNEL], total: 1, page: 1, page_size: 10 },
  "/api/token/": { items: [TOKEN], total: 1, page: 1, page_size: 10 },
  "/api/user/": { items: [USER], total: 1, page: 1, page_size: 10 },
  "/api/log/": {
    items: [
      {
        ...LOG,
        use_time: 1,
        is_stream: true,
        channel: 3,
        channel_name: "upstream",
        token_id: 7,
        group: "default",
        ip: "",
        other: "",
      },
    ],
    total: 1,
    page: 1,
    page_size: 10,
  },
};

/** Pages of another shape, as one-hub and done-hub have: rows in `data`, with `total_count` next to them. */
const paged = (rows: readonly unknown[]) => ({ data: rows, page: 1, size: 10, total_count: rows.length });
const ONE_HUB: Answers = {
  ...ONE_API,
  "/api/status": {
    version: "v0.14.27",
    start_time: STARTED,
    system_name: "One Hub",
    quota_per_unit: 500_000,
    display_in_currency: true,
  },
  "/api/channel/": paged(
    Array.from({ length: 123 }, (_one, at) => ({ ...CHANNEL, id: at + 3, name: at === 0 ? "upstream" : `hub-${at}` })),
  ),
  "/api/token/": paged([{ ...TOKEN, setting: { heartbeat: { enabled: false, timeout_seconds: 30 } } }]),
  "/api/user/": paged([USER]),
  "/api/log/": paged([{ ...LOG, channel_id: 3, channel: { name: "upstream" }, request_time: 800, is_stream: false }]),
};

/** Those of new-api, with further members. */
const VELOERA: Answers = {
  ...NEW_API,
  "/api/pricing": [{ ...PRICE, enable_groups: ["default"] }],
  "/api/status": {
    version: "v0.4.2",
    start_time: STARTED,
    system_name: "Veloera",
    quota_per_unit: 500_000,
    display_in_currency: true,
  },
  "/api/channel/": {
    items: [{ ...CHANNEL, tag: null, setting: null, model_prefix: "", system_prompt: "", status_code_mapping: "" }],
    total: 1,
    page: 1,
    page_size: 10,
  },
};

const FAMILIES = [
  ["one-api", ONE_API],
  ["new-api", NEW_API],
  ["one-hub", ONE_HUB],
  ["veloera", VELOERA],
] as const;

let server: Server | undefined;
afterEach(() => void server?.close());

interface Gateway {
  readonly env: Record<string, string>;
  readonly seen: string[];
}

async function start(answers: Answers): Promise<Gateway> {
  const seen: string[] = [];
  server = createServer((request, response) => {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    seen.push(`${request.method} ${path} ${userOf(request)}`);
    const isKnown = Object.hasOwn(answers, path);
    const body = isKnown
      ? { success: true, message: "", data: request.method === "PUT" ? CHANNEL : pageOf(answers[path], request) }
      : {
          error: {
            message: `Invalid URL (${request.method} ${path})`,
            type: "invalid_request_error",
            param: "",
            code: "",
          },
        };
    const cookie = path === "/api/user/login" ? { "set-cookie": "session=recorded; Path=/; HttpOnly" } : {};
    response
      .writeHead(isKnown ? 200 : 404, { "content-type": "application/json", ...cookie })
      .end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { env: { FAIRWAY_SERVER: address, FAIRWAY_TOKEN: CANARY, FAIRWAY_USER_ID: "1" }, seen };
}

/** Ten rows at a time, whatever is asked for. */
function pageOf(data: unknown, { url }: IncomingMessage): unknown {
  const query = new URL(url ?? "", "http://gateway").searchParams;
  const page = Number(query.get("p") ?? 0);
  if (isHubPage(data)) {
    const [number, size] = [Number(query.get("page") ?? 1), Number(query.get("size") ?? 10)];
    return { ...data, page: number, size, data: data.data.slice((number - 1) * size, number * size) };
  }
  return Array.isArray(data) && url?.includes("page_size") ? data.slice(page * 10, page * 10 + 10) : data;
}

function isHubPage(data: unknown): data is ReturnType<typeof paged> {
  return typeof data === "object" && data !== null && "total_count" in data;
}

function userOf({ headers }: IncomingMessage): string {
  return `${String(headers.authorization ?? "")} ${String(headers["new-api-user"] ?? "")}`;
}

/** A list without a limit ends at 100. */
const CHANNEL_COUNT = { "one-api": 23, "new-api": 1, "one-hub": 100, veloera: 1 } as const;

test.each(FAMILIES)("%s: lists, single things and switches work, and no secret is shown", async (name, answers) => {
  const { env, seen } = await start(answers);
  const fairway = async (line: string) => {
    const done = await run([...line.split(" "), "--debug"], env);
    expect(done.code, `${line}\n${done.err}`).toBe(0);
    expect(done.out + done.err, line).not.toContain(CANARY);
    return done;
  };
  expect((await fairway("whoami")).out).toContain("super administrator");
  const channels = rowsOf(await fairway("channel list -o jsonl"));
  expect(channels[0]).toMatchObject({ id: 3, name: "upstream" });
  expect(new Set(channels.map(({ id }) => id)).size).toBe(channels.length);
  expect(channels).toHaveLength(CHANNEL_COUNT[name]);
  const all = rowsOf(await fairway("channel list --limit all -o jsonl"));
  expect(new Set(all.map(({ id }) => id)).size).toBe(name === "one-hub" ? 123 : CHANNEL_COUNT[name]);
  const part = rowsOf(await fairway("channel list --limit 6 --page 3 -o jsonl")).map(({ id }) => id);
  expect(part).toEqual(all.map(({ id }) => id).slice(12, 18));
  expect((await fairway("channel list")).out).toMatch(/3 +upstream +1 +enabled/);
  expect((await fairway("channel get upstream")).out).toContain("gpt-4o,gpt-4o-mini");
  await fairway("channel disable 3");
  await fairway("channel test 3");
  expect(rowsOf(await fairway("token list -o jsonl"))).toMatchObject([{ id: 7, name: "laptop" }]);
  expect((await fairway("token get laptop")).out).toContain("laptop");
  expect((await fairway("user list")).out).toContain("root");
  expect(rowsOf(await fairway("log list -o jsonl"))).toMatchObject([{ id: 11, quota: 1234 }]);
  expect((await fairway("option get RetryTimes")).out).toBe("2\n");
  expect((await fairway("group list --all")).out).toContain("vip");
  expect(seen.every((one) => one.endsWith(`Bearer ${CANARY} 1`))).toBe(true);
});

test.each(FAMILIES)("%s: status shows its name, version and channels", async (name, answers) => {
  const { env } = await start(answers);
  const { code, out, err } = await run(["status"], env);
  expect(code, err).toBe(0);
  const { system_name: title, version } = answers["/api/status"] as Record<string, string>;
  expect(out).toContain(title);
  expect(out).toContain(version);
  expect(out).toMatch(
    name === "one-api" || name === "one-hub" ? /not counted by this gateway/ : /3 requests, 90 tokens/,
  );
  expect(out + err).not.toMatch(/undefined|NaN|Invalid Date/);
  const counted = rowsOf(await run(["status", "-o", "jsonl"], env));
  expect(counted).toMatchObject([{ channels: { enabled: name === "one-hub" ? 123 : CHANNEL_COUNT[name] } }]);
});

test.each([
  ["new-api", NEW_API],
  ["veloera", VELOERA],
] as const)("%s: pricing lists its prices", async (_name, answers) => {
  const { env } = await start(answers);
  const { code, out, err } = await run(["pricing", "list"], env);
  expect(code, err).toBe(0);
  expect(out).toMatch(/gpt-4o .*2\.5.*10/);
  expect(out + err).not.toMatch(/undefined|NaN/);
});

test.each([
  ["one-api", ONE_API],
  ["one-hub", ONE_HUB],
] as const)("%s: pricing is one sentence that names the call", async (_name, answers) => {
  const { env } = await start(answers);
  const { code, out, err } = await run(["pricing", "list"], env);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toContain("has no call GET /api/pricing");
});

describe("login", () => {
  let home: string;
  beforeEach(async () => void (home = await mkdtemp(join(tmpdir(), "fairway-compatible-"))));
  afterEach(() => rm(home, { recursive: true, force: true }));

  test.each(FAMILIES)("%s: a password replaces the only token after the person agrees", async (_name, answers) => {
    const { env, seen } = await start(answers);
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
    const { env, seen } = await start(answers);
    const config = { FAIRWAY_CONFIG: join(home, "credentials.json") };
    const login = ["login", env["FAIRWAY_SERVER"] ?? "", "--token-stdin", "--user-id", "1"];
    const { code, err } = await run(login, config, `${CANARY}\n`);
    expect(code, err).toBe(0);
    expect(seen.at(-1)).toBe(`GET /api/user/self Bearer ${CANARY} 1`);
  });
});

test.each(FAMILIES)("%s: what only Fairway has is one sentence that names the call", async (_name, answers) => {
  const { env } = await start(answers);
  for (const [line, call] of [
    ["channel types", "GET /api/channel/types"],
    ["export", "GET /api/declarative/export"],
    ["option history", "GET /api/option/history"],
    ["log list --limit all", "GET /api/log/export"],
  ] as const) {
    const { code, out, err } = await run(line.split(" "), env);
    expect({ code, out }, line).toEqual({ code: 1, out: "" });
    expect(err, line).toContain(`has no call ${call}`);
    expect(err).toContain("it is a compatible gateway");
  }
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
    expect(err, line).toContain("is no Fairway gateway");
    expect(err.split("\n").length, err).toBeLessThan(4);
  }
  litellm.close();
});

test("a server that answers like a model provider is still no gateway", async () => {
  const { env } = await start({});
  const { code, err } = await run(["status"], env);
  expect(code).toBe(7);
  expect(err).toContain("is no Fairway gateway");
});
