// One prompt has one count in every protocol: by the upstream that would answer it, else by an estimate that says so.
import { beforeEach, describe, expect, it } from "vitest";
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

/** The same question in each protocol that counts. */
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

/** A server of open models, which does not count in the protocols that it copies. */
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
