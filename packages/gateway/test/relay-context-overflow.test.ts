import { describe, expect, it } from "vitest";
import { useRelay } from "./relay-app.ts";

const relay = useRelay();

const message =
  "This model's maximum context length is 4096 tokens. However, your messages resulted in 5210 tokens. Please reduce the length of the messages.";
/** As vLLM answers: no code that says so, and a number in its place. */
const refused = { status: 400, body: { object: "error", message, type: "BadRequestError", param: null, code: 400 } };
const turn = [{ role: "user", content: "hi" }];
const contents = [{ role: "user", parts: [{ text: "hi" }] }];

describe("a prompt that does not fit the context of the model", () => {
  it.each([
    [
      "OpenAI chat",
      "/v1/chat/completions",
      { model: "small", messages: turn },
      { error: { code: "context_length_exceeded", type: "invalid_request_error", message: "maximum context length" } },
    ],
    [
      "OpenAI responses",
      "/v1/responses",
      { model: "small", input: "hi" },
      { error: { code: "context_length_exceeded", message: "maximum context length" } },
    ],
    [
      "Anthropic",
      "/v1/messages",
      { model: "small", max_tokens: 5, messages: turn },
      { error: { type: "invalid_request_error", message: "prompt is too long: 5210 tokens > 4096 maximum" } },
    ],
    [
      "Gemini",
      "/v1beta/models/small:generateContent",
      { contents },
      { error: { status: "INVALID_ARGUMENT", message: "input token count (5210) exceeds the maximum number" } },
    ],
  ])("is told to %s clients in the words that they know", async (_, path, body, expected) => {
    await relay.gateway.channel("small");
    relay.gateway.upstream.script("/chat/completions", () => refused);
    relay.gateway.upstream.script("/responses", () => refused);
    for (const isStream of [false, true]) {
      const streamed = path.includes(":") ? body : { ...body, stream: isStream };
      const url = isStream ? path.replace(":generateContent", ":streamGenerateContent?alt=sse") : path;
      const response = await relay.gateway.post(url, streamed, relay.key);
      expect(response.status).toBe(400);
      const answer = (await response.json()) as { error: Record<string, string> };
      for (const [name, text] of Object.entries(expected.error)) expect(answer.error[name]).toContain(text);
    }
  });
});
