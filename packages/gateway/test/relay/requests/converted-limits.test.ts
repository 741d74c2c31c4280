import { describe, expect, it } from "vitest";
import { consumeRows, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const DROPPED = "x-fairway-dropped";
const HI = { role: "user", content: "hi" };

type Json = Record<string, unknown>;

/** Makes every chat path answer, whatever the request. */
function answering(): void {
  const choices = [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }];
  const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };
  const body = { id: "c1", object: "chat.completion", created: 1, model: "m", choices, usage };
  relay.gateway.upstream.script("/chat/completions", () => ({ body }));
}

async function sent(type: number, model: string, path: string, body: object) {
  answering();
  const channel = await relay.gateway.channel(model, { type });
  const response = await relay.gateway.post(path, { model, ...body }, relay.key);
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  await relay.gateway.root.must("DELETE", `/api/channel/${channel}`);
  const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
  return {
    json: (relay.gateway.upstream.requests.at(-1)?.json ?? {}) as Json,
    dropped: response.headers.get(DROPPED),
    row: row?.["other"] as Json,
  };
}

const messages = (more: object = {}) => ({ max_tokens: 32_000, messages: [HI], ...more });

// @weakness Providers' keys: A coding agent's fixed cap is refused by every model that writes less
describe("a cap above what the model can write", () => {
  it.each([
    [1, "gpt-4o", 16_384],
    [43, "deepseek-chat", 8_192],
    [25, "moonshot-v1-8k", 8_192],
    [1005, "gpt-4o", 16_384],
  ])("is lowered for type %i and %s, and named", async (type, model, limit) => {
    const { json, dropped, row } = await sent(type, model, "/v1/messages", messages());
    expect(json["max_tokens"] ?? json["max_completion_tokens"]).toBe(limit);
    expect(dropped).toBe("max_tokens");
    expect(row).toMatchObject({ dropped_params: ["max_tokens"] });
  });

  it("is named in the words of the client", async () => {
    const contents = [{ role: "user", parts: [{ text: "hi" }] }];
    const gemini = { contents, generationConfig: { maxOutputTokens: 32_000, temperature: 1 } };
    const path = "/v1beta/models/gpt-4o:generateContent";
    const asGemini = await sent(1, "gpt-4o", path, gemini);
    expect(asGemini).toMatchObject({
      json: { max_tokens: 16_384, temperature: 1 },
      dropped: "generationConfig.maxOutputTokens",
    });
    const asResponses = await sent(43, "deepseek-chat", "/v1/responses", { input: "hi", max_output_tokens: 9_000 });
    expect(asResponses).toMatchObject({ json: { max_tokens: 8_192 }, dropped: "max_output_tokens" });
  });

  it("stays as it is where it fits, where no limit is known, and where the client speaks the upstream's protocol", async () => {
    const fits = await sent(1, "gpt-4o", "/v1/messages", messages({ max_tokens: 16_384 }));
    expect(fits).toMatchObject({ json: { max_tokens: 16_384 }, dropped: null });
    const unknown = await sent(1005, "my-own-model", "/v1/messages", messages());
    expect(unknown).toMatchObject({ json: { max_tokens: 32_000 }, dropped: null });
    const own = await sent(1, "gpt-4o", "/v1/chat/completions", messages());
    expect(own).toMatchObject({ json: { max_tokens: 32_000 }, dropped: null });
  });

  it("follows the operator's own limit", async () => {
    await relay.gateway.option("ModelOutputTokens", JSON.stringify({ "my-own-model": 500 }));
    const { json } = await sent(1005, "my-own-model", "/v1/messages", messages());
    expect(json["max_tokens"]).toBe(500);
  });
});

describe("thinking that a client switches off", () => {
  const off = messages({ max_tokens: 100, thinking: { type: "disabled" } });

  it.each([
    [1, "gpt-5", { reasoning_effort: "minimal" }],
    [1, "gpt-5.2", { reasoning_effort: "none" }],
    [1, "o3", { reasoning_effort: "low" }],
    [1005, "gpt-5-mini", { reasoning_effort: "minimal" }],
    [20, "openai/gpt-5-mini", { reasoning: { effort: "minimal" } }],
    [43, "deepseek-v4-pro", { thinking: { type: "disabled" } }],
    [25, "kimi-k2.6", { thinking: { type: "disabled" } }],
    [1001, "openai/gpt-oss-120b", { reasoning_effort: "low" }],
  ])("is the least that type %i and %s take", async (type, model, words) => {
    expect((await sent(type, model, "/v1/messages", off)).json).toMatchObject(words);
    const contents = [{ role: "user", parts: [{ text: "hi" }] }];
    const generationConfig = { thinkingConfig: { thinkingBudget: 0 } };
    const path = `/v1beta/models/${model}:generateContent`;
    if (!model.includes("/"))
      expect((await sent(type, model, path, { contents, generationConfig })).json).toMatchObject(words);
  });

  it("says nothing to models that do not think", async () => {
    const { json } = await sent(1, "gpt-4o", "/v1/messages", off);
    expect(json).not.toHaveProperty("reasoning_effort");
  });
});

it("names an effort that the model does not know", async () => {
  const asked = { messages: [HI], reasoning_effort: "max" };
  const { json, dropped, row } = await sent(1, "gpt-5.1", "/v1/chat/completions", asked);
  expect(json["reasoning_effort"]).toBe("high");
  expect(dropped).toBe("reasoning_effort");
  expect(row).toMatchObject({ dropped_params: ["reasoning_effort"] });
});

describe("stop texts and top_k", () => {
  const asked = messages({ max_tokens: 100, stop_sequences: ["a", "b", "c", "d", "e", "f"], top_k: 7 });

  it.each([1, 47, 1005])("reach servers of open models of type %i whole", async (type) => {
    const { json, dropped } = await sent(type, "qwen3-8b", "/v1/messages", asked);
    expect(json).toMatchObject({ stop: ["a", "b", "c", "d", "e", "f"], top_k: 7 });
    expect(dropped).toBeNull();
  });

  it("are cut and named where the vendor takes fewer", async () => {
    const four = await sent(1, "gpt-4o", "/v1/messages", asked);
    expect(four.json["stop"]).toEqual(["a", "b", "c", "d"]);
    expect(four.json).not.toHaveProperty("top_k");
    expect(four.dropped?.split(", ").sort()).toEqual(["stop", "top_k"]);
    expect((await sent(25, "moonshot-v1-8k", "/v1/messages", asked)).json["stop"]).toHaveLength(5);
  });
});
