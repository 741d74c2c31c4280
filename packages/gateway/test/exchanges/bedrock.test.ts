import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/dialects/core/types.ts";
import { converseBridge } from "../../src/providers/vendors/aws/converse.ts";
import { createBridgeContext, listEventData, event } from "../kit/provider-kit.ts";
import { exchange, HELLO, MESSAGE_ANSWER } from "./exchange-cases.ts";

const CONVERSE: JsonObject = {
  output: { message: { role: "assistant", content: [{ text: "Hi" }] } },
  stopReason: "end_turn",
  usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
};
const CHANNEL: JsonObject = { key: "us-east-1|ABSKtoken" };
const NOVA = "amazon.nova-pro-v1:0";
const SAID: JsonObject = { messages: [{ role: "user", content: [{ text: "Hello" }] }] };

function converse(body: JsonObject, sent: JsonObject, path?: string): Promise<void> {
  return exchange({
    type: 33,
    channel: CHANNEL,
    ...(path === undefined ? {} : { path }),
    body: { model: NOVA, messages: HELLO, ...body },
    sent: { body: { ...SAID, ...sent } },
    answer: { body: CONVERSE },
  });
}

const CALLS: JsonObject[] = [
  { role: "user", content: "Hello" },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "call_1234567890", type: "function", function: { name: "f", arguments: "{}" } }],
  },
  { role: "tool", tool_call_id: "call_1234567890", content: "r" },
];

function called(id: string, status = "success"): JsonObject[] {
  return [
    { role: "user", content: [{ text: "Hello" }] },
    { role: "assistant", content: [{ toolUse: { toolUseId: id, name: "f", input: {} } }] },
    { role: "user", content: [{ toolResult: { toolUseId: id, content: [{ text: "r" }], status } }] },
  ];
}

const TOOL_SPEC: JsonObject = { toolSpec: { name: "f", inputSchema: { json: { type: "object", properties: {} } } } };

describe("Converse", () => {
  it("offers the tools of the history when the client offers none, as the vendor requires", async () => {
    await converse({ messages: CALLS }, { messages: called("call_1234567890"), toolConfig: { tools: [TOOL_SPEC] } });
  });

  it("gives Mistral's models ids of nine letters and digits, the same for call and result", async () => {
    await exchange({
      type: 33,
      channel: CHANNEL,
      body: { model: "mistral.mistral-large-2407-v1:0", messages: CALLS },
      sent: { body: { messages: called("567311b82"), toolConfig: { tools: [TOOL_SPEC] } } },
      answer: { body: CONVERSE },
    });
  });

  it("writes top_k where each model family reads it, from clients of every protocol", async () => {
    const nova: JsonObject = { additionalModelRequestFields: { inferenceConfig: { topK: 5 } } };
    await converse({ top_k: 5 }, nova);
    await converse({ top_k: 5, max_tokens: 9 }, { ...nova, inferenceConfig: { maxTokens: 9 } }, "/v1/messages");
    await exchange({
      type: 33,
      channel: CHANNEL,
      body: { model: "cohere.command-r-v1:0", messages: HELLO, top_k: 5 },
      sent: { body: { ...SAID, additionalModelRequestFields: { top_k: 5 } } },
      answer: { body: CONVERSE },
    });
  });

  it("requests a JSON object in the prompt, and refuses sound instead of dropping it", async () => {
    await converse(
      { response_format: { type: "json_object" } },
      { system: [{ text: "Answer with one valid JSON object and nothing else." }] },
    );
    const content = [{ type: "input_audio", input_audio: { data: "QQ==", format: "wav" } }];
    expect(() =>
      converseBridge.begin(createBridgeContext()).request({ messages: [{ role: "user", content }] }),
    ).toThrow(expect.objectContaining({ code: "unsupported_parameter", param: "messages.content.input_audio" }));
  });

  it("forwards that a tool failed", async () => {
    await exchange({
      type: 33,
      channel: CHANNEL,
      path: "/v1/messages",
      body: {
        model: NOVA,
        max_tokens: 9,
        messages: [
          { role: "user", content: "Hello" },
          { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "f", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", is_error: true, content: "r" }] },
        ],
      },
      sent: {
        body: {
          messages: called("t1", "error"),
          inferenceConfig: { maxTokens: 9 },
          toolConfig: { tools: [TOOL_SPEC] },
        },
      },
      answer: { body: CONVERSE },
    });
  });

  it("reports parameters without an equivalent", () => {
    const context = createBridgeContext();
    const body = { messages: HELLO, reasoning_effort: "low", parallel_tool_calls: false };
    converseBridge.begin(context).request({ ...body, fw_show_thinking: true });
    expect(context.lost).toEqual(["reasoning_effort", "parallel_tool_calls"]);
  });

  it("closes a streamed call without arguments with an empty object", () => {
    const stream = converseBridge.begin(createBridgeContext()).stream();
    const start = { contentBlockIndex: 0, start: { toolUse: { toolUseId: "t", name: "f" } } };
    stream.event(event(start, "contentBlockStart"));
    const closing = stream.event(event({ contentBlockIndex: 0 }, "contentBlockStop"));
    expect(listEventData(closing)).toMatchObject([
      { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: "{}" } }] } }] },
    ]);
    expect(stream.event(event({ contentBlockIndex: 1 }, "contentBlockStop"))).toEqual([]);
  });
});

describe("Claude on Bedrock", () => {
  it("gets a schema in the prompt where Bedrock does not enforce it", async () => {
    const parameters = { type: "object", properties: {} };
    const sentTool = { name: "f", input_schema: { ...parameters, additionalProperties: false } };
    const asked = (model: string): JsonObject => ({
      model,
      max_tokens: 10,
      messages: [{ role: "system", content: "Be brief." }, ...HELLO],
      tools: [{ type: "function", function: { name: "f", strict: true, parameters } }],
      response_format: { type: "json_schema", json_schema: { name: "n", schema: { type: "object" } } },
      reasoning_effort: "low",
    });
    const common = { anthropic_version: "bedrock-2023-05-31", max_tokens: 10, messages: HELLO };
    await exchange({
      type: 33,
      channel: CHANNEL,
      body: asked("claude-opus-4-8"),
      sent: {
        body: {
          ...common,
          system:
            "Be brief.\n\nAnswer with one JSON value that matches this JSON schema, and nothing else:\n" +
            '{"type":"object","additionalProperties":false}',
          tools: [sentTool],
          thinking: { type: "adaptive", display: "summarized" },
          output_config: { effort: "low" },
        },
      },
      answer: { body: MESSAGE_ANSWER },
    });
    await exchange({
      type: 33,
      channel: CHANNEL,
      body: asked("claude-opus-4-6"),
      sent: {
        body: {
          ...common,
          system: "Be brief.",
          tools: [{ ...sentTool, strict: true }],
          thinking: { type: "adaptive", display: "summarized" },
          output_config: {
            effort: "low",
            format: { type: "json_schema", schema: { type: "object", additionalProperties: false } },
          },
        },
      },
      answer: { body: MESSAGE_ANSWER },
    });
  });
});

describe("embeddings of Cohere on Bedrock", () => {
  const body = { model: "cohere.embed-multilingual-v3", input: Array.from({ length: 97 }, (_, i) => `t${i}`) };
  const answer = (texts: number, tokens?: string): JsonObject => ({
    body: { embeddings: Array.from({ length: texts }, () => [1]) },
    headers: {
      "content-type": "application/json",
      ...(tokens === undefined ? {} : { "x-amzn-bedrock-input-token-count": tokens }),
    },
  });

  it("are billed by the headers of all calls when the texts need several", async () => {
    await exchange({
      type: 33,
      channel: CHANNEL,
      path: "/v1/embeddings",
      body,
      answer: [answer(96, "300"), answer(1, "12")],
      usage: { prompt_tokens: 312 },
    });
  });

  it("are counted by the gateway when one header has no usage", async () => {
    await exchange({
      type: 33,
      channel: CHANNEL,
      path: "/v1/embeddings",
      body,
      answer: [answer(96, "300"), answer(1)],
      usage: { estimated: true },
    });
  });
});

describe("failures of Bedrock", () => {
  it.each([
    ["AccessDeniedException", "You don't have access to the model with the specified model ID.", false],
    ["AccessDeniedException", "User is not authorized to perform: bedrock:InvokeModel", true],
    ["MissingAuthenticationTokenException:http://x/", "Missing Authentication Token", true],
    ["IncompleteSignatureException", "x", true],
    ["", "Authentication failed: Please make sure your API Key is valid.", true],
  ])("%s: %s", async (name, message, disables) => {
    await exchange({
      type: 33,
      channel: CHANNEL,
      body: { model: NOVA, messages: HELLO },
      answer: { status: 403, headers: { "x-amzn-errortype": name }, body: { message } },
      classify: { class: "bad_key", retry_other_channel: true, disable_channel: disables },
    });
  });

  it("report a prompt that is too long like OpenAI", async () => {
    await exchange({
      type: 33,
      channel: CHANNEL,
      body: { model: NOVA, messages: HELLO },
      answer: {
        status: 400,
        headers: { "x-amzn-errortype": "ValidationException" },
        body: { message: "Input is too long for requested model." },
      },
      got: {
        status: 400,
        body: {
          error: {
            message:
              "This request exceeds the maximum context length of the model: Input is too long for requested model.",
            type: "invalid_request_error",
            param: null,
            code: "context_length_exceeded",
          },
        },
      },
      classify: { class: "bad_request", retry_other_channel: false, disable_channel: false },
    });
  });
});
