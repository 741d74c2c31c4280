import { describe, it } from "vitest";
import type { JsonObject } from "../../src/dialects/core/types.ts";
import { CHAT_ANSWER, exchange, HELLO, MESSAGE_ANSWER, RESPONSE_ANSWER } from "./exchange-cases.ts";

const TOOLS: JsonObject[] = [
  { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } },
];

describe("a suffix of the model's name", () => {
  it("is removed for Claude and chat clients", async () => {
    await exchange({
      type: 14,
      body: { model: "claude-3-7-sonnet-20250219-thinking", messages: HELLO, max_tokens: 1000, temperature: 0.2 },
      sent: {
        body: {
          model: "claude-3-7-sonnet-20250219",
          max_tokens: 1280,
          messages: HELLO,
          thinking: { type: "enabled", budget_tokens: 1024 },
        },
      },
      answer: { body: MESSAGE_ANSWER },
    });
  });

  it("is removed for OpenAI and Anthropic clients", async () => {
    await exchange({
      type: 1,
      path: "/v1/messages",
      body: { model: "o3-mini-high", messages: HELLO, max_tokens: 100 },
      sent: {
        body: { model: "o3-mini", messages: HELLO, reasoning_effort: "high", max_completion_tokens: 100 },
      },
      answer: { body: CHAT_ANSWER },
    });
  });

  it("is removed where chat is converted to Responses", async () => {
    await exchange({
      type: 1,
      body: { model: "gpt-5.5-high", messages: HELLO, tools: TOOLS },
      sent: {
        url: "https://api.openai.com/v1/responses",
        body: {
          model: "gpt-5.5",
          input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }],
          tools: [{ type: "function", name: "f", parameters: { type: "object", properties: {} }, strict: false }],
          reasoning: { effort: "high" },
          store: false,
        },
      },
      answer: { body: RESPONSE_ANSWER },
    });
  });
});

describe("a channel that drops stream_options", () => {
  it("sends none when an Anthropic client streams", async () => {
    await exchange({
      type: 1005,
      channel: { base_url: "https://llm.example.com", setting: { drop_params: ["stream_options"] } },
      path: "/v1/messages",
      body: { model: "m", messages: HELLO, max_tokens: 10, stream: true },
      sent: { body: { model: "m", messages: HELLO, max_tokens: 10, stream: true } },
      answer: {
        sse: [
          { data: { id: "1", choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] } },
          { data: "[DONE]" },
        ],
      },
    });
  });
});
