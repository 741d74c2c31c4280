// Endpoints of the Responses API other than creating responses: counting input tokens and compacting conversations.
import OpenAI from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { openResponseClient } from "./response-store-kit.ts";
import { consumeRows, readError, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const { respond } = openResponseClient(relay);
const client = () => new OpenAI({ baseURL: `${relay.gateway.url}/v1`, apiKey: relay.key, maxRetries: 0 });
const usage = { input_tokens: 30, output_tokens: 12, total_tokens: 42 };

beforeAll(async () => {
  await relay.gateway.channel("native,mapped-native", { model_mapping: '{"mapped-native":"native"}' });
  await relay.gateway.channel("claude+echo", { type: 14 });
});

describe("POST /v1/responses/input_tokens", () => {
  const count = (model: string, more: object = {}) => client().responses.inputTokens.count({ model, ...more });

  it("is sent to channels that support it, is free, and goes to the account that stores what it names", async () => {
    const { upstream } = relay.gateway;
    upstream.script("/responses/input_tokens", () => ({ body: { object: "response.input_tokens", input_tokens: 57 } }));
    expect(await count("mapped-native", { input: "hi" })).toEqual({
      object: "response.input_tokens",
      input_tokens: 57,
    });
    expect(upstream.requests.at(-1)?.json).toEqual({ model: "native", input: "hi" });
    const { id } = await respond({ model: "native", input: "hi" });
    expect((await count("native", { input: "and?", previous_response_id: id })).input_tokens).toBe(57);
    expect(upstream.requests.at(-1)?.json).toMatchObject({ previous_response_id: id });
    await relay.gateway.settled();
    expect((await consumeRows(relay.gateway)).filter(({ model_name }) => model_name === "mapped-native")).toEqual([]);
  });

  it("is counted by the gateway where the upstream lacks the path, without a failure of the channel", async () => {
    await relay.gateway.channel("copied");
    for (let turn = 0; turn < 12; turn++)
      expect((await count("copied", { input: "hi" })).input_tokens).toBeGreaterThan(4);
    const paths = relay.gateway.upstream.requests.map(({ path }) => path);
    // A server without a tokenizer is not asked again.
    expect(paths.filter((path) => path === "/tokenize")).toHaveLength(1);
    expect(paths.filter((path) => path.endsWith("/input_tokens"))).toHaveLength(12);
    const response = await count("copied", { input: "hi" }).asResponse();
    expect(response.headers.get("x-fairway-estimated")).toBe("true");
    expect((await relay.ask("copied")).status).toBe(200);
  });

  it("is counted by the gateway on converted channels whose upstream cannot, with instructions, tools and the stored conversation", async () => {
    relay.gateway.upstream.script("/messages/count_tokens", () => ({ status: 404, body: { error: "no such path" } }));
    const { object, input_tokens: bare } = await count("claude+echo", { input: "hi" });
    expect([object, bare > 4]).toEqual(["response.input_tokens", true]);
    const tools = [{ type: "function", name: "look_up", parameters: { type: "object" }, strict: null }];
    const more = await count("claude+echo", { input: "hi", instructions: "You know every harbour.", tools });
    expect(more.input_tokens).toBeGreaterThan(bare + 10);
    expect((await count("claude+echo")).input_tokens).toBeGreaterThan(0);
    relay.gateway.upstream.reset();
    const { id } = await respond({ model: "claude+echo", input: "A long story of the sea. ".repeat(20) });
    const whole = await count("claude+echo", { input: "hi", previous_response_id: id });
    expect(whole.input_tokens).toBeGreaterThan(bare + 100);
    expect(relay.gateway.upstream.requests).toHaveLength(1);
  });

  it("refuses references that only an upstream can resolve, and names the alternative", async () => {
    const stored = count("claude+echo", { prompt: { id: "pmpt_1" } });
    await expect(stored).rejects.toMatchObject({ status: 404, code: "object_not_found", param: "prompt.id" });
    await expect(count("claude+echo", { conversation: "conv_1" })).rejects.toThrow(/whole conversation as input/);
    await expect(count("unheard-of", { input: "hi" })).rejects.toMatchObject({ status: 404 });
  });
});

describe("POST /v1/responses/compact", () => {
  it("passes to channels of the protocol, byte for byte, and is charged", async () => {
    const output = [{ id: "cmp_1", type: "compaction", encrypted_content: "gAAA" }];
    const answer = { id: "resp_9", object: "response.compaction", created_at: 1, output, usage };
    relay.gateway.upstream.script("/responses/compact", () => ({ body: answer }));
    const asked = { model: "native", input: [{ role: "user" as const, content: "hi" }], instructions: "Short." };
    expect(await client().responses.compact(asked)).toMatchObject(answer);
    expect(relay.gateway.upstream.requests.map(({ json }) => json)).toEqual([asked]);
    await relay.gateway.settled();
    const row = (await consumeRows(relay.gateway)).at(-1);
    expect(row).toMatchObject({ model_name: "native", prompt_tokens: 30, completion_tokens: 12 });
  });

  it("goes to the account that stores the response", async () => {
    const { id } = await respond({ model: "native", input: "hi" });
    relay.gateway.upstream.script("/responses/compact", () => ({ body: { id: "resp_8", output: [], usage } }));
    await client().responses.compact({ model: "native", previous_response_id: id });
    expect(relay.gateway.upstream.requests.at(-1)?.json).toMatchObject({ previous_response_id: id });
  });

  it("is refused permanently where every channel converts, and names the alternative", async () => {
    const refused = await relay.gateway.post("/v1/responses/compact", { model: "claude+echo", input: "hi" }, relay.key);
    expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([503, "false"]);
    expect(await readError(refused)).toMatchObject({
      code: "no_available_channel",
      message: expect.stringMatching(/serves this endpoint\. Ask the model for a summary/) as string,
    });
    expect(relay.gateway.upstream.requests).toEqual([]);
  });
});

describe("references that only an upstream can resolve, on converted channels", () => {
  const ask = (more: object) => relay.gateway.post("/v1/responses", { model: "claude+echo", ...more }, relay.key);

  it.each([
    [{ input: "hi", previous_response_id: "resp_unknown" }, 404, "previous_response_id", /whole conversation as input/],
    [{ input: "hi", conversation: { id: "conv_1" } }, 404, "conversation", /whole conversation as input/],
    [{ prompt: { id: "pmpt_1" } }, 404, "prompt.id", /text of the stored prompt as instructions and input/],
    [{ input: "hi", background: true }, 400, "background", /stream an answer/],
    [{ input: "hi", background: "true" }, 400, "background", /stream an answer/],
    [{ input: "hi", background: 1 }, 400, "background", /stream an answer/],
    [{ input: "hi", background: {} }, 400, "background", /stream an answer/],
    [{ input: [{ type: "item_reference", id: "msg_foreign" }] }, 404, "input.0.id", /complete items/],
    [{ input: [{ type: "compaction", encrypted_content: "x" }] }, 400, "input.compaction", /summary in words/],
  ])("%o is refused by name, with the alternative", async (more, status, param, cure) => {
    const refused = await ask(more);
    expect([refused.status, await readError(refused)]).toMatchObject([
      status,
      { param, message: expect.stringMatching(cure) as string },
    ]);
    expect(relay.gateway.upstream.requests).toEqual([]);
  });
});
