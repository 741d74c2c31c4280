import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { books, consumeRows, startRelayApp, type RelayApp } from "./relay-app.ts";

let gateway: RelayApp;
let key: string;

beforeAll(async () => {
  gateway = await startRelayApp({
    FAIRWAY_STREAM_IDLE_TIMEOUT_MS: "1000",
    FAIRWAY_STREAM_HEADER_TIMEOUT_MS: "1500",
    FAIRWAY_HEADER_TIMEOUT_MS: "1500",
  });
  key = await gateway.token();
});
afterAll(() => gateway?.close());
beforeEach(() => gateway.upstream.reset());
afterEach(async () => {
  await gateway.settled();
  const { quota, held, ledger, logs, holds } = await books(gateway);
  expect({ held, holds }).toEqual({ held: 0, holds: 0 });
  expect(ledger).toBe(quota);
  expect(-logs).toBe(quota);
});

const chat = (model: string, more: object = {}) => ({ model, messages: [{ role: "user", content: "hi" }], ...more });
const ask = (model: string, more: object = {}) => gateway.post("/v1/chat/completions", chat(model, more), key);
const events = (text: string) => text.split("\n\n").filter((block) => block !== "");
const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { message: string; type: string; param: string | null; code: string | null } })
    .error;

describe("pass-through", () => {
  it("sends the client's bytes as they are, unknown fields and number spelling included (R-CV-1)", async () => {
    await gateway.channel("bytes");
    const body =
      '{ "model":"bytes", "temperature": 0, "top_p":1.0, "big":12345678901234567890, "new_field":{"a":[1.50]},"messages":[{"role":"user","content":"hi"}] }';
    const response = await gateway.post("/v1/chat/completions", body, key);
    expect(response.status).toBe(200);
    expect(gateway.upstream.requests[0]?.body.toString()).toBe(body);
  });

  it("hands the answer on byte for byte and keeps the operator's headers to itself (6.7)", async () => {
    await gateway.channel("whole");
    const answer =
      '{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"1.0"},"finish_reason":"stop"}],"big":12345678901234567890,"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}';
    gateway.upstream.script("/chat/completions", () => ({
      headers: {
        "content-type": "application/json",
        "set-cookie": "a=b",
        "openai-organization": "org-secret",
        server: "upstream",
        "x-request-id": "req_up",
      },
      body: answer,
    }));
    const response = await ask("whole");
    expect(await response.text()).toBe(answer);
    for (const name of ["set-cookie", "openai-organization", "server"]) expect(response.headers.has(name)).toBe(false);
    expect(response.headers.get("x-request-id")).not.toBe("req_up");
    const [row] = await consumeRows(gateway, response.headers.get("x-request-id") ?? "");
    expect(row).toMatchObject({
      prompt_tokens: 3,
      completion_tokens: 2,
      other: { admin_info: { upstream_request_id: "req_up" } },
    });
  });

  it("never shows the client's credentials to the upstream, nor the upstream's to the client", async () => {
    await gateway.channel("secretive", { key: "sk-upstream-secret-0123456789" });
    const response = await gateway.post("/v1/chat/completions", chat("secretive"), key, {
      headers: {
        authorization: `Bearer ${key}`,
        cookie: "session=1",
        "x-forwarded-for": "1.2.3.4",
        origin: "https://app.example",
        "content-type": "application/json",
      },
    });
    const [seen] = gateway.upstream.requests;
    expect(seen?.headers.authorization).toBe("Bearer sk-upstream-secret-0123456789");
    expect(JSON.stringify(seen?.headers)).not.toContain(key.slice(3));
    for (const name of ["cookie", "x-forwarded-for", "origin"]) expect(seen?.headers[name]).toBeUndefined();
    expect(JSON.stringify([...response.headers]) + (await response.text())).not.toContain("upstream-secret");
  });

  it("bills speech by its characters", async () => {
    await gateway.channel("tts-1");
    const response = await gateway.post("/v1/audio/speech", { model: "tts-1", input: "Grüße!", voice: "alloy" }, key);
    expect(response.headers.get("content-type")).toContain("audio");
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
    const [row] = await consumeRows(gateway, response.headers.get("x-request-id") ?? "");
    expect(row?.quota).toBe(45);
  });

  it.each([
    ["/v1/completions", { model: "legacy", prompt: "once" }],
    ["/v1/embeddings", { model: "legacy", input: ["a", "b"] }],
    ["/v1/responses", { model: "legacy", input: "hi" }],
    ["/v1/moderations", { model: "legacy", input: "hi" }],
  ])("serves %s and charges it", async (path, body) => {
    await gateway.channel("legacy");
    const response = await gateway.post(path, body, key);
    expect(response.status, await response.clone().text()).toBe(200);
    const [row] = await consumeRows(gateway, response.headers.get("x-request-id") ?? "");
    expect(row?.model_name).toBe("legacy");
  });
});

describe("streams", () => {
  it("asks for usage, hides it again, bills it (R-STR-8, R-STR-9)", async () => {
    await gateway.channel("quiet");
    const response = await ask("quiet", { stream: true });
    const text = await response.text();
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(gateway.upstream.requests[0]?.json?.["stream_options"]).toEqual({ include_usage: true });
    expect(text).not.toContain('"prompt_tokens"');
    expect(events(text).at(-1)).toBe("data: [DONE]");
    const [row] = await consumeRows(gateway, response.headers.get("x-request-id") ?? "");
    expect(row).toMatchObject({
      prompt_tokens: 20,
      completion_tokens: 10,
      is_stream: 1,
      other: { usage_source: "upstream", end_reason: "stop" },
    });
    expect(row?.other["frt"]).toBeGreaterThanOrEqual(0);
  });

  it("shows usage once to a client that asked", async () => {
    await gateway.channel("loud");
    const text = await (await ask("loud", { stream: true, stream_options: { include_usage: true } })).text();
    expect(events(text).filter((block) => block.includes('"usage":{'))).toHaveLength(1);
    expect(events(text).at(-1)).toBe("data: [DONE]");
  });

  it("counts what an upstream does not report, and makes the usage event that was asked for (R-STR-9)", async () => {
    await gateway.channel("no-usage");
    const response = await ask("no-usage", { stream: true, stream_options: { include_usage: true } });
    const blocks = events(await response.text());
    const usage = JSON.parse((blocks.at(-2) ?? "").slice("data: ".length)) as {
      choices: unknown[];
      usage: { prompt_tokens: number; completion_tokens: number };
    };
    expect(usage.choices).toEqual([]);
    expect(usage.usage.prompt_tokens).toBe(8);
    const [row] = await consumeRows(gateway, response.headers.get("x-request-id") ?? "");
    expect(row).toMatchObject({
      prompt_tokens: 8,
      completion_tokens: usage.usage.completion_tokens,
      other: { usage_source: "counted" },
    });
    expect(row?.completion_tokens).toBeGreaterThan(3);
  });

  it.each(["crlf", "split-7", "comments", "big-line", "multibyte", "multibyte+split-1", "json-for-stream"])(
    "%s reaches the client whole and legal",
    async (model) => {
      await gateway.channel(model);
      const text = await (await ask(model, { stream: true })).text();
      expect(text).not.toContain("\r");
      expect(text.split("\n").filter((line) => line.startsWith(":"))).toEqual([]);
      const blocks = events(text);
      expect(blocks.at(-1)).toBe("data: [DONE]");
      for (const block of blocks.slice(0, -1))
        expect(() => JSON.parse(block.slice("data: ".length)) as unknown).not.toThrow();
    },
  );

  it("adds up a stream that nobody asked for", async () => {
    await gateway.channel("sse-for-plain");
    const response = await ask("sse-for-plain");
    expect(response.headers.get("content-type")).toContain("application/json");
    const body = (await response.json()) as { choices: [{ message: { content: string }; finish_reason: string }] };
    expect(body.choices[0].message.content).toBe("Hello from the fake upstream.");
    expect(body.choices[0].finish_reason).toBe("stop");
  });

  it.each(["cut-after-3", "reset-after-3", "hang-after-3", "slow-20+error-after-3"])(
    "%s ends with an error event and no [DONE], and bills what was delivered (6.6)",
    async (model) => {
      await gateway.channel(model);
      const response = await ask(model, { stream: true });
      const blocks = events(await response.text());
      expect(response.status).toBe(200);
      expect(blocks.some((block) => block.includes("[DONE]"))).toBe(false);
      const last = JSON.parse((blocks.at(-1) ?? "").slice("data: ".length)) as {
        error: { message: string; type: string };
      };
      expect(last.error.message).toBeTruthy();
      const [row] = await consumeRows(gateway, response.headers.get("x-request-id") ?? "");
      expect(row?.other["end_reason"]).not.toBe("stop");
      expect(row?.completion_tokens).toBeGreaterThan(0);
    },
  );

  it("stops the upstream at once when the client leaves, and bills what was delivered (R-STR-14)", async () => {
    await gateway.channel("slow-50+long-200");
    const leave = new AbortController();
    const response = await gateway.post("/v1/chat/completions", chat("slow-50+long-200", { stream: true }), key, {
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      signal: leave.signal,
    });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.read();
    const leftAt = performance.now();
    leave.abort();
    const [seen] = gateway.upstream.requests;
    expect(await seen?.ended).toBe("left");
    expect((seen?.leftAt ?? Infinity) - leftAt).toBeLessThan(200);
    await gateway.settled();
    const [row] = await consumeRows(gateway, response.headers.get("x-request-id") ?? "");
    expect(row?.other["end_reason"]).toBe("client_abort");
    expect(row?.prompt_tokens).toBe(8);
    expect(row?.completion_tokens).toBeLessThan(40);
  });

  it("gives the reservation back when the client leaves before the upstream answers", async () => {
    await gateway.channel("hang");
    const leave = new AbortController();
    const pending = gateway
      .post("/v1/chat/completions", chat("hang"), key, {
        headers: { authorization: `Bearer ${key}` },
        signal: leave.signal,
      })
      .catch(() => undefined);
    await expect.poll(() => gateway.upstream.requests.length).toBe(1);
    const before = await books(gateway);
    leave.abort();
    await pending;
    expect(await gateway.upstream.requests[0]?.ended).toBe("left");
    await gateway.settled();
    expect((await books(gateway)).quota).toBe(before.quota);
  });

  it("ends when the key's quota does, billed for what was delivered", async () => {
    await gateway.channel("slow-1+long-9000");
    const poor = await gateway.token({ unlimited_quota: false, remain_quota: 2_500 });
    const response = await gateway.post("/v1/chat/completions", chat("slow-1+long-9000", { stream: true }), poor);
    const blocks = events(await response.text());
    expect(JSON.parse((blocks.at(-1) ?? "").slice("data: ".length))).toMatchObject({
      error: { code: "insufficient_quota" },
    });
    const [row] = await consumeRows(gateway, response.headers.get("x-request-id") ?? "");
    expect(row?.other["end_reason"]).toBe("quota_exhausted");
    expect(row?.quota).toBeGreaterThan(1_000);
    expect(row?.quota).toBeLessThan(2_600);
  });

  it("passes 20,000 chunks without losing one", async () => {
    await gateway.channel("long-20000");
    const text = await (await ask("long-20000", { stream: true })).text();
    expect(events(text).length).toBeGreaterThan(20_000);
    expect(events(text).at(-1)).toBe("data: [DONE]");
  });
});

describe("retries (3.3)", () => {
  const failing = async (model: string, retries: number) => {
    await gateway.option("RetryTimes", retries);
    const bad = await gateway.channel(model, {
      priority: 10,
      model_mapping: JSON.stringify({ [model]: model.split("@")[0] }),
    });
    const good = await gateway.channel(model, { priority: 0, model_mapping: JSON.stringify({ [model]: "fine" }) });
    return { bad: String(bad), good: String(good) };
  };
  afterEach(() => gateway.option("RetryTimes", 0));

  it.each([
    "status-500",
    "status-503",
    "status-429",
    "status-401",
    "status-403",
    "html",
    "empty",
    "bad-json",
    "redirect",
  ])("%s goes to the next channel, unseen by the client", async (fault) => {
    const { bad, good } = await failing(`${fault}@plain`, 1);
    const response = await ask(`${fault}@plain`);
    expect(response.status, await response.clone().text()).toBe(200);
    const rows = await consumeRows(gateway, response.headers.get("x-request-id") ?? "");
    expect(rows).toHaveLength(1);
    expect(rows[0]?.other.admin_info.use_channel).toEqual([bad, good]);
  });

  it.each(["status-500", "error-first", "cut-after-0", "empty", "html"])(
    "%s before the first event of a stream goes to the next channel",
    async (fault) => {
      const { bad, good } = await failing(`${fault}@stream`, 1);
      const response = await ask(`${fault}@stream`, { stream: true });
      expect(events(await response.text()).at(-1)).toBe("data: [DONE]");
      const [row] = await consumeRows(gateway, response.headers.get("x-request-id") ?? "");
      expect(row?.other.admin_info.use_channel).toEqual([bad, good]);
    },
  );

  it.each(["status-400", "status-504", "hang"])("%s is not retried", async (fault) => {
    await failing(`${fault}@never`, 2);
    const response = await ask(`${fault}@never`);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(gateway.upstream.requests).toHaveLength(1);
  });

  it("makes exactly one call without retries", async () => {
    await failing("status-500@once", 0);
    expect((await ask("status-500@once")).status).toBe(500);
    expect(gateway.upstream.requests).toHaveLength(1);
  });

  it("says that the group is saturated after 429 everywhere, with the time to wait (R-RETRY-6)", async () => {
    await gateway.channel("retry-after-7");
    const response = await ask("retry-after-7");
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(5);
    expect(await errorOf(response)).toMatchObject({ code: "upstream_saturated", type: "rate_limit_error" });
  });
});

describe("failures of upstreams", () => {
  it.each([
    ["status-401", 502, "upstream_auth_error"],
    ["status-403", 502, "upstream_auth_error"],
    ["status-402", 502, "upstream_billing_error"],
    ["status-500", 500, undefined],
    ["html", 502, "upstream_invalid_response"],
    ["empty", 502, "upstream_invalid_response"],
    ["bad-json", 502, "upstream_invalid_response"],
    ["huge", 502, "upstream_invalid_response"],
    ["hang", 504, "upstream_timeout"],
  ])("%s is answered %i in the client's envelope, without host or key", async (model, status, code) => {
    await gateway.channel(model, { key: "sk-canary-key-123456" });
    const response = await ask(model);
    expect(response.status).toBe(status);
    const text = await response.text();
    const { error } = JSON.parse(text) as { error: Record<string, unknown> };
    expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
    if (code !== undefined) expect(error["code"]).toBe(code);
    for (const secret of ["canary", "127.0.0.1", new URL(gateway.upstream.url).port, "node_modules", ".ts:"])
      expect(text).not.toContain(secret);
  });

  it("is unreachable: 502, nothing charged", async () => {
    await gateway.channel("nowhere", { base_url: "http://127.0.0.1:9" });
    const response = await ask("nowhere");
    expect(response.status).toBe(502);
    expect((await errorOf(response)).code).toBe("upstream_connect_failed");
  });

  it("keeps a status that the channel's mapping names (R-MAP-5)", async () => {
    await gateway.channel("status-401+mapped", { status_code_mapping: '{"401":"418"}' });
    expect((await ask("status-401+mapped")).status).toBe(418);
  });

  it("switches a channel off after a dead key, with the reason (3.6)", async () => {
    await gateway.option("AutomaticDisableChannelEnabled", true);
    const id = await gateway.channel("status-401+dead");
    await ask("status-401+dead");
    await expect
      .poll(async () => (await gateway.root.must<{ status: number }>("GET", `/api/channel/${id}`)).status)
      .toBe(3);
    const again = await ask("status-401+dead");
    expect(again.status).toBe(503);
    expect((await errorOf(again)).code).toBe("no_available_channel");
    await gateway.option("AutomaticDisableChannelEnabled", false);
  });
});

describe("bad input", () => {
  const raw = (path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; text: string; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
      const sent = httpRequest(
        new URL(path, gateway.url),
        { method: "POST", headers: { authorization: `Bearer ${key}`, ...headers } },
        (answer) => {
          const parts: Buffer[] = [];
          answer.on("data", (part: Buffer) => parts.push(part));
          answer.on("end", () =>
            resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString(), headers: answer.headers }),
          );
        },
      );
      sent.on("error", reject);
      sent.end(body);
    });

  it.each([
    ['{"model":', 400, "invalid_json"],
    ["[]", 400, "invalid_json"],
    ["", 400, "invalid_json"],
    ['{"messages":[{"role":"user","content":"hi"}]}', 400, "model_required"],
    ['{"model":"m\\u0000","messages":[{"role":"user","content":"hi"}]}', 400, "invalid_model"],
    ['{"model":5,"messages":[{"role":"user","content":"hi"}]}', 400, undefined],
    ['{"model":"quiet"}', 400, "invalid_request"],
    ['{"model":"quiet","messages":"hi"}', 400, "invalid_request"],
    ['{"model":"quiet","messages":[{"role":"user","content":"hi"}],"max_tokens":-1}', 400, "invalid_max_tokens"],
    ['{"model":"unknown-model","messages":[{"role":"user","content":"hi"}]}', 404, "model_not_found"],
  ])("%s is answered %i", async (body, status, code) => {
    await gateway.channel("quiet");
    const response = await gateway.post("/v1/chat/completions", body, key);
    expect(response.status).toBe(status);
    const error = await errorOf(response);
    expect(error.type).toBe("invalid_request_error");
    expect(error.message).toMatch(/request id: \w+/);
    if (code !== undefined) expect(error.code).toBe(code);
    expect(gateway.upstream.requests).toHaveLength(0);
  });

  it.each([
    [{}, 401, "missing_api_key"],
    [{ authorization: "Bearer sk-nope" }, 401, "invalid_api_key"],
    [{ authorization: `Bearer sk-${"a".repeat(48)}` }, 401, "invalid_api_key"],
    [{ authorization: "Basic abc" }, 401, "invalid_api_key"],
  ])("key %j is answered %i", async (headers, status, code) => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: headers as Record<string, string>,
      body: "{}",
    });
    expect(response.status).toBe(status);
    expect((await errorOf(response)).code).toBe(code);
  });

  it("refuses an expired, an exhausted and a disabled key, each by its name", async () => {
    const expired = await gateway.token({ expired_time: 1 });
    expect((await errorOf(await gateway.post("/v1/chat/completions", chat("quiet"), expired))).code).toBe(
      "token_expired",
    );
    const empty = await gateway.token({ unlimited_quota: false, remain_quota: 0 });
    const response = await gateway.post("/v1/chat/completions", chat("quiet"), empty);
    expect(response.status).toBe(401);
    expect(await errorOf(response)).toMatchObject({ code: "token_quota_exhausted", type: "insufficient_quota" });
  });

  it("refuses a call that the key's quota cannot carry, naming need and rest", async () => {
    await gateway.channel("gpt-4o");
    const poor = await gateway.token({ unlimited_quota: false, remain_quota: 10 });
    const response = await gateway.post("/v1/chat/completions", chat("gpt-4o", { max_tokens: 4000 }), poor);
    expect(response.status).toBe(403);
    const error = await errorOf(response);
    expect(error.code).toBe("insufficient_token_quota");
    expect(error.message).toContain("$0.000020");
    expect(response.headers.get("x-should-retry")).toBe("false");
  });

  it("answers unknown paths, wrong methods and parts that do not exist yet in the caller's envelope", async () => {
    expect(await errorOf(await gateway.post("/v1/unheard/of", {}, key))).toMatchObject({
      code: "unknown_url",
      type: "invalid_request_error",
    });
    const wrong = await fetch(`${gateway.url}/v1/chat/completions`);
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
    expect((await gateway.post("/v1/files", {}, key)).status).toBe(501);
    expect((await fetch(`${gateway.url}/v1/files`, { method: "POST" })).status).toBe(401);
    const anthropic = await gateway.post("/v1/messages/batches", {}, key);
    expect(await anthropic.json()).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
  });

  it("refuses a body over the limit by its length and by what arrives", async () => {
    const declared = await raw("/v1/chat/completions", Buffer.alloc(0), { "content-length": "99999999999" }).catch(
      (error: unknown) => error,
    );
    expect(declared).toMatchObject({ status: 413 });
  });

  it("refuses headers that are too large", async () => {
    const answer = await raw("/v1/chat/completions", "{}", { "x-bomb": "a".repeat(20_000) });
    expect(answer.status).toBe(431);
    expect(JSON.parse(answer.text)).toMatchObject({
      error: { code: "headers_too_large", type: "invalid_request_error" },
    });
  });

  it("refuses a request with two lengths", async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1", () => {
        socket.write(
          "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        );
      });
      let text = "";
      socket.on("data", (part) => (text += part.toString()));
      socket.on("close", () => resolve(text));
      socket.on("error", reject);
    });
    expect(answer).toContain("400 Bad Request");
    expect(answer).toContain("malformed_request");
  });

  it("keeps prompts and keys out of the log", async () => {
    await gateway.channel("private-talk");
    await gateway.post(
      "/v1/chat/completions",
      chat("private-talk", { messages: [{ role: "user", content: "canary-prompt" }] }),
      key,
    );
    await gateway.post("/v1/chat/completions", '{"canary-prompt":', key);
    await fetch(`${gateway.url}/v1/models?key=${key}`);
    await gateway.settled();
    for (const secret of ["canary-prompt", key.slice(3)]) expect(gateway.logLines()).not.toContain(secret);
  });
});

describe("model lists (10.2)", () => {
  it("speaks the protocol of the caller", async () => {
    await gateway.channel("listed-model");
    const bearer = { authorization: `Bearer ${key}` };
    const openai = (await (await fetch(`${gateway.url}/v1/models`, { headers: bearer })).json()) as {
      object: string;
      data: { id: string }[];
    };
    expect(openai.object).toBe("list");
    expect(openai.data.map(({ id }) => id)).toContain("listed-model");
    const anthropic = (await (
      await fetch(`${gateway.url}/v1/models?limit=1`, { headers: { ...bearer, "anthropic-version": "2026-10-21" } })
    ).json()) as { data: unknown[]; has_more: boolean };
    expect([anthropic.data.length, anthropic.has_more]).toEqual([1, true]);
    const gemini = (await (await fetch(`${gateway.url}/v1beta/models?key=${key}`)).json()) as {
      models: { name: string }[];
    };
    expect(gemini.models.map(({ name }) => name)).toContain("models/listed-model");
    const one = await fetch(`${gateway.url}/v1/models/not-there`, { headers: bearer });
    expect(one.status).toBe(404);
  });

  it("shows only what the key may use", async () => {
    const limited = await gateway.token({ model_limits_enabled: true, model_limits: "listed-model" });
    const list = (await (
      await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${limited}` } })
    ).json()) as { data: { id: string }[] };
    expect(list.data.map(({ id }) => id)).toEqual(["listed-model"]);
    const refused = await gateway.post("/v1/chat/completions", chat("quiet"), limited);
    expect([refused.status, (await errorOf(refused)).code]).toEqual([403, "model_not_allowed"]);
  });
});

describe("browsers", () => {
  it("may call the relay from anywhere, without credentials (10.3)", async () => {
    const preflight = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "OPTIONS",
      headers: { origin: "https://app.example", "access-control-request-headers": "authorization, x-stainless-os" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    expect(preflight.headers.get("access-control-allow-headers")).toContain("x-stainless-os");
    const refused = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { origin: "https://app.example" },
      body: "{}",
    });
    expect(refused.headers.get("access-control-allow-origin")).toBe("*");
    expect(refused.headers.get("access-control-allow-credentials")).toBeNull();
  });
});

describe("balance reads", () => {
  it("answer old clients (10.5)", async () => {
    const token = await gateway.token({ unlimited_quota: false, remain_quota: 1_000_000 });
    const bearer = { authorization: `Bearer ${token}` };
    expect(
      await (await fetch(`${gateway.url}/v1/dashboard/billing/subscription`, { headers: bearer })).json(),
    ).toMatchObject({ object: "billing_subscription", hard_limit_usd: 2, access_until: 0 });
    expect(await (await fetch(`${gateway.url}/dashboard/billing/usage`, { headers: bearer })).json()).toEqual({
      object: "list",
      total_usage: 0,
    });
  });
});
