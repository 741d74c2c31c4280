import { describe, expect, it } from "vitest";
import { jsonBody } from "../relay/body/read-body.ts";
import { joinExtra } from "./core/call-ids.ts";
import { dialectById, dialects } from "./index.ts";
import { createArrayWriter } from "./gemini-generate/stream.ts";
import { trackResponses } from "./openai-responses/position.ts";
import type { DialectId, Operation } from "./core/types.ts";

function of(id: DialectId) {
  const found = dialectById(id);
  if (found === undefined) throw new Error(id);
  return found;
}

const createBody = (json: unknown) => jsonBody(Buffer.from(JSON.stringify(json)));

function inspect(id: DialectId, operation: Operation, json: unknown, pathModel?: string): unknown {
  try {
    return of(id).inspect(createBody(json), operation, pathModel);
  } catch (error) {
    return error;
  }
}

describe("defaults and requirements", () => {
  it.each<[DialectId, Operation, unknown, string | undefined, object]>([
    ["openai-moderations", "moderations", { input: "x" }, undefined, { model: "omni-moderation-latest" }],
    ["openai-moderations", "moderations", {}, undefined, { code: "invalid_request", param: "input" }],
    [
      "openai-images",
      "images.generations",
      { prompt: "x", n: 3, size: "1024x1024", quality: "hd" },
      undefined,
      { model: "dall-e-2", units: 3, size: "1024x1024", quality: "hd" },
    ],
    ["openai-images", "images.generations", {}, undefined, { code: "invalid_request", param: "prompt" }],
    ["openai-images", "images.variations", {}, undefined, { model: "dall-e-2", units: 1 }],
    ["openai-audio", "audio.speech", { input: "añ😀" }, undefined, { model: "tts-1", units: 3, stream: false }],
    ["openai-audio", "audio.speech", { input: "a", stream_format: "sse" }, undefined, { stream: true }],
    [
      "openai-audio",
      "audio.speech",
      { input: "a".repeat(4097) },
      undefined,
      { code: "invalid_request", param: "input" },
    ],
    ["openai-audio", "audio.transcriptions", {}, undefined, { model: "whisper-1" }],
    ["openai-embeddings", "embeddings", { input: "x" }, "ada", { model: "ada" }],
    [
      "openai-embeddings",
      "embeddings",
      { model: "m", input: [] },
      undefined,
      { code: "invalid_request", param: "input" },
    ],
    [
      "openai-embeddings",
      "embeddings",
      { model: "m", input: Array(2049).fill("x") },
      undefined,
      { code: "invalid_request", param: "input" },
    ],
    ["openai-embeddings", "embeddings", { model: "m", input: [1, 2, 3] }, undefined, { promptEstimate: 3 }],
    [
      "openai-completions",
      "completions",
      { model: "m", prompt: ["a", "b"], max_tokens: 10 },
      undefined,
      { outputCap: 20 },
    ],
    ["openai-completions", "completions", { model: "m" }, undefined, { code: "invalid_request", param: "prompt" }],
    [
      "openai-responses",
      "responses",
      { model: "m", input: "hi", max_output_tokens: 9, reasoning: { effort: "high" } },
      undefined,
      { outputCap: 9, reasoningEffort: "high" },
    ],
    ["openai-responses", "responses", { model: "m" }, undefined, { code: "invalid_request", param: "input" }],
    ["openai-responses", "responses", { model: "m", previous_response_id: "r" }, undefined, { model: "m" }],
    ["rerank", "rerank", { model: "m", documents: ["a"] }, undefined, { code: "invalid_query" }],
    ["rerank", "rerank", { model: "m", query: "q" }, undefined, { code: "invalid_documents" }],
    ["rerank", "rerank", { model: "m", query: "q", documents: [{ text: "a" }] }, undefined, { model: "m" }],
    [
      "anthropic-messages",
      "chat",
      { model: "m", max_tokens: 5, messages: [{ role: "user", content: "x" }] },
      undefined,
      { outputCap: 5 },
    ],
    [
      "anthropic-messages",
      "chat",
      { model: "m", messages: [{ role: "user", content: "x" }] },
      undefined,
      { param: "max_tokens" },
    ],
    [
      "anthropic-count-tokens",
      "count_tokens",
      { model: "m", messages: [{ role: "user", content: "x" }] },
      undefined,
      { dialect: "anthropic-count-tokens" },
    ],
    [
      "gemini-generate",
      "chat",
      { contents: [{ parts: [{ text: "x" }] }], generation_config: { max_output_tokens: 4, candidate_count: 2 } },
      "google/gemini-x",
      { model: "google/gemini-x", outputCap: 8 },
    ],
    ["gemini-generate", "chat", {}, "g", { code: "invalid_request", param: "contents" }],
    ["gemini-generate", "chat", { contents: [{}] }, "a\\b", { code: "invalid_model" }],
    ["gemini-embed", "embeddings", { requests: [{ content: { parts: [{ text: "x" }] } }] }, "models/g", { model: "g" }],
    [
      "gemini-count-tokens",
      "count_tokens",
      { generateContentRequest: { contents: [{ parts: [{ text: "x" }] }] } },
      "g",
      { dialect: "gemini-count-tokens" },
    ],
  ])("%s %s %j", (...[id, operation, json, pathModel, expected]) => {
    expect(inspect(id, operation, json, pathModel)).toMatchObject(expected);
  });

  it("put a default model into the request", () => {
    const body = createBody({ input: "x" });
    const moderations = of("openai-moderations");
    const spec = moderations.inspect(body, "moderations", undefined);
    expect(moderations.retarget(body, spec, spec.model, { askUsage: false }).toString()).toBe(
      '{"input":"x","model":"omni-moderation-latest"}',
    );
  });
});

describe("every dialect", () => {
  it("has an id of its own", () => {
    expect(new Set(dialects.map(({ id }) => id)).size).toBe(dialects.length);
    expect(dialectById("private:unknown")).toBeUndefined();
  });

  it("has heartbeats that its clients ignore", () => {
    expect(of("openai-chat").heartbeat).toBeUndefined();
    expect(of("anthropic-messages").heartbeat?.toString()).toBe('event: ping\ndata: {"type":"ping"}\n\n');
    expect(of("gemini-generate").heartbeat).toBeUndefined();
  });
});

describe("usage", () => {
  it("of Gemini counts sound that was cached as cached, not as sound", () => {
    const usageMetadata = {
      promptTokenCount: 1500,
      candidatesTokenCount: 10,
      cachedContentTokenCount: 900,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 500 },
        { modality: "AUDIO", tokenCount: 1000 },
      ],
      cacheTokensDetails: [{ modality: "AUDIO", tokenCount: 900 }],
    };
    expect(of("gemini-generate").usage({ usageMetadata })).toMatchObject({
      input: 1500,
      cachedInput: 900,
      audioInput: 100,
    });
  });

  it.each<[DialectId, object, object]>([
    [
      "anthropic-messages",
      {
        usage: {
          input_tokens: 100,
          cache_read_input_tokens: 1000,
          cache_creation_input_tokens: 400,
          output_tokens: 50,
        },
      },
      { input: 1500, cachedInput: 1000, cacheWrite: 400, cacheWrite1h: 0, output: 50 },
    ],
    [
      "anthropic-messages",
      {
        usage: {
          input_tokens: 1,
          output_tokens: 2,
          cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
        },
      },
      { input: 8, cacheWrite: 7, cacheWrite1h: 4 },
    ],
    [
      "gemini-generate",
      {
        usageMetadata: {
          promptTokenCount: 10,
          toolUsePromptTokenCount: 5,
          cachedContentTokenCount: 4,
          candidatesTokenCount: 2,
          thoughtsTokenCount: 3,
        },
      },
      { input: 15, cachedInput: 4, output: 5, reasoning: 3 },
    ],
    [
      "openai-responses",
      {
        usage: {
          input_tokens: 9,
          output_tokens: 8,
          input_tokens_details: { cached_tokens: 7 },
          output_tokens_details: { reasoning_tokens: 6 },
        },
      },
      { input: 9, cachedInput: 7, output: 8, reasoning: 6 },
    ],
    [
      "openai-chat",
      { usage: { prompt_tokens: 9, total_tokens: 12, prompt_cache_hit_tokens: 8 } },
      { input: 9, output: 3, cachedInput: 8 },
    ],
    ["openai-embeddings", { usage: { prompt_tokens: 9, total_tokens: 9 } }, { input: 9, output: 0 }],
    [
      "openai-images",
      { data: [{}, {}], usage: { input_tokens: 5, output_tokens: 6, input_tokens_details: { image_tokens: 2 } } },
      { units: 2, imageInput: 2, output: 6 },
    ],
    ["openai-images", { data: [{ url: "a" }, { error: { code: "filtered" } }] }, { units: 1 }],
    ["openai-images", { data: [] }, { units: 0 }],
    ["openai-audio", { text: "x", usage: { type: "duration", seconds: 7 } }, { units: 7, input: 0 }],
    ["openai-audio", { text: "x", usage: { prompt_tokens: 4, completion_tokens: 6 } }, { input: 4, output: 6 }],
    ["openai-audio", { text: "x", duration: 3.5 }, { units: 3.5 }],
    ["openai-audio", { text: "x", duration: "8.47" }, { units: 8.47 }],
    ["rerank", { meta: { billed_units: { search_units: 1 } } }, { units: 1, input: 0 }],
    ["rerank", { usage: { total_tokens: 15 } }, { input: 15 }],
    ["rerank", { usage: { prompt_tokens: 3, search_units: 3 } }, { units: 3 }],
  ])("of %s in the normal form", (id, answer, expected) => {
    expect(of(id).usage(answer as never)).toMatchObject(expected);
  });

  it("of an Anthropic stream is the largest of each count", () => {
    const meter = of("anthropic-messages").meter();
    meter.feed(
      Buffer.from(
        'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}}}\n\n',
      ),
    );
    expect(meter.usage).toMatchObject({ input: 15, output: 1 });
    meter.feed(
      Buffer.from(
        'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":9,"output_tokens":6}}\n\n',
      ),
    );
    expect(meter.usage).toMatchObject({ input: 15, cachedInput: 5, output: 6 });
    expect([meter.finished, meter.terminated]).toEqual([true, false]);
    meter.feed(Buffer.from('event: message_stop\ndata: {"type":"message_stop"}\n\n'));
    expect(meter.terminated).toBe(true);
  });

  it("of a Responses stream is in its last event", () => {
    const meter = of("openai-responses").meter();
    meter.feed(Buffer.from('data: {"type":"response.output_text.delta","delta":"response.completed"}\n\n'));
    expect(meter.finished).toBe(false);
    meter.feed(
      Buffer.from(
        'data: {"type":"response.completed","response":{"error":null,"usage":{"input_tokens":3,"output_tokens":4}}}\n\n',
      ),
    );
    expect(meter).toMatchObject({ finished: true, terminated: true, error: undefined });
    expect(meter.usage).toMatchObject({ input: 3, output: 4 });
    const tools = [{ type: "function", parameters: { properties: { usage: { type: "object" } } } }];
    const response = { usage: { input_tokens: 5, output_tokens: 6 }, tools };
    const other = of("openai-responses").meter();
    other.feed(Buffer.from(`data: ${JSON.stringify({ type: "response.completed", response })}\n\n`));
    expect(other.usage).toMatchObject({ input: 5, output: 6 });
  });

  it("of streamed images counts the finished ones", () => {
    const meter = of("openai-images").meter();
    meter.feed(Buffer.from('data: {"type":"image_generation.partial_image"}\n\n'));
    meter.feed(
      Buffer.from('data: {"type":"image_generation.completed","usage":{"input_tokens":1,"output_tokens":2}}\n\n'),
    );
    expect(meter).toMatchObject({ finished: true, terminated: false, usage: { units: 1, output: 2 } });
  });
});

describe("errors in answers of status 200", () => {
  it.each<[DialectId, object, string | undefined]>([
    ["openai-chat", { error: { message: "no" } }, "no"],
    ["openai-chat", { code: "x", error: "plain" }, "plain"],
    ["openai-chat", { choices: [{}], error: null }, undefined],
    ["openai-responses", { status: "failed", error: { message: "boom" } }, "boom"],
    ["openai-responses", { status: "completed", error: null }, undefined],
    ["anthropic-messages", { type: "error", error: { type: "overloaded_error", message: "busy" } }, "busy"],
    ["gemini-generate", { error: { code: 503, message: "busy", status: "UNAVAILABLE" } }, "busy"],
  ])("%s %j", (id, answer, message) => {
    expect(of(id).errorIn(answer as never)?.message).toBe(message);
  });
});

describe("embeddings", () => {
  const floats = { object: "list", data: [{ object: "embedding", index: 0, embedding: [0.5, -1] }] };
  const packed = { object: "list", data: [{ object: "embedding", index: 0, embedding: "AAAAPwAAgL8=" }] };
  const fit = (answer: object, format: string | undefined) =>
    of("openai-embeddings").fitAnswer?.(answer as never, createBody({ encoding_format: format }));

  it("come as the client asked", () => {
    expect(fit(floats, "base64")).toEqual(packed);
    expect(fit(packed, "float")).toEqual(floats);
    expect(fit(packed, undefined)).toEqual(floats);
    expect(fit(floats, "float")).toBe(floats);
    expect(fit(packed, "base64")).toBe(packed);
  });

  it("stay as the upstream wrote them for clients that name the encoding in the vendor's words", () => {
    const body = createBody({ embedding_type: "base64" });
    expect(of("openai-embeddings").fitAnswer?.(packed as never, body)).toBe(packed);
  });
});

describe("Gemini without events", () => {
  it("is one JSON array, however many pieces come", () => {
    const writer = createArrayWriter();
    const text = [
      writer.feed(Buffer.from('data: {"a":1}\n\ndata: {"a":2}\n\n')),
      writer.feed(Buffer.from('data: {"a":3}\n\n')),
      writer.end(),
    ].join("");
    expect(JSON.parse(text)).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }]);
    expect(createArrayWriter().end().toString()).toBe("[]");
  });

  it("renames the model where a body repeats it", () => {
    const gemini = of("gemini-generate");
    const body = createBody({ model: "models/a", contents: [{ parts: [{ text: "x" }] }] });
    const spec = gemini.inspect(body, "chat", "a");
    expect(JSON.parse(gemini.retarget(body, spec, "b", { askUsage: false }).toString())).toMatchObject({
      model: "models/b",
    });
    expect(gemini.retarget(body, spec, "a", { askUsage: false })).toBe(body.bytes);
  });
});

describe("calls of a Responses history", () => {
  it("go out with their own ids", () => {
    const responses = of("openai-responses");
    const history = (id: string) => ({
      model: "o3",
      input: [
        { role: "user", content: id },
        { type: "function_call", call_id: id, name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: id, output: id },
      ],
    });
    const sent = (id: string) => {
      const body = createBody(history(id));
      const bytes = responses.retarget(body, responses.inspect(body, "chat", undefined), "o3", { askUsage: false });
      return { isSame: bytes === body.bytes, input: (JSON.parse(bytes.toString()) as { input: object[] }).input };
    };
    const signed = joinExtra("call_1", "{}");
    expect(sent(signed).input).toMatchObject([
      { content: signed },
      { call_id: "call_1" },
      { call_id: "call_1", output: signed },
    ]);
    expect(sent("call_1").isSame).toBe(true);
  });
});

describe("the position in a Responses stream", () => {
  it("is known when an error has to end it", () => {
    const position = trackResponses();
    expect(position.options()).toEqual({ sequence: 0, response: undefined });
    position.feed(Buffer.from('data: {"type":"response.created","sequence_number":0,"response":{"id":"r"}}\n\n'));
    position.feed(Buffer.from('data: {"type":"response.output_text.delta","sequence_number":4,"delta":"x"}\n\n'));
    expect(position.options()).toEqual({ sequence: 5, response: { id: "r" } });
  });
});
