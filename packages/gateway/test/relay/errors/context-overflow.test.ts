import { describe, expect, it } from "vitest";
import { parseEvents } from "../../../src/lib/text/sse.ts";
import { consumeRows, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

const message =
  "This model's maximum context length is 4096 tokens. However, your messages resulted in 5210 tokens. Please reduce the length of the messages.";
/** An answer of vLLM: no code that names the error, but a number in its place. */
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
  ])("reaches %s clients in the error of their protocol", async (_, path, body, expected) => {
    await relay.gateway.channel("small");
    relay.gateway.upstream.script("/chat/completions", () => refused);
    relay.gateway.upstream.script("/responses", () => refused);
    for (const isStream of [false, true]) {
      const streamed = path.includes(":") ? body : { ...body, stream: isStream };
      const url = isStream ? path.replace(":generateContent", ":streamGenerateContent?alt=sse") : path;
      const response = await relay.gateway.post(url, streamed, relay.key);
      if (isStream && path === "/v1/responses") continue;
      expect(response.status).toBe(400);
      const answer = (await response.json()) as { error: Record<string, string> };
      for (const [name, text] of Object.entries(expected.error)) expect(answer.error[name]).toContain(text);
    }
  });

  it("fails a streamed response inside the stream, where its clients expect it", async () => {
    await relay.gateway.channel("small");
    relay.gateway.upstream.script("/responses", () => refused);
    const body = { model: "small", input: "hi", stream: true };
    const response = await relay.gateway.post("/v1/responses", body, relay.key);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const events = parseEvents(Buffer.from(await response.text())).map(({ data }) => data);
    expect(events).toMatchObject([
      { type: "response.created", sequence_number: 0, response: { model: "small", status: "in_progress" } },
      { type: "error", sequence_number: 1, code: "context_length_exceeded" },
      {
        type: "response.failed",
        sequence_number: 2,
        response: { status: "failed", output: [], error: { code: "context_length_exceeded" } },
      },
    ]);
    const [first, , last] = events.map((event) => event?.["response"] as { id: string } | undefined);
    expect(last?.id).toBe(first?.id);
    expect(await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "")).toEqual([]);
  });

  it("is described in the client's protocol when a server reports the counts as members", async () => {
    await relay.gateway.channel("local");
    const error = {
      code: 400,
      message: "the request exceeds the available context size, try increasing it",
      type: "exceed_context_size_error",
      n_prompt_tokens: 5210,
      n_ctx: 4096,
    };
    relay.gateway.upstream.script("/chat/completions", () => ({ status: 400, body: { error } }));
    const body = { model: "local", max_tokens: 5, messages: turn };
    const answer = await (await relay.gateway.post("/v1/messages", body, relay.key)).json();
    expect(answer).toMatchObject({ error: { message: "prompt is too long: 5210 tokens > 4096 maximum" } });
  });
});
