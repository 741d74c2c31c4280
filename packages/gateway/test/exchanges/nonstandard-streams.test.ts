import { describe, it } from "vitest";
import type { JsonObject } from "../../src/dialects/core/types.ts";
import { CHAT_ANSWER, exchange, HELLO } from "./exchange-cases.ts";

const CHUNK: JsonObject = { id: "c1", object: "chat.completion.chunk", created: 7, model: "m" };
const SAID: JsonObject = { ...CHUNK, choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null }] };
const STOP: JsonObject = { ...CHUNK, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };

describe("a usage chunk that the gateway creates", () => {
  it("has the stream's id, time and model", async () => {
    await exchange({
      type: 1,
      body: { model: "m", messages: HELLO, stream: true, stream_options: { include_usage: true } },
      answer: { sse: [{ data: SAID }, { data: STOP }, { data: "[DONE]" }] },
      got: {
        sse: [
          { data: SAID },
          { data: STOP },
          {
            data: {
              ...CHUNK,
              choices: [],
              usage: { prompt_tokens: 4, completion_tokens: 1, total_tokens: 5 },
            },
          },
          { data: "[DONE]" },
        ],
      },
      usage: { prompt_tokens: 4, completion_tokens: 1, estimated: true },
    });
  });
});

describe("a failure in the middle of a stream", () => {
  const got = (message: string, type = "server_error", code: string | null = null): JsonObject => ({
    sse: [{ data: SAID }, { data: { error: { message, type, param: null, code } } }],
  });

  it.each([
    ["in an event of that name", '{"message":"broke at https://internal.example.com/x","type":"server_error"}'],
    ["in words", "broke at https://internal.example.com/x"],
  ])("%s reaches the client in its protocol, without the upstream's host", async (_how, data) => {
    await exchange({
      type: 1,
      body: { model: "m", messages: HELLO, stream: true },
      answer: { sse: [{ data: SAID }, { event: "error", data }] },
      got: got("broke at https://***/x", "server_error", data.startsWith("{") ? null : "upstream_error"),
    });
  });

  it("is recognized inside a choice of OpenRouter, in whole answers too", async () => {
    const error = { code: 502, message: "Provider returned error" };
    await exchange({
      type: 20,
      body: { model: "a/b", messages: HELLO, stream: true },
      answer: {
        sse: [
          { data: SAID },
          { data: { ...CHUNK, choices: [{ index: 0, delta: {}, finish_reason: "error", error }] } },
        ],
      },
      got: got("Provider returned error", "server_error", "upstream_error"),
    });
    await exchange({
      type: 20,
      body: { model: "a/b", messages: HELLO },
      answer: { body: { id: "1", choices: [{ index: 0, message: { content: "" }, finish_reason: "error", error }] } },
      classify: { class: "server", retry_other_channel: true, disable_channel: false },
    });
  });
});

describe("a whole answer with a generic content type", () => {
  const body: JsonObject = { model: "m", messages: HELLO };

  it.each(["text/plain; charset=utf-8", "application/octet-stream"])("is read as JSON: %s", async (type) => {
    await exchange({
      type: 1,
      body,
      answer: { headers: { "content-type": type }, body: CHAT_ANSWER },
      got: { body: CHAT_ANSWER },
    });
  });

  it("is a failure when it is no answer", async () => {
    const message = "The upstream's answer could not be read.";
    await exchange({
      type: 1,
      body,
      answer: { headers: { "content-type": "text/plain" }, body: "hello" },
      got: {
        status: 502,
        body: { error: { message, type: "server_error", param: null, code: "upstream_invalid_response" } },
      },
    });
  });
});
