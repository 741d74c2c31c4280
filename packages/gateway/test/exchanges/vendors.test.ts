import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/dialects/core/types.ts";
import { perplexityRequest } from "../../src/providers/vendors/perplexity/request.ts";
import { createBridgeContext } from "../kit/provider-kit.ts";
import { CHAT_ANSWER, exchange, HELLO, RESPONSE_ANSWER } from "./exchange-cases.ts";

const TOOL: JsonObject = { name: "f", parameters: { type: "object", properties: {} } };

function chunk(delta: JsonObject, finish: string | null = null, extra: JsonObject = {}): JsonObject {
  return { id: "c1", model: "m", choices: [{ index: 0, delta, finish_reason: finish }], ...extra };
}

function events(...data: (JsonObject | string)[]): JsonObject {
  return { sse: data.map((item) => ({ data: item })) };
}

describe("OpenAI from gpt-5.4 on", () => {
  it("gets legacy functions as tools of the Responses API", async () => {
    await exchange({
      type: 1,
      body: { model: "gpt-5.5", messages: HELLO, functions: [TOOL] },
      sent: { url: "https://api.openai.com/v1/responses" },
      answer: { body: RESPONSE_ANSWER },
    });
  });

  it("gets sound on chat completions, because Responses does not support it", async () => {
    const content = [{ type: "input_audio", input_audio: { data: "QQ==", format: "wav" } }];
    await exchange({
      type: 1,
      body: {
        model: "gpt-5.5",
        messages: [{ role: "user", content }],
        tools: [{ type: "function", function: TOOL }],
      },
      sent: { url: "https://api.openai.com/v1/chat/completions" },
    });
  });
});

describe("Azure", () => {
  it("adds the delta that clients read to choices of a content filter", async () => {
    const verdict = { index: 0, finish_reason: null, content_filter_results: { hate: { filtered: false } } };
    await exchange({
      type: 3,
      channel: { base_url: "https://r.openai.azure.com" },
      body: { model: "gpt-4o", messages: HELLO, stream: true },
      answer: events(chunk({ content: "Hi" }), { id: "", choices: [verdict] }, chunk({}, "stop"), "[DONE]"),
      got: events(
        chunk({ content: "Hi" }),
        { id: "", choices: [{ ...verdict, delta: {} }] },
        chunk({}, "stop"),
        "[DONE]",
      ),
    });
  });
});

describe("xAI", () => {
  const usage = (said: JsonObject): JsonObject => ({ body: { ...CHAT_ANSWER, usage: said } });

  it("gets calls of multi-agent models on the Responses API", async () => {
    await exchange({
      type: 48,
      body: { model: "grok-4.20-multi-agent-0309", messages: HELLO, reasoning_effort: "low" },
      sent: {
        url: "https://api.x.ai/v1/responses",
        body: {
          model: "grok-4.20-multi-agent-0309",
          input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }],
          reasoning: { effort: "low" },
          store: false,
        },
      },
      answer: { body: RESPONSE_ANSWER },
    });
  });

  it("has its reasoning counted where the total is missing or cached tokens are not part of the prompt", async () => {
    const body = { model: "grok-4.6", messages: HELLO };
    const reasoning = { completion_tokens_details: { reasoning_tokens: 30 } };
    await exchange({
      type: 48,
      body,
      answer: usage({ prompt_tokens: 100, completion_tokens: 20, ...reasoning }),
      usage: { prompt_tokens: 100, completion_tokens: 50 },
    });
    const separate = { prompt_tokens_details: { cached_tokens: 150 }, ...reasoning };
    await exchange({
      type: 48,
      body,
      answer: usage({ prompt_tokens: 100, completion_tokens: 20, total_tokens: 150, ...separate }),
      usage: { prompt_tokens: 250, completion_tokens: 50, cached_tokens: 150 },
    });
  });

  it("gets at most eight top_logprobs, and a failure with status 200 is retried", async () => {
    await exchange({
      type: 48,
      body: { model: "grok-2", messages: HELLO, logprobs: true, top_logprobs: 20 },
      sent: { body: { model: "grok-2", messages: HELLO, logprobs: true, top_logprobs: 8 } },
      answer: { body: { code: "The service is currently unavailable", error: "Try later" } },
      classify: { class: "overloaded", retry_other_channel: true, disable_channel: false },
    });
    await exchange({
      type: 48,
      body: { model: "grok-2", messages: HELLO },
      answer: { body: { code: "Internal error", error: "Something broke" } },
      classify: { class: "server", retry_other_channel: true, disable_channel: false },
    });
  });
});

describe("OpenRouter", () => {
  it("reports a moderated text to the client, not a rejected key", async () => {
    const error = { code: 403, message: "Input was flagged", metadata: { error_type: "moderation" } };
    await exchange({
      type: 20,
      body: { model: "a/b", messages: HELLO },
      answer: { status: 403, body: { error } },
      got: {
        status: 403,
        body: {
          error: {
            message: "Input was flagged",
            type: "invalid_request_error",
            param: null,
            code: "content_filter",
          },
        },
      },
      classify: { class: "content_filter", retry_other_channel: false, disable_channel: false },
    });
  });
});

describe("Groq", () => {
  it("reports a failure in the vendor's own member", async () => {
    await exchange({
      type: "groq",
      body: { model: "m", messages: HELLO, stream: true },
      answer: events(chunk({ content: "Hi" }), { id: "c1", choices: [], x_groq: { id: "r", error: "over capacity" } }),
      got: events(chunk({ content: "Hi" }), {
        error: { message: "over capacity", type: "server_error", param: null, code: "upstream_error" },
      }),
    });
  });
});

describe("Mistral", () => {
  it("gets sound without its format and embeddings without unknown members", async () => {
    const content = [{ type: "input_audio", input_audio: { data: "QQ==", format: "wav" } }];
    await exchange({
      type: 42,
      body: { model: "voxtral-small-latest", messages: [{ role: "user", content }] },
      sent: {
        body: {
          model: "voxtral-small-latest",
          messages: [{ role: "user", content: [{ type: "input_audio", input_audio: "QQ==" }] }],
        },
      },
    });
    await exchange({
      type: 42,
      path: "/v1/embeddings",
      body: { model: "codestral-embed", input: "x", dimensions: 8, user: "u", encoding_format: "float" },
      sent: { body: { model: "codestral-embed", input: "x", output_dimension: 8, encoding_format: "float" } },
      answer: {
        body: { data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 1, total_tokens: 1 } },
      },
    });
  });

  it("has its tool calls numbered across chunks, by choice", async () => {
    const call = (id: string): JsonObject => ({ id, function: { name: "f", arguments: "{}" } });
    const toolCall = (id: string, index: number): JsonObject => ({ index, type: "function", ...call(id) });
    const second = { index: 1, delta: { tool_calls: [call("ccccccccc")] }, finish_reason: null };
    const secondNumbered = { ...second, delta: { tool_calls: [toolCall("ccccccccc", 0)] } };
    await exchange({
      type: 42,
      body: { model: "mistral-small-latest", messages: HELLO, stream: true, n: 2 },
      answer: events(
        chunk({ tool_calls: [call("aaaaaaaaa")] }),
        chunk({ tool_calls: [call("bbbbbbbbb")] }, "tool_calls"),
        { id: "c1", model: "m", choices: [second] },
        "[DONE]",
      ),
      got: events(
        chunk({ tool_calls: [toolCall("aaaaaaaaa", 0)] }),
        chunk({ tool_calls: [toolCall("bbbbbbbbb", 1)] }, "tool_calls"),
        { id: "c1", model: "m", choices: [secondNumbered] },
        "[DONE]",
      ),
    });
  });
});

describe("Cohere", () => {
  const answer: JsonObject = {
    body: { id: "1", finish_reason: "COMPLETE", message: { content: [{ type: "text", text: "Hi" }] } },
  };

  it("offers legacy functions as tools", async () => {
    await exchange({
      type: 34,
      body: { model: "command-a", messages: HELLO, functions: [TOOL], function_call: { name: "f" } },
      sent: {
        body: {
          model: "command-a",
          messages: HELLO,
          tools: [{ type: "function", function: TOOL }],
          tool_choice: "REQUIRED",
        },
      },
      answer,
    });
  });

  it("takes text files as documents and refuses other files instead of dropping them", async () => {
    const file = (file_data: string): JsonObject[] => [
      {
        role: "user",
        content: [
          { type: "text", text: "Hello" },
          { type: "file", file: { file_data } },
        ],
      },
    ];
    await exchange({
      type: 34,
      body: { model: "command-a", messages: file("data:text/plain;base64,aGk=") },
      sent: { body: { model: "command-a", messages: HELLO, documents: [{ data: { text: "hi" } }] } },
      answer,
    });
    await expect(
      exchange({ type: 34, body: { model: "command-a", messages: file("data:application/pdf;base64,aGk=") }, answer }),
    ).rejects.toThrow("never called");
  });

  it("reports a prompt that is too long like OpenAI", async () => {
    const message = "too many tokens: the prompt cannot exceed 4081 tokens";
    await exchange({
      type: 34,
      body: { model: "command-a", messages: HELLO },
      answer: { status: 400, body: { message } },
      got: {
        status: 400,
        body: {
          error: {
            message: `This request exceeds the maximum context length of the model: ${message}`,
            type: "invalid_request_error",
            param: null,
            code: "context_length_exceeded",
          },
        },
      },
    });
  });
});

describe("Ollama", () => {
  it("offers legacy functions", async () => {
    await exchange({
      type: 4,
      body: { model: "m", messages: HELLO, functions: [TOOL] },
      sent: { body: { model: "m", messages: HELLO, stream: false, tools: [{ type: "function", function: TOOL }] } },
      answer: { body: { model: "m", message: { content: "Hi" }, done: true, prompt_eval_count: 3, eval_count: 2 } },
    });
  });

  it("returns log probabilities, and adds ids to calls without one", async () => {
    const logprobs: JsonObject[] = [{ token: "Hi", logprob: -0.1, bytes: [72, 105], top_logprobs: [] }];
    const message = { role: "assistant", content: "Hi", tool_calls: [{ function: { name: "f", arguments: {} } }] };
    await exchange({
      type: 4,
      body: { model: "m", messages: HELLO, logprobs: true },
      sent: { body: { model: "m", messages: HELLO, stream: false, logprobs: true } },
      answer: { body: { model: "m", message, logprobs, done: true, prompt_eval_count: 3, eval_count: 2 } },
      got: {
        body: {
          id: "<id>",
          object: "chat.completion",
          created: 1_790_000_000,
          model: "m",
          choices: [
            {
              index: 0,
              message: {
                role: "assistant",
                content: "Hi",
                tool_calls: [{ id: "<id>", type: "function", function: { name: "f", arguments: "{}" } }],
              },
              logprobs: { content: logprobs, refusal: null },
              finish_reason: "tool_calls",
            },
          ],
          usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
        },
      },
    });
  });

  it("refuses files instead of dropping them", async () => {
    const content = [{ type: "file", file: { file_data: "data:application/pdf;base64,aGk=" } }];
    await expect(exchange({ type: 4, body: { model: "m", messages: [{ role: "user", content }] } })).rejects.toThrow(
      "never called",
    );
  });
});

describe("Perplexity", () => {
  it("sets the output limit that Anthropic models require", () => {
    const readOutputLimit = (upstreamModel: string) =>
      perplexityRequest({ messages: HELLO }, createBridgeContext({ upstreamModel }))["max_output_tokens"];
    expect(readOutputLimit("anthropic/claude-sonnet-4-6")).toBe(64_000);
    expect(readOutputLimit("openai/gpt-5.5")).toBeUndefined();
  });
});

describe("Vertex", () => {
  const channel: JsonObject = { key: "AIzaTest123456", base_url: "https://vertex.example.com" };

  it("calls a deployed endpoint by its number or its path", async () => {
    for (const model of ["123456", "endpoints/123456"]) {
      await exchange({
        type: 41,
        channel,
        body: { model, messages: HELLO },
        sent: { url: "https://vertex.example.com/v1/endpoints/123456:generateContent" },
        answer: { body: { candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP" }] } },
      });
    }
  });

  it("gets Claude's cache markers without their scope", async () => {
    const marked = (cache_control: JsonObject): JsonObject => ({
      messages: [{ role: "user", content: [{ type: "text", text: "Hello", cache_control }] }],
      system: [{ type: "text", text: "Be brief.", cache_control }],
    });
    await exchange({
      type: 41,
      channel,
      path: "/v1/messages",
      body: { model: "claude-opus-4-6", max_tokens: 9, ...marked({ type: "ephemeral", scope: "global" }) },
      sent: { body: { anthropic_version: "vertex-2023-10-16", max_tokens: 9, ...marked({ type: "ephemeral" }) } },
      answer: { body: { id: "msg_1", content: [], usage: { input_tokens: 1, output_tokens: 1 } } },
    });
  });
});

describe("Cloudflare", () => {
  const channel: JsonObject = { other: "acc" };

  it("refuses several pictures instead of sending one", async () => {
    const body = { model: "@cf/black-forest-labs/flux-1-schnell", prompt: "a cat" };
    const path = "/v1/images/generations";
    await expect(exchange({ type: 39, channel, path, body: { ...body, n: 2 } })).rejects.toThrow("never called");
    await exchange({
      type: 39,
      channel,
      path,
      body: { ...body, n: 1 },
      sent: { body: { prompt: "a cat" } },
      answer: { body: { result: { image: "QQ==" }, success: true } },
      got: { body: { created: 1_790_000_000, data: [{ b64_json: "QQ==" }] } },
    });
  });

  it("reports what the account is not allowed to do", async () => {
    await exchange({
      type: 39,
      channel,
      body: { model: "@cf/x", messages: HELLO },
      answer: { status: 403, body: { success: false, errors: [{ code: 5018, message: "Not allowed" }] } },
      got: {
        status: 403,
        body: { error: { message: "Not allowed", type: "permission_error", param: null, code: "permission_denied" } },
      },
      classify: { class: "bad_key", retry_other_channel: true, disable_channel: true },
    });
  });
});

describe("a server of the OpenAI protocol", () => {
  it("passes its numbered codes through", async () => {
    const error = { message: "The model does not exist.", type: "NotFoundError", param: null, code: 404 };
    await exchange({
      type: 1,
      channel: { base_url: "https://vllm.example.com" },
      body: { model: "m", messages: HELLO },
      answer: { status: 404, body: { error } },
      got: { status: 404, body: { error } },
      classify: { class: "not_found", retry_other_channel: true, disable_channel: false },
    });
  });
});
