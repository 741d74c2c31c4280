// One prompt has one count in every protocol: from the upstream that would answer it, otherwise a marked estimate.
import { beforeEach, describe, expect, it } from "vitest";
import { countingTargets } from "../../../src/relay/pipeline/count-converted.ts";
import { planFor, type Plan } from "../../../src/relay/selection/plan.ts";
import { createRequestSpec, createChannelRecord } from "../../kit/provider-kit.ts";
import { useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
beforeEach(() => relay.gateway.upstream.reset());

interface Counted {
  readonly tokens: number;
  readonly isEstimate: boolean;
}

async function ask(path: string, body: object): Promise<Counted> {
  const response = await relay.gateway.post(path, body, relay.key);
  const json = (await response.json()) as { input_tokens?: number; totalTokens?: number };
  expect(response.status, JSON.stringify(json)).toBe(200);
  const isEstimate = response.headers.get("x-fairway-estimated") === "true";
  return { tokens: json.input_tokens ?? json.totalTokens ?? -1, isEstimate };
}

/** Sends the same question in each protocol that counts. */
function everyProtocol(model: string): Promise<Counted[]> {
  const messages = [{ role: "user", content: "hi" }];
  return Promise.all([
    ask("/v1/messages/count_tokens", { model, messages }),
    ask("/v1/responses/input_tokens", { model, input: "hi" }),
    ask(`/v1beta/models/${model}:countTokens`, { contents: [{ role: "user", parts: [{ text: "hi" }] }] }),
  ]);
}

const paths = () => relay.gateway.upstream.requests.map(({ path }) => path);
const same = (tokens: number) => Array.from({ length: 3 }, () => ({ tokens, isEstimate: false }));
let serial = 0;

/** Starts a server of open models, which does not count in the protocols that it copies. */
async function server(): Promise<string> {
  const model = `open-model-${++serial}`;
  await relay.gateway.channel(model, { type: 1 });
  relay.gateway.upstream.script("/responses/input_tokens", () => ({ status: 404, body: { error: "no such path" } }));
  return model;
}

describe("the tokens of a prompt", () => {
  it("are asked of a server that counts messages (vLLM)", async () => {
    const model = await server();
    relay.gateway.upstream.script("/tokenize", () => ({ body: { count: 34, max_model_len: 4096, tokens: [1, 2] } }));
    expect(await everyProtocol(model)).toEqual(same(34));
    expect(relay.gateway.upstream.requests.find(({ path }) => path === "/tokenize")?.json).toMatchObject({
      model,
      messages: [{ role: "user", content: "hi" }],
      add_generation_prompt: true,
    });
  });

  it("are asked of a server that counts the text of its template (llama.cpp)", async () => {
    const model = await server();
    const { upstream } = relay.gateway;
    upstream.script("/apply-template", () => ({ body: { prompt: "<|im_start|>user\nhi<|im_end|>" } }));
    upstream.script("/tokenize", ({ json }) => ({
      body: { tokens: json?.["content"] === undefined ? [] : Array.from({ length: 32 }, (_, at) => at) },
    }));
    expect(await everyProtocol(model)).toEqual(same(32));
    const sent = upstream.requests.filter(({ path }) => path === "/tokenize").at(-1)?.json;
    expect(sent).toEqual({ content: "<|im_start|>user\nhi<|im_end|>", add_special: true, parse_special: true });
  });

  it("are asked of a vendor that counts in its own protocol", async () => {
    await relay.gateway.channel("claude-count", { type: 14 });
    relay.gateway.upstream.script("/messages/count_tokens", () => ({ body: { input_tokens: 21 } }));
    expect(await everyProtocol("claude-count")).toEqual(same(21));
    await relay.gateway.channel("gemini-count", { type: 24 });
    relay.gateway.upstream.script(":countTokens", () => ({ body: { totalTokens: 22 } }));
    expect(await everyProtocol("gemini-count")).toEqual(same(22));
    expect(paths().every((path) => /count_tokens|countTokens/.test(path))).toBe(true);
  });

  it("are asked of a server at a whole URL, as a custom channel has it", async () => {
    for (const end of ["v1/chat/completions", "{path}"]) {
      const model = `custom-model-${++serial}`;
      const base_url = `${relay.gateway.upstream.url}/${end}`;
      await relay.gateway.channel(model, { type: 8, base_url });
      relay.gateway.upstream.script("/responses/input_tokens", () => ({ status: 404, body: {} }));
      relay.gateway.upstream.script("/tokenize", () => ({ body: { count: 35, tokens: [1, 2] } }));
      expect(await everyProtocol(model)).toEqual(same(35));
    }
  });

  it("are asked of a server of chats that counts in the protocol of responses alone (OpenAI)", async () => {
    const model = `chat-model-${++serial}`;
    await relay.gateway.channel(model, { type: 1 });
    const { upstream } = relay.gateway;
    upstream.script("/tokenize", () => ({ status: 404, body: { error: "no such path" } }));
    upstream.script("/responses/input_tokens", () => ({ body: { object: "response.input_tokens", input_tokens: 11 } }));
    const tools = [{ name: "weather", description: "Of a city", input_schema: { type: "object", properties: {} } }];
    const messages = [{ role: "user", content: "hi" }];
    const claude = { model, max_tokens: 9, system: "Be brief.", messages, tools };
    expect(await ask("/v1/messages/count_tokens", claude)).toEqual({ tokens: 11, isEstimate: false });
    expect(upstream.requests.at(-1)).toMatchObject({
      path: "/v1/responses/input_tokens",
      json: {
        model,
        input: [{ role: "developer" }, { role: "user" }],
        tools: [{ type: "function", name: "weather" }],
      },
    });
    const gemini = { contents: [{ role: "user", parts: [{ text: "hi" }] }] };
    expect(await ask(`/v1beta/models/${model}:countTokens`, gemini)).toEqual({ tokens: 11, isEstimate: false });
    expect(paths().filter((path) => path === "/tokenize")).toHaveLength(1);
  });

  it("are asked of OpenAI itself, which has no address of its own, in the protocol of responses", () => {
    for (const dialect of ["anthropic-messages", "gemini-generate"] as const) {
      const spec = createRequestSpec({ dialect, operation: "chat" });
      const asked = (baseUrl: string, setting = {}) => {
        const channel = createChannelRecord({ type: 1, baseUrl, setting });
        const plan = planFor(channel, spec, "gpt-4o");
        expect(plan).toBeDefined();
        const first = { channel, group: "default", plan: plan as Plan, upstreamModel: "gpt-4o", keyIndex: 0 };
        return countingTargets({ spec }, first).map((target) => target.plan.route.dialect);
      };
      expect(asked("")).toEqual(["openai-responses"]);
      expect(asked("https://llama.example")).toEqual(expect.arrayContaining(["openai-chat", "openai-responses"]));
      expect(asked("https://llama.example", { responses_mode: "never" })).toEqual(["openai-chat"]);
    }
  });

  it("are estimated alike with the overhead of a template where no one counts, and the server is asked once", async () => {
    const model = await server();
    relay.gateway.upstream.script("/tokenize", () => ({ status: 404, body: { error: "no such path" } }));
    const [first] = await everyProtocol(model);
    expect(first?.isEstimate).toBe(true);
    expect(first?.tokens).toBeGreaterThanOrEqual(8);
    const asked = paths().length;
    expect(await everyProtocol(model)).toEqual([first, first, first]);
    expect(paths().slice(asked)).toEqual(["/v1/responses/input_tokens"]);
  });
});
