// The vendor's own client with a real gateway process, from the view of an application.
import OpenAI, {
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  createChannel,
  createToken,
  DEFAULT_USAGE,
  NORMAL_TEXT,
  setModelRatios,
  signIn,
  startGateway,
  startUpstream,
  UPSTREAM_KEY,
  type GatewayProcess,
  type Session,
  type Upstream,
} from "../src/index.ts";

const MODELS = ["gpt-4o", "tools", "two-tools", "reasoning", "echo", "length", "multibyte+split-7", "crlf"];
const BREAKS = ["slow-20+cut-after-3", "slow-20+reset-after-3", "slow-20+error-after-3"];
const FAULTS = ["status-400", "status-429", "status-500", "error-first", "slow-40+long-500", "hang", ...BREAKS];
const OTHERS = ["text-embedding-3-small", "gpt-image-1", "tts-1", "omni-moderation-latest"];
const QUESTION = { messages: [{ role: "user" as const, content: "What is the weather in Paris?" }] };

let upstream: Upstream;
let gateway: GatewayProcess;
let root: Session;
let client: OpenAI;

beforeAll(async () => {
  [upstream, gateway] = await Promise.all([startUpstream(), startGateway()]);
  root = await signIn(gateway.url);
  const models = [...MODELS, ...FAULTS, ...OTHERS];
  await setModelRatios(root, Object.fromEntries(models.map((model) => [model, 1])));
  await createChannel(root, { name: "openai", base_url: upstream.url, models: models.join(","), auto_ban: 0 });
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: await createToken(root), maxRetries: 0 });
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const readQuota = async () => (await root.must<{ quota: number }>("GET", "/api/user/self")).quota;

describe("chat", () => {
  test("a plain answer arrives as the upstream wrote it, and is charged", async () => {
    const before = await readQuota();
    const answer = await client.chat.completions.create({ model: "gpt-4o", ...QUESTION });
    expect(answer.choices[0]?.message).toMatchObject({ role: "assistant", content: NORMAL_TEXT });
    expect(answer.usage).toMatchObject({ prompt_tokens: DEFAULT_USAGE.input, completion_tokens: DEFAULT_USAGE.output });
    expect(answer._request_id).toBeTruthy();
    expect(await readQuota()).toBeLessThan(before);
    expect(upstream.requests[0]?.headers.authorization).toBe(`Bearer ${UPSTREAM_KEY}`);
  });

  test.each(MODELS)("a stream of %s is read by the stream helper", async (model) => {
    const stream = client.chat.completions.stream({ model, ...QUESTION, stream_options: { include_usage: true } });
    const final = await stream.finalChatCompletion();
    expect(final.usage?.prompt_tokens).toBe(DEFAULT_USAGE.input);
    expect(final.choices[0]?.finish_reason).toBe(
      model.includes("tools") ? "tool_calls" : model === "length" ? "length" : "stop",
    );
  });

  test("usage is not sent to a client that did not ask for it, and the call is charged all the same", async () => {
    const before = await readQuota();
    const stream = await client.chat.completions.create({ model: "gpt-4o", ...QUESTION, stream: true });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.every((chunk) => !chunk.usage)).toBe(true);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe(NORMAL_TEXT);
    expect(await readQuota()).toBeLessThan(before);
  });

  test("tools run through the helper", async () => {
    const runner = client.chat.completions.runTools(
      {
        model: "tools",
        ...QUESTION,
        tools: [
          {
            type: "function",
            function: {
              name: "get_weather",
              description: "Weather of a city",
              parameters: { type: "object", properties: { city: { type: "string" } } },
              parse: JSON.parse,
              function: ({ city }: { city: string }) => `sunny in ${city}`,
            },
          },
        ],
      },
      { maxChatCompletions: 2 },
    );
    await runner.done().catch(() => undefined); // the upstream requests the tool each time; two rounds are enough
    const second = upstream.requests[1]?.json?.["messages"];
    expect(second).toMatchObject([
      { role: "user" },
      { role: "assistant" },
      { role: "tool", content: "sunny in Paris" },
    ]);
  });

  test("structured output is asked for and parsed", async () => {
    const schema = {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    };
    const answer = await client.chat.completions.parse({
      model: "echo",
      messages: [{ role: "user", content: '{"city":"Paris"}' }],
      response_format: { type: "json_schema", json_schema: { name: "place", strict: true, schema } },
    });
    expect(answer.choices[0]?.message.content).toBe('{"city":"Paris"}');
    expect(upstream.requests[0]?.json?.["response_format"]).toMatchObject({ json_schema: { schema } });
  });

  test("fields that no one knows, and numbers as written, reach the upstream byte for byte", async () => {
    const body = `{"model":"gpt-4o","messages":[{"role":"user","content":"é\\u00e9"}],"temperature":1.0,"seed":12345678901234567890,"x_new":{"b":1,"a":2}}`;
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${client.apiKey}`, "content-type": "application/json" },
      body,
    });
    expect(answer.status).toBe(200);
    expect(upstream.requests[0]?.body.toString()).toBe(body);
  });
});

describe("other endpoints", () => {
  test("responses, plain and streamed", async () => {
    const plain = await client.responses.create({ model: "gpt-4o", input: "Hello" });
    expect(plain.output_text).toBe(NORMAL_TEXT);
    const final = await client.responses.stream({ model: "two-tools", input: "Hello" }).finalResponse();
    expect(final.output.map((item) => item.type)).toEqual(["function_call", "function_call"]);
  });

  test("embeddings in the client's default encoding", async () => {
    const answer = await client.embeddings.create({ model: "text-embedding-3-small", input: ["one", "two"] });
    expect(answer.data).toHaveLength(2);
    expect(answer.data[0]?.embedding[0]).toBeCloseTo(0.1, 5);
  });

  test("images, speech, moderation", async () => {
    expect(
      (await client.images.generate({ model: "gpt-image-1", prompt: "a harbour" })).data?.[0]?.b64_json,
    ).toBeTruthy();
    const speech = await client.audio.speech.create({ model: "tts-1", voice: "alloy", input: "Hello" });
    expect((await speech.arrayBuffer()).byteLength).toBe(4_096);
    expect((await client.moderations.create({ model: "omni-moderation-latest", input: "Hello" })).results).toHaveLength(
      1,
    );
  });

  test("models are those of the key's group", async () => {
    const ids = (await Array.fromAsync(client.models.list())).map((model) => model.id);
    expect(ids).toEqual(expect.arrayContaining(MODELS));
    expect((await client.models.retrieve("gpt-4o")).id).toBe("gpt-4o");
    await expect(client.models.retrieve("no-such-model")).rejects.toBeInstanceOf(NotFoundError);
  });
});

describe("failures", () => {
  const ask = (model: string, of = client) => of.chat.completions.create({ model, ...QUESTION });

  // This runs before the calls that a client aborts, because those are charged a moment later.
  test("failed calls cost nothing", async () => {
    const before = await readQuota();
    await expect(ask("status-500")).rejects.toThrow();
    await expect(ask("status-429")).rejects.toThrow();
    expect(await readQuota()).toBe(before);
  });

  test("come as the client's own error classes", async () => {
    await expect(
      ask("gpt-4o", new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "sk-wrong", maxRetries: 0 })),
    ).rejects.toBeInstanceOf(AuthenticationError);
    await expect(ask("no-such-model")).rejects.toBeInstanceOf(NotFoundError);
    await expect(ask("status-400")).rejects.toBeInstanceOf(BadRequestError);
    await expect(ask("status-429")).rejects.toBeInstanceOf(RateLimitError);
    await expect(ask("status-500")).rejects.toBeInstanceOf(InternalServerError);
    await expect(
      client.chat.completions.create({ model: "gpt-4o", messages: "no list" as never }),
    ).rejects.toBeInstanceOf(BadRequestError);
  });

  test.each(BREAKS)("a stream that breaks (%s) ends with an error, never as if it were whole", async (model) => {
    const texts: string[] = [];
    const read = async () => {
      const stream = await client.chat.completions.create({ model, ...QUESTION, stream: true });
      for await (const chunk of stream) texts.push(chunk.choices[0]?.delta.content ?? "");
    };
    await expect(read()).rejects.toThrow();
    expect(texts.join("")).toBe("Hello from");
  });

  test("a failure before the first event is an error of the call", async () => {
    await expect(
      client.chat.completions.create({ model: "error-first", ...QUESTION, stream: true }).then(Array.fromAsync),
    ).rejects.toThrow();
  });

  test.each(["hang", "slow-40+long-500"])("when the client leaves, the upstream call of %s ends too", async (model) => {
    const abort = new AbortController();
    const call = client.chat.completions.create({ model, ...QUESTION, stream: true }, { signal: abort.signal });
    while (upstream.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    setTimeout(() => abort.abort(), 200);
    await expect(call.then(Array.fromAsync))
      .rejects.toBeInstanceOf(APIUserAbortError)
      .catch(() => undefined);
    expect(await upstream.requests[0]?.ended).toBe("left");
  });
});
