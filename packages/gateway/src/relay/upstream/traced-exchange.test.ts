import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../dialects/core/types.ts";
import { TracedExchange } from "./traced-exchange.ts";

function readFacts(exchange: TracedExchange) {
  const { responseId, responseModel, finishReasons } = exchange;
  return [responseId, responseModel, finishReasons];
}

function encodeEvents(...events: readonly JsonObject[]): Buffer {
  return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
}

/** A whole answer and the same answer as a stream, in each protocol. */
const ANSWERS: readonly {
  readonly protocol: string;
  readonly whole: JsonObject;
  readonly events: readonly JsonObject[];
  readonly facts: readonly unknown[];
}[] = [
  {
    protocol: "chat",
    whole: {
      id: "chatcmpl-1",
      model: "gpt-4o-2024-11-20",
      choices: [
        { index: 0, finish_reason: "stop", message: { content: "a" } },
        { index: 1, finish_reason: "length", message: { content: "b" } },
      ],
    },
    events: [
      { id: "chatcmpl-1", model: "gpt-4o-2024-11-20", choices: [{ index: 0, finish_reason: null, delta: {} }] },
      { id: "chatcmpl-1", model: "gpt-4o-2024-11-20", choices: [{ index: 1, finish_reason: "length", delta: {} }] },
      { id: "chatcmpl-1", model: "gpt-4o-2024-11-20", choices: [{ index: 0, finish_reason: "stop", delta: {} }] },
      { id: "chatcmpl-1", model: "gpt-4o-2024-11-20", choices: [], usage: { prompt_tokens: 1 } },
    ],
    facts: ["chatcmpl-1", "gpt-4o-2024-11-20", ["stop", "length"]],
  },
  {
    protocol: "messages",
    whole: { id: "msg_1", model: "claude-sonnet-4-5", stop_reason: "end_turn", content: [] },
    events: [
      { type: "message_start", message: { id: "msg_1", model: "claude-sonnet-4-5", stop_reason: null } },
      { type: "content_block_start", content_block: { type: "tool_use", id: "toolu_1" } },
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      { type: "message_stop" },
    ],
    facts: ["msg_1", "claude-sonnet-4-5", ["end_turn"]],
  },
  {
    protocol: "responses",
    whole: {
      id: "resp_1",
      object: "response",
      model: "gpt-5",
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    },
    events: [
      {
        type: "response.created",
        response: { id: "resp_1", object: "response", model: "gpt-5", status: "in_progress" },
      },
      { type: "response.output_text.delta", item_id: "msg_1", delta: "a" },
      {
        type: "response.incomplete",
        response: {
          id: "resp_1",
          object: "response",
          model: "gpt-5",
          status: "incomplete",
          incomplete_details: { reason: "max_output_tokens" },
        },
      },
    ],
    facts: ["resp_1", "gpt-5", ["max_output_tokens"]],
  },
  {
    protocol: "generateContent",
    whole: { responseId: "r-1", modelVersion: "gemini-2.5-pro", candidates: [{ finishReason: "STOP" }] },
    events: [
      { responseId: "r-1", modelVersion: "gemini-2.5-pro", candidates: [{ content: {} }] },
      { responseId: "r-1", modelVersion: "gemini-2.5-pro", candidates: [{ finishReason: "STOP" }] },
    ],
    facts: ["r-1", "gemini-2.5-pro", ["STOP"]],
  },
];

describe.each(ANSWERS)("an answer of $protocol", ({ whole, events, facts }) => {
  it("names itself and its end", () => {
    const exchange = new TracedExchange({});
    exchange.readAnswer(whole);
    expect(readFacts(exchange)).toEqual(facts);
  });

  it("names the same as a stream, however its events arrive", () => {
    const [together, apart] = [new TracedExchange({}), new TracedExchange({})];
    together.readEvents(encodeEvents(...events));
    for (const event of events) apart.readEvents(encodeEvents(event));
    expect([readFacts(together), readFacts(apart)]).toEqual([facts, facts]);
  });
});

/** Each parameter under every name that a protocol has for it. */
const REQUESTS: readonly (readonly [name: string, sent: JsonObject, parameter: string, value: unknown])[] = [
  ["temperature", { temperature: 0.2 }, "temperature", 0.2],
  ["Gemini's temperature", { generationConfig: { temperature: 0.2 } }, "temperature", 0.2],
  ["Bedrock's temperature", { inferenceConfig: { temperature: 0.2 } }, "temperature", 0.2],
  ["top_p", { top_p: 0.9 }, "topP", 0.9],
  ["topP", { generationConfig: { topP: 0.9 } }, "topP", 0.9],
  ["top_k", { top_k: 40 }, "topK", 40],
  ["topK", { generationConfig: { topK: 40 } }, "topK", 40],
  ["max_tokens", { max_tokens: 9 }, "maxTokens", 9],
  ["max_completion_tokens before max_tokens", { max_tokens: 1, max_completion_tokens: 9 }, "maxTokens", 9],
  ["max_output_tokens", { max_output_tokens: 9 }, "maxTokens", 9],
  ["maxOutputTokens", { generationConfig: { maxOutputTokens: 9 } }, "maxTokens", 9],
  ["maxTokens", { inferenceConfig: { maxTokens: 9 } }, "maxTokens", 9],
  ["frequency_penalty", { frequency_penalty: -1 }, "frequencyPenalty", -1],
  ["presencePenalty", { generationConfig: { presencePenalty: 1 } }, "presencePenalty", 1],
  ["seed", { seed: 7 }, "seed", 7],
  ["n", { n: 2 }, "choices", 2],
  ["candidateCount", { generationConfig: { candidateCount: 2 } }, "choices", 2],
  ["encoding_format", { encoding_format: "base64" }, "encodingFormats", ["base64"]],
  ["embedding_types", { embedding_types: ["float", "int8"] }, "encodingFormats", ["float", "int8"]],
  ["reasoning_effort", { reasoning_effort: "low" }, "reasoningLevel", "low"],
  ["reasoning.effort", { reasoning: { effort: "low" } }, "reasoningLevel", "low"],
  ["output_config.effort", { output_config: { effort: "low" } }, "reasoningLevel", "low"],
  ["thinkingLevel", { generationConfig: { thinkingConfig: { thinkingLevel: "low" } } }, "reasoningLevel", "low"],
  ["previous_response_id", { previous_response_id: "resp_1" }, "previousResponseId", "resp_1"],
];

it.each(REQUESTS)("reads %s", (_, sent, parameter, value) => {
  const { parameters } = new TracedExchange(sent);
  const found = Object.entries(parameters).filter(([, read]) => read !== undefined);
  expect(found).toEqual([[parameter, value]]);
});

it("bounds the words of an upstream, and ignores values of other kinds", () => {
  const exchange = new TracedExchange({ temperature: "hot", seed: null, n: [2], stop: ["a secret word"] });
  exchange.readAnswer({
    id: "x".repeat(9_999),
    model: 3,
    choices: Array.from({ length: 99 }, (_, index) => ({ index, finish_reason: "y".repeat(9_999) })),
  });
  expect(Object.values(exchange.parameters).filter((value) => value !== undefined)).toEqual([]);
  expect([exchange.responseId?.length, exchange.responseModel, exchange.finishReasons.length]).toEqual([
    256,
    undefined,
    16,
  ]);
  expect(exchange.finishReasons[0]).toHaveLength(256);
});
