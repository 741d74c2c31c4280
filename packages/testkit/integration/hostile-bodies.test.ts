// Small requests that become large when they are decoded or parsed, sent to a process with the heap of a small pod.
import { readFileSync } from "node:fs";
import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createChannel,
  createToken,
  ROOT_PASSWORD,
  setModelRatios,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Upstream,
} from "../src/index.ts";

const HEAP_MB = 256;
/** A process with this heap takes about 170 MB if it reads nothing hostile; the rest is room for bodies. */
const MAX_MB = 560;
const MAX_MS = 1_500;

let upstream: Upstream;
let gateway: GatewayProcess;
let key = "";

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({ nodeArgs: [`--max-old-space-size=${HEAP_MB}`] });
  const root = await signIn(gateway.url, "root", ROOT_PASSWORD);
  await setModelRatios(root, { plain: 1, claude: 1 });
  await createChannel(root, { base_url: upstream.url, models: "plain,whisper-1" });
  await createChannel(root, { base_url: upstream.url, models: "claude", type: 14 });
  key = await createToken(root);
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const wrap = (inner: string) => `{"model":"plain","messages":[{"role":"user","content":"hi"}],"x":${inner}}`;
const nested = (levels: number) => wrap("[".repeat(levels) + "]".repeat(levels));
const flat = (item: string, count: number) => wrap(`[${`${item},`.repeat(count)}0]`);

const many = (objects: number) =>
  wrap(
    `[${Array.from({ length: objects }, (_, row) => `{${Array.from({ length: 100 }, (__, at) => `"k${(row * 100 + at).toString(36)}":0`).join(",")}}`).join(",")}]`,
  );

async function post(path: string, body: Buffer | string, headers: Record<string, string>) {
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : new Uint8Array(body),
  });
  return { status: response.status, text: await response.text() };
}

/** Returns the peak memory of the process. */
function peakMegabytes(): number {
  const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8"));
  return Math.round(Number(line?.[1]) / 1024);
}

/** Runs `attack` and measures how long another client waits meanwhile. */
async function measured<T>(attack: () => Promise<T>): Promise<{ readonly result: T; readonly waitMs: number }> {
  let waitMs = 0;
  let isOver = false;
  const look = async () => {
    while (!isOver) {
      const started = performance.now();
      await fetch(`${gateway.adminUrl}/livez`).then((response) => response.arrayBuffer());
      waitMs = Math.max(waitMs, performance.now() - started);
    }
  };
  const looking = look();
  const result = await attack().finally(() => (isOver = true));
  await looking;
  return { result, waitMs: Math.round(waitMs) };
}

const BODIES: readonly (readonly [what: string, text: () => string, status: number, says: string])[] = [
  ["16 million nested lists", () => nested(16_000_000), 400, "nested deeper than 64 levels"],
  ["11 million empty objects", () => flat("{}", 11_000_000), 400, "too many JSON values"],
  ["30 million numbers", () => flat("0", 30_000_000), 400, "too many JSON values"],
  ["840,000 members of 100 an object", () => many(8_400), 400, "too many JSON values"],
  ["90 MB of text", () => wrap(`"${"a ".repeat(45_000_000)}"`), 413, "exceeds 8388608 bytes"],
];

describe(`a process with a heap of ${HEAP_MB} MB`, () => {
  // @weakness Exhaustion: A few compressed kilobytes decode to millions of JSON values and end the process
  test.each(BODIES)("refuses %s before they are parsed", async (what, text, status, says) => {
    const body = gzipSync(text());
    const { result, waitMs } = await measured(() =>
      Promise.all(Array.from({ length: 4 }, () => post("/v1/chat/completions", body, { "content-encoding": "gzip" }))),
    );
    console.log(`${what}: ${body.length} bytes sent, ${peakMegabytes()} MB at most, others wait ${waitMs} ms`);
    for (const answer of result) {
      expect(answer.text).toContain(says);
      expect(answer.status).toBe(status);
    }
    expect(peakMegabytes()).toBeLessThan(MAX_MB);
    expect(waitMs).toBeLessThan(MAX_MS);
  });

  test("refuses arguments of tools that hold millions of values, before a conversion parses them", async () => {
    const text = `[${"{},".repeat(9_000)}0]`;
    const call = {
      role: "assistant",
      tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: text } }],
    };
    const body = JSON.stringify({ model: "claude", messages: Array.from({ length: 290 }, () => call) });
    const { result, waitMs } = await measured(() =>
      Promise.all(Array.from({ length: 4 }, () => post("/v1/chat/completions", body, {}))),
    );
    console.log(
      `arguments of tools: ${body.length} bytes sent, ${peakMegabytes()} MB at most, others wait ${waitMs} ms`,
    );
    for (const answer of result) {
      expect(answer.text).toContain("too many JSON values");
      expect(answer.status).toBe(400);
    }
    expect(peakMegabytes()).toBeLessThan(MAX_MB);
  });

  test.each([
    ["nested lists", nested(16_000_000)],
    ["empty objects", flat("{}", 11_000_000)],
  ])("does not parse an upstream's answer of %s", async (_, text) => {
    upstream.script("/chat/completions", () => ({
      headers: { "content-type": "application/json" },
      body: Buffer.from(text),
    }));
    const body = JSON.stringify({ model: "plain", messages: [{ role: "user", content: "hi" }] });
    const { result, waitMs } = await measured(() => post("/v1/chat/completions", body, {}));
    upstream.reset();
    console.log(`answer of ${text.length} bytes: ${peakMegabytes()} MB at most, others wait ${waitMs} ms`);
    expect(result.status).toBe(502);
    expect(peakMegabytes()).toBeLessThan(MAX_MB);
    expect(waitMs).toBeLessThan(MAX_MS);
  });

  test.each([
    ["nested lists", (text: string) => text],
    ["empty objects", () => `{"id":1,"x":[${"{},".repeat(300_000)}1]}`],
  ])("refuses %s in the management API", async (_, make) => {
    const { result, waitMs } = await measured(() => post("/api/user/login", make(nested(500_000)), {}));
    expect(result.status).toBeLessThan(500);
    expect(result.text).toContain('"success":false');
    expect(waitMs).toBeLessThan(MAX_MS);
  });

  // @weakness Exhaustion: The head of a form makes a pattern backtrack for seconds
  test("reads heads of forms full of blanks in linear time", async () => {
    const head = `--b\r\nContent-Disposition: form-data; name="file"; filename="a"; filename*=${" ".repeat(7_900)};\r\n\r\nx\r\n--b--`;
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const { result, waitMs } = await measured(() =>
      Promise.all(Array.from({ length: 20 }, () => post("/v1/audio/transcriptions", head, headers))),
    );
    console.log(`20 forms: ${head.length} bytes each, others wait ${waitMs} ms`);
    expect(result.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 400));
    expect(waitMs).toBeLessThan(MAX_MS / 3);
  });

  test("still serves", async () => {
    const body = JSON.stringify({ model: "plain", messages: [{ role: "user", content: "hi" }] });
    expect((await post("/v1/chat/completions", body, {})).status).toBe(200);
  });
});

// @weakness Exhaustion: Many large bodies at once take the memory of the process
test("bodies that do not fit together are answered 503 with Retry-After, and others continue", async () => {
  const small = await startGateway({ env: { FAIRWAY_BODY_MEMORY_BYTES: "4000000" } });
  try {
    const root = await signIn(small.url, "root", ROOT_PASSWORD);
    await setModelRatios(root, { "slow-400": 1 });
    await createChannel(root, { base_url: upstream.url, models: "slow-400" });
    const token = await createToken(root);
    const body = JSON.stringify({
      model: "slow-400",
      messages: [{ role: "user", content: `hi ${"word ".repeat(400_000)}` }],
    });
    const send = () =>
      fetch(`${small.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body,
      });
    const answers = await Promise.all(Array.from({ length: 6 }, send));
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(6);
    expect(refused[0]?.headers.get("retry-after")).toBe("1");
    expect(await refused[0]?.text()).toContain("Too many request bodies are being read");
    expect((await send()).status).toBe(200);
  } finally {
    await small.stop();
  }
});

// @weakness Exhaustion: Bodies of the management API that never end take the memory of the process
test("bodies of the management API count as well, until their connection ends", async () => {
  const small = await startGateway({ env: { FAIRWAY_BODY_MEMORY_BYTES: "2000000" } });
  const sent: ClientRequest[] = [];
  const open = () =>
    new Promise<IncomingMessage>((resolve) => {
      const request = httpRequest(`${small.url}/api/user/login`, {
        method: "POST",
        headers: { "content-type": "application/json", "content-length": 1_000_000 },
      });
      request.on("error", () => undefined).on("response", resolve);
      sent.push(request);
      request.write(`{"username":"${"a".repeat(900_000)}`);
    });
  try {
    const refused = await Promise.race([open(), open(), open()]);
    expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([503, "1"]);
    expect(JSON.parse((await refused.toArray()).join(""))).toMatchObject({ success: false, code: "bodies_full" });
    for (const request of sent) request.destroy();
    const login = () =>
      fetch(`${small.url}/api/user/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ username: "root", password: "a".repeat(500_000) }),
      });
    await expect.poll(async () => (await login()).status, { interval: 200 }).toBe(200);
  } finally {
    for (const request of sent) request.destroy();
    await small.stop();
  }
});
