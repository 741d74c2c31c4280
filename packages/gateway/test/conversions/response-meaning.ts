// What an answer says, apart from the protocol that says it.
import { anyText, object, objects, text } from "../../src/dialects/core/read.ts";
import type { DialectId, JsonObject } from "../../src/dialects/core/types.ts";
import { dialectById } from "../../src/dialects/index.ts";
import { anthropicUsage, chatUsage, geminiUsage, responsesUsage, toUsage } from "../../src/dialects/core/usage.ts";

export interface Meaning {
  readonly thinking: string;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: JsonObject }[];
  readonly finish: "stop" | "length" | "tool_calls" | "content_filter";
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

export type ChatLike = "openai-chat" | "anthropic-messages" | "gemini-generate" | "openai-responses";

export const PROTOCOLS: readonly ChatLike[] = [
  "openai-chat",
  "anthropic-messages",
  "gemini-generate",
  "openai-responses",
];

export function dialect(id: DialectId) {
  const found = dialectById(id);
  if (found === undefined) throw new Error(`no dialect ${id}`);
  return found;
}

/** An upstream's whole answer with this meaning. */
export function write(protocol: ChatLike, meaning: Meaning): JsonObject {
  return WRITERS[protocol](meaning);
}

/** The meaning of an answer as a client of the protocol understands it. */
export function read(protocol: ChatLike, answer: JsonObject): Meaning {
  return READERS[protocol](answer);
}

const usage = (meaning: Meaning) =>
  toUsage({ input: meaning.input, output: meaning.output, cachedInput: meaning.cached });

const WRITERS: Readonly<Record<ChatLike, (meaning: Meaning) => JsonObject>> = {
  "openai-chat": (meaning) => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: meaning.text === "" && meaning.calls.length > 0 ? null : meaning.text,
          ...(meaning.thinking !== "" && { reasoning_content: meaning.thinking }),
          ...(meaning.calls.length > 0 && {
            tool_calls: meaning.calls.map(({ name, args }, at) => ({
              id: `call_${at}`,
              type: "function",
              function: { name, arguments: JSON.stringify(args) },
            })),
          }),
        },
        finish_reason: meaning.finish,
      },
    ],
    usage: chatUsage(usage(meaning)),
  }),
  "anthropic-messages": (meaning) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [
      ...(meaning.thinking === "" ? [] : [{ type: "thinking", thinking: meaning.thinking, signature: "c2ln" }]),
      ...(meaning.text === "" ? [] : [{ type: "text", text: meaning.text }]),
      ...meaning.calls.map(({ name, args }, at) => ({ type: "tool_use", id: `toolu_${at}`, name, input: args })),
    ],
    stop_reason: { stop: "end_turn", length: "max_tokens", tool_calls: "tool_use", content_filter: "refusal" }[
      meaning.finish
    ],
    stop_sequence: null,
    usage: anthropicUsage(usage(meaning)),
  }),
  "gemini-generate": (meaning) => ({
    candidates: [
      {
        content: {
          role: "model",
          parts: [
            ...(meaning.thinking === "" ? [] : [{ text: meaning.thinking, thought: true }]),
            ...(meaning.text === "" ? [] : [{ text: meaning.text }]),
            ...meaning.calls.map(({ name, args }) => ({ functionCall: { name, args } })),
          ],
        },
        finishReason: { stop: "STOP", length: "MAX_TOKENS", tool_calls: "STOP", content_filter: "SAFETY" }[
          meaning.finish
        ],
        index: 0,
      },
    ],
    usageMetadata: geminiUsage(usage(meaning)),
    modelVersion: "m",
    responseId: "g1",
  }),
  "openai-responses": (meaning) => ({
    id: "resp_1",
    object: "response",
    created_at: 1,
    model: "m",
    status: meaning.finish === "length" || meaning.finish === "content_filter" ? "incomplete" : "completed",
    error: null,
    incomplete_details:
      meaning.finish === "length"
        ? { reason: "max_output_tokens" }
        : meaning.finish === "content_filter"
          ? { reason: "content_filter" }
          : null,
    output: [
      ...(meaning.thinking === ""
        ? []
        : [{ type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: meaning.thinking }] }]),
      ...(meaning.text === ""
        ? []
        : [
            {
              type: "message",
              id: "msg_1",
              role: "assistant",
              status: "completed",
              content: [{ type: "output_text", text: meaning.text, annotations: [] }],
            },
          ]),
      ...meaning.calls.map(({ name, args }, at) => ({
        type: "function_call",
        id: `fc_${at}`,
        call_id: `call_${at}`,
        name,
        arguments: JSON.stringify(args),
        status: "completed",
      })),
    ],
    usage: responsesUsage(usage(meaning)),
  }),
};

function counts(protocol: ChatLike, answer: JsonObject) {
  const found = dialect(protocol).usage(answer);
  return { input: found?.input ?? -1, output: found?.output ?? -1, cached: found?.cachedInput ?? -1 };
}

const READERS: Readonly<Record<ChatLike, (answer: JsonObject) => Meaning>> = {
  "openai-chat": (answer) => {
    const choice = objects(answer, "choices")[0];
    const message = object(choice, "message");
    return {
      thinking: anyText(message, "reasoning_content"),
      text: anyText(message, "content"),
      calls: objects(message, "tool_calls").map((call) => {
        const target = object(call, "function");
        return { name: anyText(target, "name"), args: JSON.parse(anyText(target, "arguments")) as JsonObject };
      }),
      finish: anyText(choice, "finish_reason") as Meaning["finish"],
      ...counts("openai-chat", answer),
    };
  },
  "anthropic-messages": (answer) => {
    const blocks = objects(answer, "content");
    const reasons: Record<string, Meaning["finish"]> = {
      end_turn: "stop",
      max_tokens: "length",
      tool_use: "tool_calls",
      refusal: "content_filter",
    };
    return {
      thinking: blocks.map((block) => anyText(block, "thinking")).join(""),
      text: blocks.map((block) => anyText(block, "text")).join(""),
      calls: blocks
        .filter((block) => block["type"] === "tool_use")
        .map((block) => ({ name: anyText(block, "name"), args: object(block, "input") ?? {} })),
      finish: reasons[anyText(answer, "stop_reason")] ?? "stop",
      ...counts("anthropic-messages", answer),
    };
  },
  "gemini-generate": (answer) => {
    const candidate = objects(answer, "candidates")[0];
    const parts = objects(object(candidate, "content"), "parts");
    const calls = parts.flatMap((part) => object(part, "functionCall") ?? []) as JsonObject[];
    const reasons: Record<string, Meaning["finish"]> = { STOP: "stop", MAX_TOKENS: "length", SAFETY: "content_filter" };
    const finish = reasons[anyText(candidate, "finishReason")] ?? "stop";
    return {
      thinking: parts.map((part) => (part["thought"] === true ? anyText(part, "text") : "")).join(""),
      text: parts.map((part) => (part["thought"] === true ? "" : anyText(part, "text"))).join(""),
      calls: calls.map((call) => ({ name: anyText(call, "name"), args: object(call, "args") ?? {} })),
      finish: finish === "stop" && calls.length > 0 ? "tool_calls" : finish,
      ...counts("gemini-generate", answer),
    };
  },
  "openai-responses": (answer) => {
    const items = objects(answer, "output");
    const ofType = (type: string) => items.filter((item) => item["type"] === type);
    const reason = text(object(answer, "incomplete_details"), "reason");
    const calls = ofType("function_call").map((item) => ({
      name: anyText(item, "name"),
      args: JSON.parse(anyText(item, "arguments")) as JsonObject,
    }));
    const ended = calls.length > 0 ? "tool_calls" : "stop";
    return {
      thinking: ofType("reasoning")
        .flatMap((item) => objects(item, "summary"))
        .map((part) => anyText(part, "text"))
        .join(""),
      text: ofType("message")
        .flatMap((item) => objects(item, "content"))
        .map((part) => anyText(part, "text"))
        .join(""),
      calls,
      finish: reason === "max_output_tokens" ? "length" : reason === "content_filter" ? "content_filter" : ended,
      ...counts("openai-responses", answer),
    };
  },
};
