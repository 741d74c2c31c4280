import { describe, expect, it } from "vitest";
import { walkMessages } from "../anthropic-messages/prompt.ts";
import { walkGemini } from "../gemini-generate/prompt.ts";
import { walkChat } from "../openai-chat/prompt.ts";
import { walkResponses } from "../openai-responses/prompt.ts";
import { estimateTokenBound, collectTexts } from "./prompt.ts";
import type { JsonObject } from "./types.ts";

const schema = { type: "object", properties: { city: { type: "string" } } };
const tool = { name: "weather", description: "The weather of a city." };
const args = '{"city":"Oslo"}';

interface Prompt {
  readonly title: string;
  readonly chat: JsonObject;
  readonly responses: JsonObject;
  readonly messages: JsonObject;
  readonly gemini: JsonObject;
}

/** One prompt in each protocol. */
const PROMPTS: readonly Prompt[] = [
  {
    title: "a question",
    chat: { messages: [{ role: "user", content: "hi" }] },
    responses: { input: "hi" },
    messages: { messages: [{ role: "user", content: "hi" }] },
    gemini: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
  },
  {
    title: "a conversation with a system prompt and tools",
    chat: {
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: [{ type: "text", text: "Is it warm?" }] },
        {
          role: "assistant",
          content: "I look.",
          tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: args } }],
        },
        { role: "tool", tool_call_id: "c1", content: "9 degrees" },
      ],
      tools: [{ type: "function", function: { ...tool, parameters: schema } }],
    },
    responses: {
      instructions: "Be brief.",
      input: [
        { role: "user", content: "Is it warm?" },
        { role: "assistant", content: [{ type: "output_text", text: "I look." }] },
        { type: "function_call", call_id: "c1", name: "weather", arguments: args },
        { type: "function_call_output", call_id: "c1", output: "9 degrees" },
      ],
      tools: [{ type: "function", ...tool, parameters: schema, strict: true }],
    },
    messages: {
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      messages: [
        { role: "user", content: "Is it warm?" },
        {
          role: "assistant",
          content: [
            { type: "text", text: "I look." },
            { type: "tool_use", id: "c1", name: "weather", input: { city: "Oslo" } },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "9 degrees" }] },
      ],
      tools: [{ ...tool, input_schema: schema }],
    },
    gemini: {
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [
        { role: "user", parts: [{ text: "Is it warm?" }] },
        { role: "model", parts: [{ text: "I look." }, { functionCall: { name: "weather", args: { city: "Oslo" } } }] },
        { role: "user", parts: [{ functionResponse: { name: "weather", response: { result: "9 degrees" } } }] },
      ],
      tools: [{ functionDeclarations: [{ ...tool, parametersJsonSchema: schema }] }],
    },
  },
];

describe("one prompt", () => {
  // @weakness Money: The prompt of a stream that breaks off before its usage counts without what the chat template adds
  it.each(PROMPTS)("counts the same in every protocol: $title", ({ chat, responses, messages, gemini }) => {
    const counted = collectTexts((reader) => walkChat(chat, reader));
    expect(counted.extra).toBeGreaterThanOrEqual(7);
    expect(collectTexts((reader) => walkResponses(responses, reader))).toEqual(counted);
    expect(collectTexts((reader) => walkMessages(messages, reader))).toEqual(counted);
    expect(collectTexts((reader) => walkGemini(gemini, reader))).toEqual(counted);
    expect(estimateTokenBound((reader) => walkMessages(messages, reader))).toBe(
      estimateTokenBound((reader) => walkChat(chat, reader)),
    );
  });
});
