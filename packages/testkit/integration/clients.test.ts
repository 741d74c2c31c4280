// Official clients of four protocols in front of upstreams of three: each sees the same answer.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic, { APIError, NotFoundError } from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { generateText, jsonSchema, stepCountIs, streamText, tool, type ModelMessage } from "ai";
import OpenAI from "openai";
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
  type GatewayProcess,
  type Upstream,
} from "../src/index.ts";

/** Prefix of the model's name, and the channel type that serves it. */
const UPSTREAMS = [
  ["openai", 1],
  ["anthropic", 14],
  ["gemini", 24],
] as const;
const WORDS = ["plain", "tools", "two-tools", "reasoning", "length"];
const BREAKS = ["slow-20+error-after-4", "slow-20+cut-after-4", "slow-20+reset-after-4"];
const TOOL = { name: "get_weather", description: "Weather of a city" };
const PARAMETERS = { type: "object" as const, properties: { city: { type: "string" as const } }, required: ["city"] };

let upstream: Upstream;
let gateway: GatewayProcess;
let key: string;

beforeAll(async () => {
  globalThis.AI_SDK_LOG_WARNINGS = false; // it does not know the names of the fake models
  [upstream, gateway] = await Promise.all([startUpstream(), startGateway()]);
  const root = await signIn(gateway.url);
  const models = UPSTREAMS.flatMap(([name]) => [...WORDS, ...BREAKS].map((word) => `${name}+${word}`));
  await setModelRatios(root, Object.fromEntries(models.map((model) => [model, 1])));
  for (const [name, type] of UPSTREAMS) {
    const own = models.filter((model) => model.startsWith(`${name}+`)).join(",");
    await createChannel(root, { name, type, base_url: upstream.url, models: own, auto_ban: 0 });
  }
  key = await createToken(root);
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const openai = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });
const anthropic = () => new Anthropic({ baseURL: gateway.url, apiKey: key, maxRetries: 0 });
const google = () => new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: gateway.url } });
const QUESTION = [{ role: "user" as const, content: "What is the weather in Paris?" }];

describe.each(UPSTREAMS)("in front of an upstream that speaks %s", (name) => {
  const model = (word: string) => `${name}+${word}`;

  test("the Anthropic client reads text, tools, thinking and usage", async () => {
    const plain = await anthropic().messages.create({ model: model("plain"), max_tokens: 100, messages: QUESTION });
    expect(plain.content).toMatchObject([{ type: "text", text: NORMAL_TEXT }]);
    expect(plain.stop_reason).toBe("end_turn");
    expect(plain.usage).toMatchObject({ input_tokens: DEFAULT_USAGE.input, output_tokens: DEFAULT_USAGE.output });

    const tools = [{ ...TOOL, input_schema: PARAMETERS }];
    const stream = anthropic().messages.stream({
      model: model("two-tools"),
      max_tokens: 100,
      messages: QUESTION,
      tools,
    });
    const final = await stream.finalMessage();
    expect(final.stop_reason).toBe("tool_use");
    expect(final.content).toMatchObject([
      { type: "tool_use", name: "get_weather", input: { city: "Paris" } },
      { type: "tool_use", name: "get_time", input: { zone: "UTC" } },
    ]);
    expect(final.usage).toMatchObject({ input_tokens: DEFAULT_USAGE.input, output_tokens: DEFAULT_USAGE.output });

    const thought = await anthropic()
      .messages.stream({ model: model("reasoning"), max_tokens: 100, messages: QUESTION })
      .finalMessage();
    expect(thought.content.find((block) => block.type === "text")).toMatchObject({ text: NORMAL_TEXT });
    const short = await anthropic().messages.create({ model: model("length"), max_tokens: 100, messages: QUESTION });
    expect(short.stop_reason).toBe("max_tokens");
  });

  test("the Google client reads text, tools and usage", async () => {
    const contents = "What is the weather in Paris?";
    const plain = await google().models.generateContent({ model: model("plain"), contents });
    expect(plain.text).toBe(NORMAL_TEXT);
    expect(plain.candidates?.[0]?.finishReason).toBe("STOP");
    expect(plain.usageMetadata).toMatchObject({
      promptTokenCount: DEFAULT_USAGE.input,
      candidatesTokenCount: DEFAULT_USAGE.output,
    });

    const config = { tools: [{ functionDeclarations: [{ ...TOOL, parametersJsonSchema: PARAMETERS }] }] };
    const chunks = await Array.fromAsync(
      await google().models.generateContentStream({ model: model("two-tools"), contents, config }),
    );
    const calls = chunks.flatMap((chunk) => chunk.functionCalls ?? []);
    expect(calls).toMatchObject([
      { name: "get_weather", args: { city: "Paris" } },
      { name: "get_time", args: { zone: "UTC" } },
    ]);
    expect(chunks.at(-1)?.usageMetadata).toMatchObject({ promptTokenCount: DEFAULT_USAGE.input });

    const stream = await google().models.generateContentStream({ model: model("plain"), contents });
    expect((await Array.fromAsync(stream)).map((chunk) => chunk.text ?? "").join("")).toBe(NORMAL_TEXT);
  });

  test("the OpenAI client reads chat and responses", async () => {
    const plain = await openai().chat.completions.create({ model: model("plain"), messages: QUESTION });
    expect(plain.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: NORMAL_TEXT } });
    expect(plain.usage).toMatchObject({ prompt_tokens: DEFAULT_USAGE.input, completion_tokens: DEFAULT_USAGE.output });

    const tools = [{ type: "function" as const, function: { ...TOOL, parameters: PARAMETERS } }];
    const stream = openai().chat.completions.stream({
      model: model("two-tools"),
      messages: QUESTION,
      tools,
      stream_options: { include_usage: true },
    });
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]?.finish_reason).toBe("tool_calls");
    const calls = final.choices[0]?.message.tool_calls ?? [];
    expect(
      calls.map((call) =>
        call.type === "function" ? [call.function.name, JSON.parse(call.function.arguments)] : call,
      ),
    ).toEqual([
      ["get_weather", { city: "Paris" }],
      ["get_time", { zone: "UTC" }],
    ]);
    expect(final.usage).toMatchObject({ prompt_tokens: DEFAULT_USAGE.input, completion_tokens: DEFAULT_USAGE.output });

    const answer = await openai()
      .responses.stream({ model: model("plain"), input: "Hello" })
      .finalResponse();
    expect(answer.output_text).toBe(NORMAL_TEXT);
    expect(answer.usage).toMatchObject({ input_tokens: DEFAULT_USAGE.input, output_tokens: DEFAULT_USAGE.output });
  });

  test("the AI SDK reads text through each of its providers", async () => {
    const baseURL = `${gateway.url}/v1`;
    const models = [
      createOpenAI({ baseURL, apiKey: key }).chat(model("plain")),
      createOpenAI({ baseURL, apiKey: key }).responses(model("plain")),
      createAnthropic({ baseURL, apiKey: key })(model("plain")),
      createGoogleGenerativeAI({ baseURL: `${gateway.url}/v1beta`, apiKey: key })(model("plain")),
    ];
    for (const one of models) {
      const plain = await generateText({ model: one, prompt: "Hello", maxRetries: 0 });
      expect(plain.text).toBe(NORMAL_TEXT);
      const streamed = streamText({ model: one, prompt: "Hello", maxRetries: 0 });
      expect(await streamed.text).toBe(NORMAL_TEXT);
      expect(await streamed.finishReason).toBe("stop");
    }
  });

  test.each(BREAKS)("a stream that breaks (%s) is an error for every client", async (word) => {
    await expect(
      anthropic()
        .messages.stream({ model: model(word), max_tokens: 100, messages: QUESTION })
        .finalMessage(),
    ).rejects.toThrow();
    await expect(
      openai()
        .chat.completions.stream({ model: model(word), messages: QUESTION })
        .finalChatCompletion(),
    ).rejects.toThrow();
    await expect(
      openai()
        .responses.stream({ model: model(word), input: "Hello" })
        .finalResponse(),
    ).rejects.toThrow();
    const read = async () =>
      Array.fromAsync(await google().models.generateContentStream({ model: model(word), contents: "Hello" }));
    await expect(read()).rejects.toThrow();
  });
});

test("the Google client uploads, finds, lists and deletes a file", async () => {
  const { files } = google();
  const made = await files.upload({ file: new Blob(["hi"], { type: "text/plain" }), config: { displayName: "note" } });
  expect(made).toMatchObject({ displayName: "note", mimeType: "text/plain", sizeBytes: "2", state: "ACTIVE" });
  const name = made.name ?? "";
  expect(await files.get({ name })).toMatchObject({ name, displayName: "note" });
  const listed: (string | undefined)[] = [];
  for await (const file of await files.list()) listed.push(file.name);
  expect(listed).toEqual([name]);
  await files.delete({ name });
  await expect(files.get({ name })).rejects.toMatchObject({ status: 404 });
});

test("the Google client creates, uses, lists, lengthens and deletes a cache", async () => {
  const model = "gemini+plain";
  const root = await signIn(gateway.url);
  await root.must("PUT", "/api/option/", { key: "CacheStoragePrices", value: JSON.stringify({ [model]: 1 }) });
  const show = (hours: number) => ({
    name: "cachedContents/up1",
    model: `models/${model}`,
    createTime: "2026-11-28T10:00:00Z",
    updateTime: "2026-11-28T10:00:00Z",
    expireTime: `2026-11-28T${10 + hours}:00:00Z`,
    usageMetadata: { totalTokenCount: 5_000 },
  });
  upstream.script("/cachedContents", () => ({ body: show(1) }));
  upstream.script("/cachedContents/up1", ({ method }) => ({ body: method === "DELETE" ? {} : show(2) }));
  const { caches, models } = google();
  const made = await caches.create({ model, config: { contents: "hi", displayName: "note" } });
  const name = made.name ?? "";
  expect(name).toMatch(/^cachedContents\/[a-z0-9]{34}$/);
  expect(await caches.get({ name })).toMatchObject({ name, usageMetadata: { totalTokenCount: 5_000 } });
  const listed: (string | undefined)[] = [];
  for await (const cache of await caches.list()) listed.push(cache.name);
  expect(listed).toEqual([name]);
  const answer = await models.generateContent({ model, contents: "?", config: { cachedContent: name } });
  expect(answer.text).toBe(NORMAL_TEXT);
  expect(upstream.requests.at(-1)?.json?.["cachedContent"]).toBe("cachedContents/up1");
  expect(await caches.update({ name, config: { ttl: "7200s" } })).toMatchObject({ expireTime: show(2).expireTime });
  await caches.delete({ name });
  await expect(caches.get({ name })).rejects.toMatchObject({ status: 404 });
});

describe.each([
  ["anthropic", 14],
  ["chat", 43],
])("a conversation that the gateway keeps, on an upstream that speaks %s", (name, type) => {
  const model = `${name}+reasoning+spoken+tool-loop`;
  const calls = () => upstream.requests.map(({ json }) => JSON.stringify(json?.["messages"]));
  beforeAll(async () => {
    const root = await signIn(gateway.url);
    await setModelRatios(root, { [model]: 1 });
    await createChannel(root, { name: `${name} loop`, type, base_url: upstream.url, models: model, auto_ban: 0 });
  });
  beforeEach(() => upstream.reset());

  test("the AI SDK names earlier items by their ids, in its tool loop and in the next turn", async () => {
    const get_weather = tool({
      ...TOOL,
      inputSchema: jsonSchema<{ city: string }>(PARAMETERS),
      execute: ({ city }) => `Sunny in ${city}`,
    });
    const ask = { model: createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key })(model), tools: { get_weather } };
    const limits = { stopWhen: stepCountIs(3), maxRetries: 0 };
    const plain = await generateText({ ...ask, ...limits, prompt: "Weather?" });
    const streamed = streamText({ ...ask, ...limits, prompt: "Weather?" });
    expect([plain.text, await streamed.text]).toEqual([NORMAL_TEXT, NORMAL_TEXT]);
    expect(calls()).toHaveLength(4);
    for (const sent of [calls()[1], calls()[3]]) expect(sent).toMatch(/get_weather.*Sunny in Paris/);
    for (const messages of [plain.responseMessages, await streamed.responseMessages]) {
      const next: ModelMessage[] = [{ role: "user", content: "Weather?" }, ...messages];
      await generateText({ ...ask, ...limits, messages: [...next, { role: "user", content: "Thanks" }] });
      const last = calls().at(-1);
      expect(last).toMatch(new RegExp(`get_weather.*Sunny in Paris.*${NORMAL_TEXT}.*Thanks`));
      expect(last?.split(NORMAL_TEXT)).toHaveLength(3);
    }
  });

  test("the OpenAI client continues from a response, reads and deletes it", async () => {
    const { responses } = openai();
    const tools = [{ type: "function" as const, ...TOOL, parameters: PARAMETERS, strict: false }];
    const first = await responses.create({ model, input: "Weather?", tools });
    const call = first.output.find((item) => item.type === "function_call");
    const input = [{ type: "function_call_output" as const, call_id: call?.call_id ?? "", output: "Sunny" }];
    const second = await responses.create({ model, input, tools, previous_response_id: first.id });
    expect(second).toMatchObject({ output_text: NORMAL_TEXT, previous_response_id: first.id, store: true });
    const third = await responses
      .stream({ model, input: "Thanks", previous_response_id: second.id, tools })
      .finalResponse();
    expect(third.output_text).toBe(NORMAL_TEXT);
    expect(calls().at(-1)).toMatch(new RegExp(`Weather.*get_weather.*Sunny.*${NORMAL_TEXT}.*Thanks`));
    expect((await responses.retrieve(third.id)).output_text).toBe(NORMAL_TEXT);
    expect(await Array.fromAsync(await responses.inputItems.list(third.id))).toMatchObject([
      { role: "user", content: [{ type: "input_text", text: "Thanks" }] },
    ]);
    await responses.delete(third.id);
    await expect(responses.retrieve(third.id)).rejects.toMatchObject({ status: 404 });
  });
});

describe("an answer that failed at Gemini", () => {
  const model = "gemini+plain";
  const failed = { candidates: [{ index: 0, content: {}, finishReason: "MALFORMED_FUNCTION_CALL" }] };
  const blocks = `data: ${JSON.stringify(failed)}\n\n`;
  beforeAll(() => {
    upstream.script(":generateContent", () => ({ body: failed }));
    upstream.script(":streamGenerateContent", () => ({
      headers: { "content-type": "text/event-stream" },
      body: blocks,
    }));
  });
  afterAll(() => upstream.reset());

  test("is an error for clients of other protocols, whole and streamed", async () => {
    const answers = [
      openai().chat.completions.create({ model, messages: QUESTION }),
      openai().responses.create({ model, input: "Hello" }),
      anthropic().messages.create({ model, max_tokens: 100, messages: QUESTION }),
      openai().chat.completions.stream({ model, messages: QUESTION }).finalChatCompletion(),
      openai().responses.stream({ model, input: "Hello" }).finalResponse(),
      anthropic().messages.stream({ model, max_tokens: 100, messages: QUESTION }).finalMessage(),
    ];
    for (const answer of await Promise.allSettled(answers))
      expect(String("reason" in answer && answer.reason)).toContain("MALFORMED_FUNCTION_CALL");
  });

  test("reaches Google's client as it came", async () => {
    const answer = await google().models.generateContent({ model, contents: "Hello" });
    expect(answer.candidates?.[0]?.finishReason).toBe("MALFORMED_FUNCTION_CALL");
  });
});

describe("what is not served", () => {
  test("names the request to the Anthropic client, on paths of several vendors as well", async () => {
    const asked = [anthropic().models.retrieve("none"), anthropic().beta.skills.list()];
    const errors = (await Promise.allSettled(asked)).map((one) =>
      "reason" in one ? (one.reason as APIError) : undefined,
    );
    for (const error of errors) {
      expect(error).toBeInstanceOf(APIError);
      expect(error?.requestID).toBeTruthy();
      expect(error?.error).toMatchObject({ type: "error", request_id: error?.requestID });
    }
    expect(errors.at(-1)).toBeInstanceOf(NotFoundError);
  });

  test("is no reason to wait where no upstream of the model has the endpoint", async () => {
    const since = performance.now();
    const refused = openai().moderations.create({ model: "anthropic+plain", input: "Hello" }, { maxRetries: 2 });
    await expect(refused).rejects.toThrow("serves this endpoint");
    expect(performance.now() - since).toBeLessThan(5_000);
  });
});
