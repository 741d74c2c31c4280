import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { NORMAL_TEXT, REFUSAL, SIGNATURE, startUpstream, type Upstream } from "./index.ts";

let upstream: Upstream;
let openai: OpenAI;
let anthropic: Anthropic;
let google: GoogleGenAI;
const ask = { messages: [{ role: "user" as const, content: "What time is it?" }] };

beforeAll(async () => {
  upstream = await startUpstream();
  openai = new OpenAI({ baseURL: `${upstream.url}/v1`, apiKey: "key", maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: upstream.url, apiKey: "key", maxRetries: 0 });
  google = new GoogleGenAI({ apiKey: "key", httpOptions: { baseUrl: upstream.url } });
});
afterEach(() => upstream.reset());
afterAll(() => upstream.stop());

async function raw(model: string, stream: boolean): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await fetch(`${upstream.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, stream, ...ask }),
    redirect: "manual",
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

describe("official clients read the formats", () => {
  test("chat, plain and streamed", async () => {
    const plain = await openai.chat.completions.create({ model: "gpt-4o", ...ask });
    expect(plain.choices[0]?.message.content).toBe(NORMAL_TEXT);
    expect(plain.usage?.total_tokens).toBe(30);
    const stream = openai.chat.completions.stream({
      model: "tools+usage-7-3",
      ...ask,
      stream_options: { include_usage: true },
    });
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { name: "get_weather", arguments: '{"city":"Paris"}' },
    });
    expect(final.usage?.total_tokens).toBe(10);
  });

  test("responses", async () => {
    const plain = await openai.responses.create({ model: "gpt-4o", input: "hi" });
    expect(plain.output_text).toBe(NORMAL_TEXT);
    const final = await openai.responses.stream({ model: "reasoning", input: "hi" }).finalResponse();
    expect(final.output.map((item) => item.type)).toEqual(["reasoning", "message"]);
    expect(final.output_text).toBe(NORMAL_TEXT);
  });

  test("refusals, cached tokens and signatures", async () => {
    const refused = await openai.responses.stream({ model: "refusal", input: "hi" }).finalResponse();
    expect(refused.output[0]).toMatchObject({ content: [{ type: "refusal", refusal: REFUSAL }] });
    expect((await google.models.generateContent({ model: "refusal", contents: "hi" })).promptFeedback).toEqual({
      blockReason: "SAFETY",
    });
    const cached = await anthropic.messages.create({ model: "cached-8", max_tokens: 9, ...ask });
    expect(cached.usage).toMatchObject({ input_tokens: 12, cache_read_input_tokens: 8 });
    const called = await google.models.generateContent({ model: "reasoning+tools", contents: "hi" });
    expect(called.candidates?.[0]?.content?.parts?.at(-1)?.thoughtSignature).toBe(SIGNATURE);
  });

  test("embeddings, images, speech, moderations, models", async () => {
    const vectors = await openai.embeddings.create({ model: "text-embedding-3-small", input: ["a", "b"] });
    expect(vectors.data).toHaveLength(2);
    expect(vectors.data[0]?.embedding[0]).toBeCloseTo(0.1, 5);
    expect((await openai.images.generate({ model: "gpt-image-1", prompt: "x", n: 2 })).data).toHaveLength(2);
    expect(
      (await (await openai.audio.speech.create({ model: "tts-1", voice: "alloy", input: "x" })).arrayBuffer())
        .byteLength,
    ).toBe(4_096);
    const file = await OpenAI.toFile(Buffer.from("RIFF"), "a.wav");
    expect((await openai.audio.transcriptions.create({ model: "whisper-1", file })).text).toBe(NORMAL_TEXT);
    expect((await openai.moderations.create({ input: "x" })).results[0]?.flagged).toBe(false);
    expect((await openai.models.list()).data.map((model) => model.id)).toContain("gpt-4o");
  });

  test("messages", async () => {
    const plain = await anthropic.messages.create({ model: "claude", max_tokens: 9, ...ask });
    expect(plain.content[0]).toMatchObject({ type: "text", text: NORMAL_TEXT });
    const final = await anthropic.messages
      .stream({ model: "two-tools+reasoning", max_tokens: 9, ...ask })
      .finalMessage();
    expect(final.content.map((block) => block.type)).toEqual(["thinking", "tool_use", "tool_use"]);
    expect(final.usage).toMatchObject({ input_tokens: 20, output_tokens: 10 });
  });

  test("generateContent", async () => {
    const plain = await google.models.generateContent({ model: "gemini-2.5-flash", contents: "hi" });
    expect(plain.text).toBe(NORMAL_TEXT);
    let text = "";
    for await (const chunk of await google.models.generateContentStream({ model: "echo", contents: "say this" }))
      text += chunk.text ?? "";
    expect(text).toBe("say this");
  });
});

describe("faults", () => {
  test.each([
    ["status-429", 429],
    ["retry-after-7", 429],
    ["status-503+html", 503],
    ["redirect", 302],
    ["html", 200],
  ])("%s answers %i", async (model, status) => {
    const answer = await raw(model, false);
    expect(answer.status).toBe(status);
    if (model === "retry-after-7") expect(answer.headers.get("retry-after")).toBe("7");
  });

  test("a failure happens once per model until the reset", async () => {
    expect((await raw("status-500-then-ok", false)).status).toBe(500);
    expect((await raw("status-500-then-ok", false)).status).toBe(200);
  });

  test("plain answers arrive by half", async () => {
    await expect(raw("cut-after-1", false)).rejects.toThrow();
    await expect(raw("reset-after-1", false)).rejects.toThrow();
  });

  test("streams are cut, reset, broken and odd", async () => {
    const events = (text: string) => text.split("\n\n").filter((event) => event.startsWith("data: "));
    expect(events((await raw("cut-after-3", true)).text)).toHaveLength(3);
    await expect(raw("reset-after-3", true)).rejects.toThrow();
    expect(events((await raw("error-first", true)).text)[0]).toContain('"error"');
    expect((await raw("crlf", true)).text).toContain("data: [DONE]\r\n\r\n");
    expect((await raw("empty", true)).text).toBe("");
    expect((await raw("json-for-stream", true)).headers.get("content-type")).toBe("application/json");
    expect((await raw("sse-for-plain", false)).headers.get("content-type")).toContain("text/event-stream");
    expect((await raw("big-line", true)).text.length).toBeGreaterThan(1_000_000);
    expect(events((await raw("long-1000", true)).text)).toHaveLength(1_003);
    expect((await raw("multibyte+split-7", true)).text).toContain("👩‍👩‍👧");
    expect((await raw("gpt-4o", true)).text).not.toContain("prompt_tokens");
    expect((await raw("forced-usage", true)).text).toContain("prompt_tokens");
  });

  test("it notices when the client leaves", async () => {
    const abort = new AbortController();
    const call = openai.chat.completions.create({ model: "hang", ...ask }, { signal: abort.signal });
    while (upstream.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    abort.abort();
    await expect(call).rejects.toThrow();
    expect(await upstream.requests[0]?.ended).toBe("left");
    expect(upstream.requests[0]?.leftAt).toBeGreaterThan(0);
  });

  test("an endless body ends with the client", async () => {
    const response = await fetch(`${upstream.url}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "huge", ...ask }),
    });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(await upstream.requests[0]?.ended).toBe("left");
  });
});

test("a script answers before the formats, and the bytes of the request are retained", async () => {
  upstream.script("/mj/submit/imagine", (request) => ({
    status: 201,
    body: { code: 1, result: String(request.json?.["prompt"]) },
  }));
  const body = '{ "prompt":"a cat", "n": 1.0 }';
  const answer = await fetch(`${upstream.url}/fast/mj/submit/imagine?x=1`, {
    method: "POST",
    body,
    headers: { "mj-api-secret": "s" },
  });
  expect([answer.status, await answer.json()]).toEqual([201, { code: 1, result: "a cat" }]);
  const [request] = upstream.requests;
  expect(request?.body.toString()).toBe(body);
  expect(request?.headers["mj-api-secret"]).toBe("s");
  expect(request?.query.get("x")).toBe("1");
});
