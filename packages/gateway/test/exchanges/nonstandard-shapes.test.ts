// Answers and streams of another shape than their protocol's: never an empty success.
import { describe, it } from "vitest";
import type { JsonObject } from "../../src/dialects/core/types.ts";
import { CHAT_ANSWER, exchange, HELLO, MESSAGE_ANSWER, RESPONSE_ANSWER } from "./exchange-cases.ts";

const CHUNK: JsonObject = { id: "c1", object: "chat.completion.chunk", created: 7, model: "m" };
const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
  ...CHUNK,
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const asked: JsonObject = { model: "m", messages: HELLO };
const askedBy = {
  "/v1/chat/completions": asked,
  "/v1/messages": { ...asked, max_tokens: 9 },
  "/v1/responses": { model: "m", input: "Hello" },
  "/v1beta/models/m:generateContent": { contents: [{ role: "user", parts: [{ text: "Hello" }] }] },
};
type Path = keyof typeof askedBy;
const UNREADABLE = "The upstream's answer could not be read.";
const errorBody = (path: Path, message: string): JsonObject => {
  if (path === "/v1/messages") return { type: "error", error: { type: "api_error", message }, request_id: "<any>" };
  if (path.startsWith("/v1beta")) return { error: { code: 502, message, status: "INTERNAL", details: "<any>" } };
  const code = message === UNREADABLE ? "upstream_invalid_response" : "upstream_stream_interrupted";
  return { error: { message, type: "server_error", param: null, code } };
};

const choices = (...given: (JsonObject | null)[]): JsonObject => ({ ...CHAT_ANSWER, choices: given });
const WHOLE: readonly (readonly [what: string, type: number, body: JsonObject])[] = [
  ["a chat answer that is empty", 1, {}],
  ["choices that are no list", 1, { ...CHAT_ANSWER, choices: "no" }],
  ["a choice that is null", 1, choices(null)],
  ["a choice without a message", 1, choices({ index: 0, message: null, finish_reason: "stop" })],
  ["words that are a number", 1, choices({ message: { content: 5 }, finish_reason: "stop" })],
  ["calls that are no list", 1, choices({ message: { content: null, tool_calls: "f" }, finish_reason: "tool_calls" })],
  ["another protocol's answer", 1, MESSAGE_ANSWER],
  ["a message that is empty", 14, {}],
  ["content that is no list", 14, { ...MESSAGE_ANSWER, content: "no" }],
  ["a message that has neither content nor a reason", 14, { ...MESSAGE_ANSWER, content: [], stop_reason: null }],
  ["candidates that are no list", 24, { candidates: "no" }],
  ["parts that are no list", 24, { candidates: [{ content: { parts: "no" }, finishReason: "STOP" }] }],
  ["usage without a candidate", 24, { usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 } }],
];

describe.each(["/v1/chat/completions", "/v1/messages", "/v1beta/models/m:generateContent"] as const)("%s", (path) => {
  it.each(WHOLE)("refuses %s", (_what, type, body) =>
    exchange({
      type,
      path,
      body: askedBy[path],
      answer: { body },
      got: { status: 502, body: errorBody(path, UNREADABLE) },
      classify: { retry_other_channel: true, disable_channel: false },
    }),
  );

  it("refuses a stream whose first choices are no list", () =>
    exchange({
      type: 1,
      path: path.startsWith("/v1beta") ? "/v1beta/models/m:streamGenerateContent?alt=sse" : path,
      body: path.startsWith("/v1beta") ? askedBy[path] : { ...askedBy[path], stream: true },
      answer: { sse: [{ data: { ...CHUNK, choices: "no" } }, { data: "[DONE]" }] },
      got: { status: 502, body: errorBody(path, UNREADABLE) },
    }));
});

describe("an answer that is not the vendor's own", () => {
  const VENDORS: readonly (readonly [type: number, model: string, key: string])[] = [
    [4, "m", "k"],
    [11, "m", "k"],
    [16, "chatglm_pro", "id.secret"],
    [17, "qwen-turbo", "k"],
    [21, "m", "k"],
    [23, "hunyuan-lite", "1|i|s"],
    [27, "m", "k"],
    [33, "amazon.nova-pro-v1:0", "AK|SK|us-east-1"],
    [34, "m", "k"],
    [37, "m", "k"],
  ];

  it.each(VENDORS)("is refused by type %d", (type, model, key) =>
    exchange({
      type,
      channel: { key, ...(type === 37 && { base_url: "https://dify.example/v1" }) },
      body: { model, messages: HELLO },
      answer: { body: { ok: true } },
      got: { status: 502, body: errorBody("/v1/chat/completions", UNREADABLE) },
    }),
  );
});

describe("an answer without vectors", () => {
  const refusal = { message: UNREADABLE, type: "server_error", param: null, code: "upstream_invalid_response" };

  it.each([
    ["no list", 1, {}],
    ["an empty list", 1, { data: [] }],
    ["no vector of Gemini's", 24, {}],
    ["a vector of no numbers", 24, { embedding: { values: "no" } }],
  ])("is refused: %s", (_what, type, body) =>
    exchange({
      type,
      path: "/v1/embeddings",
      body: { model: "m", input: "Hello" },
      answer: { body },
      got: { status: 502, body: { error: refusal } },
    }),
  );

  it("is refused for Gemini clients", () =>
    exchange({
      type: 1,
      path: "/v1beta/models/m:embedContent",
      body: { content: { parts: [{ text: "Hello" }] } },
      answer: { body: { data: [{ index: 0, embedding: null }] } },
      got: { status: 502, body: errorBody("/v1beta/models/m:generateContent", UNREADABLE) },
    }));
});

it("an unfinished response is refused for clients of other protocols", () =>
  exchange({
    type: 1,
    channel: { setting: { responses_mode: "always" } },
    path: "/v1/messages",
    body: { ...askedBy["/v1/messages"], model: "gpt-5-pro" },
    answer: { body: { ...RESPONSE_ANSWER, status: "in_progress", output: [] } },
    got: { status: 502, body: errorBody("/v1/messages", UNREADABLE) },
  }));

it.each(["Application/JSON", "TEXT/EVENT-STREAM"])("a media type is case-insensitive: %s", (type) =>
  exchange({
    type: 1,
    body: asked,
    answer: {
      headers: { "content-type": type },
      ...(type.startsWith("A")
        ? { body: `\uFEFF${JSON.stringify(CHAT_ANSWER)}` }
        : { sse: [{ data: chunk({ content: "Hi" }, "stop") }, { data: "[DONE]" }] }),
    },
    got: {
      body: type.startsWith("A")
        ? CHAT_ANSWER
        : { ...CHUNK, object: "chat.completion", choices: "<any>", usage: "<any>" },
    },
  }),
);

it("a collected stream must be readable throughout", () =>
  exchange({
    type: 1,
    body: asked,
    answer: {
      headers: { "content-type": "text/event-stream" },
      sse: [
        { data: chunk({ content: "Hel" }) },
        { data: '{"choices":[{"delta":{"content":"l' },
        { data: chunk({ content: "o" }, "stop") },
        { data: "[DONE]" },
      ],
    },
    got: { status: 502, body: errorBody("/v1/chat/completions", UNREADABLE) },
  }));

describe("a stream", () => {
  const body = { ...asked, stream: true };

  it.each([
    ["events of nothing", [{ data: {} }, { data: "[DONE]" }]],
    ["words", [{ data: "<html>down</html>" }]],
    ["usage alone", [{ data: { ...CHUNK, choices: [], usage: { prompt_tokens: 3 } } }, { data: "[DONE]" }]],
  ])("of %s is no answer, and another channel may be tried", (_what, sse) =>
    exchange({
      type: 1,
      body,
      answer: { sse },
      got: { status: 502, body: errorBody("/v1/chat/completions", "The upstream ended the stream early.") },
    }),
  );

  it("includes the events before its first part", () =>
    exchange({
      type: 1,
      body,
      answer: {
        sse: [
          { data: { ...CHUNK, choices: [], prompt_filter_results: [] } },
          { data: chunk({ content: "Hi" }, "stop") },
          { data: "[DONE]" },
        ],
      },
      got: {
        sse: [
          { data: { ...CHUNK, choices: [], prompt_filter_results: [] } },
          { data: chunk({ content: "Hi" }, "stop") },
          { data: "[DONE]" },
        ],
      },
    }));

  it("with only a role is a failure", () =>
    exchange({
      type: 1,
      body,
      answer: { sse: [{ data: chunk({ role: "assistant", content: "" }) }, { data: "[DONE]" }] },
      got: { status: 502, body: errorBody("/v1/chat/completions", "The upstream ended the stream early.") },
    }));

  it("ends with an error for Anthropic clients at an unreadable event", () =>
    exchange({
      type: 1,
      path: "/v1/messages",
      body: { ...askedBy["/v1/messages"], stream: true },
      answer: {
        sse: [
          { data: chunk({ role: "assistant", tool_calls: [{ index: 0, id: "a", function: { name: "f" } }] }) },
          { data: chunk({ tool_calls: "no" }) },
          { data: chunk({}, "tool_calls") },
          { data: "[DONE]" },
        ],
      },
      got: {
        sse: [
          { event: "message_start", data: "<any>" },
          { event: "content_block_start", data: "<any>" },
          {
            event: "error",
            data: {
              type: "error",
              error: { type: "api_error", message: "The upstream's stream could not be read." },
              request_id: "<any>",
            },
          },
        ],
      },
    }));

  it("of Gemini's protocol has no event names and no terminator", () => {
    const piece = { candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }] };
    return exchange({
      type: 24,
      path: "/v1beta/models/m:streamGenerateContent?alt=sse",
      body: askedBy["/v1beta/models/m:generateContent"],
      answer: { sse: [{ event: "message", data: piece }, { data: "[DONE]" }] },
      got: { sse: [{ data: piece }, { data: { candidates: "<any>", usageMetadata: "<any>" } }] },
    });
  });

  it("with usage under a vendor's name reports it in the client's protocol", () =>
    exchange({
      type: 1,
      path: "/v1beta/models/m:streamGenerateContent?alt=sse",
      body: askedBy["/v1beta/models/m:generateContent"],
      answer: {
        sse: [
          { data: chunk({ content: "Hi" }, "stop") },
          { data: { ...CHUNK, choices: [], x_groq: { usage: { prompt_tokens: 18, completion_tokens: 5 } } } },
          { data: "[DONE]" },
        ],
      },
      got: {
        sse: [
          { data: "<any>" },
          {
            data: {
              candidates: "<any>",
              usageMetadata: { promptTokenCount: 18, candidatesTokenCount: 5, totalTokenCount: 23 },
              modelVersion: "m",
              responseId: "c1",
            },
          },
        ],
      },
    }));
});
