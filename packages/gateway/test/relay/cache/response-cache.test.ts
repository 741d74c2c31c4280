import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readStreamText, useGuardrail } from "../guardrail/guardrail-webhook.ts";
import { books, chat, consumeRows, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const guardrail = useGuardrail(relay);
const COLD = { temperature: 0 };
const ON = { "x-fairway-cache": "on" };
type Headers = Readonly<Record<string, string>>;

const DEFAULTS = {
  ResponseCacheEnabled: true,
  ResponseCacheSeconds: 300,
  ResponseCacheMegabytes: 64,
  ResponseCacheRatio: 0,
  ResponseCacheGroups: "",
  ResponseCacheModels: "",
  GuardrailEnabled: false,
};
let version = 0;
const set = (options: Readonly<Record<string, string | number | boolean>>) => guardrail.set(options);
const post = (path: string, body: object, headers: Headers = {}, key = relay.key) =>
  relay.gateway.post(path, body, key, {
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
  });
const ask = (model: string, more: object = COLD, headers: Headers = {}, key = relay.key) =>
  post("/v1/chat/completions", chat(model, more), headers, key);
const heard = async (response: Response) => ({
  state: response.headers.get("x-fairway-cache"),
  text: await response.text(),
});
const state = async (answer: Promise<Response>) => (await heard(await answer)).state;
const calls = () => relay.gateway.upstream.requests.length;

beforeAll(async () => {
  await relay.gateway.channel("cached,other,cut-after-3,error-after-3,status-500,empty,slow-1000,huge");
  await relay.gateway.channel("claude-cached", { type: 14 });
  await relay.gateway.channel("gemini-cached", { type: 24 });
});
beforeEach(() => set({ ...DEFAULTS, ResponseCacheVersion: String(++version) }));
afterEach(() => set({ ResponseCacheEnabled: false }));

const contents = [{ role: "user", parts: [{ text: "hi" }] }];
const messages = [{ role: "user", content: "hi" }];
const cold = { generationConfig: { temperature: 0 } };

describe("equal requests", () => {
  it.each<[string, string, object]>([
    ["chat", "/v1/chat/completions", { model: "cached", messages, ...COLD }],
    ["chat, streamed", "/v1/chat/completions", { model: "cached", messages, ...COLD, stream: true }],
    ["completions", "/v1/completions", { model: "cached", prompt: "hi", ...COLD }],
    ["completions, streamed", "/v1/completions", { model: "cached", prompt: "hi", ...COLD, stream: true }],
    ["responses", "/v1/responses", { model: "cached", input: "hi", store: false, ...COLD }],
    ["responses, streamed", "/v1/responses", { model: "cached", input: "hi", store: false, stream: true, ...COLD }],
    ["messages", "/v1/messages", { model: "claude-cached", max_tokens: 9, messages, ...COLD }],
    ["messages, streamed", "/v1/messages", { model: "claude-cached", max_tokens: 9, messages, stream: true, ...COLD }],
    ["messages on chat, streamed", "/v1/messages", { model: "cached", max_tokens: 9, messages, stream: true, ...COLD }],
    ["gemini", "/v1beta/models/gemini-cached:generateContent", { contents, ...cold }],
    ["gemini, events", "/v1beta/models/gemini-cached:streamGenerateContent?alt=sse", { contents, ...cold }],
    ["gemini, a list", "/v1beta/models/gemini-cached:streamGenerateContent", { contents, ...cold }],
    ["embeddings", "/v1/embeddings", { model: "cached", input: "hi" }],
    ["rerank", "/v1/rerank", { model: "cached", query: "hi", documents: ["a"] }],
    ["moderations", "/v1/moderations", { model: "cached", input: "hi" }],
  ])("%s: the second request gets the bytes of the first answer for free", async (_name, path, body) => {
    const first = await post(path, body);
    const made = await heard(first);
    const asked = calls();
    const second = await post(path, body);
    const repeated = await heard(second);
    expect([made.state, repeated.state, calls()]).toEqual(["miss", "hit", asked]);
    expect(repeated.text).toBe(made.text);
    expect(second.status).toBe(200);
    expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"));
    expect(second.headers.get("age")).toMatch(/^\d$/);
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    await relay.gateway.settled();
    const [paid] = await consumeRows(relay.gateway, first.headers.get("x-request-id") ?? "");
    const [free] = await consumeRows(relay.gateway, second.headers.get("x-request-id") ?? "");
    expect(paid?.other["cache_hit"]).toBeUndefined();
    expect(free).toMatchObject({
      quota: 0,
      channel_id: 0,
      model_name: paid?.model_name,
      prompt_tokens: paid?.prompt_tokens,
      completion_tokens: paid?.completion_tokens,
      is_stream: paid?.is_stream,
      other: { cache_hit: true, end_reason: "stop", admin_info: { use_channel: [] } },
    });
  });

  it("are recognized in any spelling, and differ in any field", async () => {
    await ask("cached");
    const spelled = '{ "temperature":0.0, "messages":[{"role":"user","content":"h\\u0069"}], "model":"cached" }';
    const headers = { authorization: `Bearer ${relay.key}`, "content-type": "application/json" };
    const respelled = await relay.gateway.post("/v1/chat/completions", spelled, relay.key, { headers });
    expect((await heard(respelled)).state).toBe("hit");
    for (const more of [
      { ...COLD, seed: 1 },
      { ...COLD, user: "u" },
      { ...COLD, stream: true },
      { ...COLD, new: 0 },
    ])
      expect(await state(ask("cached", more))).toBe("miss");
    expect(await state(ask("other"))).toBe("miss");
  });

  it("that run at the same time all reach the upstream and are charged", async () => {
    const before = (await books(relay.gateway)).quota;
    const states = await Promise.all(Array.from({ length: 8 }, () => state(ask("slow-1000"))));
    expect(new Set(states)).toEqual(new Set(["miss"]));
    await relay.gateway.settled();
    const after = (await books(relay.gateway)).quota;
    expect((before - after) % 8).toBe(0);
    expect(after).toBeLessThan(before);
    expect(await Promise.all(Array.from({ length: 8 }, () => state(ask("slow-1000"))))).toEqual(
      Array.from({ length: 8 }, () => "hit"),
    );
    await relay.gateway.settled();
    expect((await books(relay.gateway)).quota).toBe(after);
  });
});

describe("which requests", () => {
  it("are deterministic or opt in; others get no cache header", async () => {
    for (const more of [{}, { temperature: 1 }, { ...COLD, n: 2 }]) expect(await state(ask("cached", more))).toBeNull();
    expect(await state(ask("cached", {}, ON))).toBe("miss");
    expect(await state(ask("cached", {}, ON))).toBe("hit");
    expect(await state(ask("cached", {}))).toBeNull();
    expect(await state(post("/v1/responses", { model: "cached", input: "x", ...COLD }, ON))).toBeNull();
  });

  it("follow the lists and the switch", async () => {
    await set({ ResponseCacheModels: "other*" });
    expect(await state(ask("cached"))).toBeNull();
    await set({ ResponseCacheModels: "ca*", ResponseCacheGroups: "vip" });
    expect(await state(ask("cached"))).toBeNull();
    await set({ ResponseCacheGroups: "default" });
    expect([await state(ask("cached")), await state(ask("cached"))]).toEqual(["miss", "hit"]);
    await set({ ResponseCacheEnabled: false });
    expect(await state(ask("cached"))).toBeNull();
    await set({ ResponseCacheEnabled: true });
    expect(await state(ask("cached"))).toBe("miss");
  });

  it("can be distinguished by an idempotency key", async () => {
    const askWithKey = (name: string) => state(ask("cached", COLD, { "idempotency-key": name }));
    expect([await askWithKey("one"), await askWithKey("two")]).toEqual(["miss", "hit"]);
  });

  it("follow Cache-Control", async () => {
    const first = await heard(await ask("cached"));
    expect(await state(ask("cached", COLD, { "cache-control": "no-store" }))).toBeNull();
    expect(await state(ask("cached", COLD, { "x-fairway-cache": "off" }))).toBeNull();
    const fresh = await heard(await ask("cached", COLD, { "cache-control": "no-cache" }));
    expect(fresh).not.toEqual(first);
    expect(await heard(await ask("cached"))).toEqual({ state: "hit", text: fresh.text });
  });
});

describe("what is stored", () => {
  it.each<[string, object]>([
    ["cut-after-3", { stream: true }],
    ["cut-after-3", {}],
    ["error-after-3", { stream: true }],
    ["status-500", { stream: true }],
    ["status-500", {}],
    ["empty", {}],
  ])("excludes %s with %j", async (model, more) => {
    await readStreamText(await ask(model, { ...COLD, ...more }));
    const asked = calls();
    expect(await state(ask(model, { ...COLD, ...more }))).toBe("miss");
    expect(calls()).toBeGreaterThan(asked);
  });

  it("excludes a stream that was cut at any position", async () => {
    const event = (choice: object) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`;
    const events = event({ delta: { content: "Hello" } }) + event({ delta: { content: " there" } });
    const end = `${event({ delta: {}, finish_reason: "stop" })}data: [DONE]\n\n`;
    const whole = events + end;
    for (let at = 1; at < whole.length; at += 5) {
      const headers = { "content-type": "text/event-stream" };
      relay.gateway.upstream.script("/chat/completions", () => ({ headers, body: whole.slice(0, at) }));
      const once = () => ask("cached", { ...COLD, stream: true, seed: at });
      await readStreamText(await once());
      const again = await heard(await once());
      const isFinished = whole.slice(0, at).includes('"stop"}]}');
      expect([at, again.state]).toEqual([at, isFinished ? "hit" : "miss"]);
      expect(again.text.includes("[DONE]")).toBe(isFinished);
    }
  });

  it("excludes an answer whose client left", async () => {
    const leaving = new AbortController();
    const { gateway, key } = relay;
    const body = chat("slow-1000", { ...COLD, stream: true });
    const stream = await gateway.post("/v1/chat/completions", body, key, { signal: leaving.signal });
    leaving.abort();
    await stream.text().catch(() => "");
    await gateway.settled();
    expect(await state(ask("slow-1000", { ...COLD, stream: true }))).toBe("miss");
  });

  it("excludes an answer over the size limit", async () => {
    const message = { role: "assistant", content: "x".repeat(1_100_000) };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    relay.gateway.upstream.script("/chat/completions", () => ({ body: { choices, usage } }));
    expect([await state(ask("cached")), await state(ask("cached"))]).toEqual(["miss", "miss"]);
  });

  it("expires after its lifetime, with a new version, and with the model", async () => {
    await ask("cached");
    await set({ ResponseCacheVersion: `${version}b` });
    expect([await state(ask("cached")), await state(ask("cached"))]).toEqual(["miss", "hit"]);
    await set({ ResponseCacheSeconds: 1 });
    await pause(1100);
    expect(await state(ask("cached"))).toBe("miss");
    const id = await relay.gateway.channel("short-lived");
    expect([await state(ask("short-lived")), await state(ask("short-lived"))]).toEqual(["miss", "hit"]);
    await relay.gateway.root.must("DELETE", `/api/channel/${id}/`);
    expect((await ask("short-lived")).status).toBe(404);
  });

  it("stays within its size limit, which the metrics show", async () => {
    await set({ ResponseCacheMegabytes: 1 });
    for (let at = 0; at < 3; at++) {
      const message = { role: "assistant", content: "x".repeat(400_000) };
      relay.gateway.upstream.script("/chat/completions", () => ({
        body: {
          choices: [{ index: 0, message, finish_reason: "stop" }],
          usage: { prompt_tokens: 1, completion_tokens: 1 },
        },
      }));
      await (await ask("cached", { ...COLD, seed: at })).text();
    }
    const states = [];
    for (const seed of [2, 1, 0]) states.push(await state(ask("cached", { ...COLD, seed })));
    expect(states).toEqual(["hit", "hit", "miss"]);
    const metrics = await (await fetch(`${relay.gateway.adminUrl}/metrics`)).text();
    const bytes = Number(/^fairway_response_cache_bytes (\d+)$/m.exec(metrics)?.[1]);
    expect(bytes).toBeGreaterThan(800_000);
    expect(bytes).toBeLessThanOrEqual(1024 * 1024);
    expect(metrics).toMatch(/^fairway_cache_hits_total\{cache="responses"\} \d+$/m);
  });
});

describe("money", () => {
  it("charges a part of the price, rounded, exactly once", async () => {
    await set({ ResponseCacheRatio: "0.1" });
    const { gateway } = relay;
    await gateway.option("ModelRatio", JSON.stringify({ cached: 2.5 }));
    await ask("cached");
    const hit = await ask("cached");
    await gateway.settled();
    const [row] = await consumeRows(gateway, hit.headers.get("x-request-id") ?? "");
    // (20 + 10) x 2.5 = 75, a tenth of it is 7.5
    expect(row).toMatchObject({ quota: 8, prompt_tokens: 20, completion_tokens: 10 });
  });

  it("is required for a cached answer", async () => {
    await set({ ResponseCacheRatio: 1 });
    const poor = await relay.gateway.token({ unlimited_quota: false, remain_quota: 2000 });
    await ask("cached");
    await relay.gateway.option("ModelRatio", JSON.stringify({ cached: 1000 }));
    const refused = await ask("cached", COLD, {}, poor);
    expect([refused.status, refused.headers.get("x-fairway-cache")]).toEqual([403, null]);
    await set({ ResponseCacheRatio: 0 });
    expect(await state(ask("cached", COLD, {}, poor))).toBe("hit");
  });
});

describe("limits", () => {
  it("count cached answers as calls of the user", async () => {
    await ask("cached");
    const limit = { ModelRequestRateLimitEnabled: true, ModelRequestRateLimitCount: 3 };
    await set({ ...limit, ModelRequestRateLimitSuccessCount: 0 });
    const statuses = [];
    for (let turn = 0; turn < 5; turn++) statuses.push((await ask("cached")).status);
    await set({ ModelRequestRateLimitEnabled: false });
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
  });
});

describe("with the guardrail", () => {
  it("prompts are judged each time, answers when they are made; a changed policy judges them again", async () => {
    await ask("cached");
    await set({ GuardrailEnabled: true });
    expect([await state(ask("cached")), await state(ask("cached"))]).toEqual(["miss", "hit"]);
    expect(guardrail.webhook.questions.map(({ phase }) => phase)).toEqual(["prompt", "answer", "prompt"]);
    guardrail.webhook.react(({ phase }) => ({ action: phase === "prompt" ? "block" : "allow" }));
    expect((await ask("cached")).status).toBe(400);
    guardrail.webhook.react(({ phase }) => ({ action: phase === "answer" ? "block" : "allow" }));
    for (const more of [
      { ...COLD, stream: true },
      { ...COLD, seed: 7 },
    ]) {
      await (await ask("cached", more)).text();
      expect(await state(ask("cached", more))).toBe("miss");
    }
  });
  it.each([false, true])("an answer that passed without a verdict is not cached (stream: %s)", async (stream) => {
    await set({ GuardrailEnabled: true, GuardrailOnFailure: "allow" });
    guardrail.webhook.react(({ phase }) => (phase === "answer" ? { status: 500 } : { action: "allow" }));
    expect(await heard(await ask("cached", { ...COLD, stream }))).toMatchObject({ state: "miss" });
    guardrail.webhook.react(() => ({ action: "allow" }));
    expect((await heard(await ask("cached", { ...COLD, stream }))).state).toBe("miss");
    expect((await heard(await ask("cached", { ...COLD, stream }))).state).toBe("hit");
  });
});
