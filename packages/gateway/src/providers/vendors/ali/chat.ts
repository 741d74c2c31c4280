import type { Bridge, BridgeContext, StreamBridge } from "../../../dialects/core/bridge.ts";
import { statelessBridge } from "../../../dialects/core/stateless-bridge.ts";
import type { JsonObject, StreamEvent } from "../../../dialects/core/types.ts";
import { compact, count, isSet, object, objects, text } from "../../../dialects/core/read.ts";

import { checkChatFields, checkChatParts } from "../../core/private/chat-checks.ts";
import { chatMessages, fitNumbers, maxTokens, stopList, type ChatMessage } from "../../core/private/chat-reader.ts";
import { CallParts, chatAnswer, ChunkWriter, toolCall, type ChatUsage } from "../../core/private/chat-writer.ts";
import { needed } from "../../core/private/needed.ts";

const INTERNET = "-internet";
const SAME = [
  "temperature",
  "top_k",
  "seed",
  "tools",
  "tool_choice",
  "repetition_penalty",
  "presence_penalty",
  "enable_thinking",
  "thinking_budget",
  "search_options",
  "response_format",
];
const READ = [...SAME, "top_p", "max_tokens", "max_completion_tokens", "stop", "enable_search"];

/** Models that repeat the whole text in every event although increments were requested. */
const CUMULATIVE = /^(?:qwen-max-longcontext|qwen-1\.8b|qwen-audio|qwen-vl-v1)/;

export function isMultimodal(model: string): boolean {
  return /(?:^|-)(?:vl|audio|omni|qvq)(?:-|$)/.test(model);
}

export function searchesWeb(model: string): boolean {
  return model.endsWith(INTERNET);
}

/** https://help.aliyun.com/zh/model-studio/dashscope-api-reference */
export const chatBridge: Bridge = statelessBridge({
  client: "openai-chat",
  upstream: "private:ali-chat",
  request(body, context) {
    checkChatFields(body, context, READ);
    const { upstreamModel } = context;
    checkChatParts(body, context, isMultimodal(upstreamModel));
    const isWeb = searchesWeb(upstreamModel);
    const stop = stopList(body);
    const bounded = fitNumbers(body, { top_p: [0, 0.9999] }, context);
    const parts = isMultimodal(upstreamModel) ? multimodalContent : (message: ChatMessage) => message.text;
    return {
      model: isWeb ? upstreamModel.slice(0, -INTERNET.length) : upstreamModel,
      input: { messages: chatMessages(body).map((message) => toMessage(message, parts(message))) },
      parameters: compact({
        result_format: "message",
        incremental_output: body["stream"] === true ? true : undefined,
        enable_search: isWeb ? true : body["enable_search"],
        top_p: bounded["top_p"],
        max_tokens: maxTokens(body),
        stop: stop.length === 0 ? undefined : stop,
        ...Object.fromEntries(SAME.filter((name) => isSet(body[name])).map((name) => [name, body[name]])),
      }),
    };
  },
  response(body, context) {
    const output = object(body, "output");
    const [choice] = objects(output, "choices");
    const message = object(choice, "message");
    needed(message ?? text(output, "text"));
    const calls = objects(message, "tool_calls").map(toToolCall);
    const reason = text(choice, "finish_reason") ?? text(output, "finish_reason");
    return chatAnswer(
      {
        id: text(body, "request_id"),
        content: text(output, "text") ?? readText(message),
        reasoning: text(message, "reasoning_content"),
        toolCalls: calls,
        finish: isRunning(reason) ? "stop" : (reason ?? "stop"),
        usage: aliUsage(object(body, "usage")),
      },
      context,
    );
  },
  stream: createStreamBridge,
});

function toMessage(message: ChatMessage, content: string | JsonObject[]): JsonObject {
  const calls = message.source["tool_calls"];
  return compact({
    role: message.role,
    content,
    tool_calls: message.toolCalls.length === 0 ? undefined : calls,
    tool_call_id: message.role === "tool" ? message.toolCallId : undefined,
    name: message.role === "tool" ? message.name : undefined,
  });
}

function multimodalContent(message: ChatMessage): JsonObject[] {
  return [...message.images.map((image) => ({ image })), ...(message.text === "" ? [] : [{ text: message.text }])];
}

/** Returns the text of a message: plain models write a text, multimodal models a list of texts. */
function readText(message: JsonObject | undefined): string {
  return (
    text(message, "content") ??
    objects(message, "content")
      .map((part) => text(part, "text") ?? "")
      .join("")
  );
}

function toToolCall(call: JsonObject): JsonObject {
  const named = object(call, "function");
  return toolCall(text(call, "id") ?? "", text(named, "name") ?? "", text(named, "arguments") ?? "");
}

/** While the answer is being written, the reason is missing or the text "null". */
function isRunning(reason: string | undefined): boolean {
  return reason === undefined || reason === "null" || reason === "";
}

function aliUsage(usage: JsonObject | undefined): ChatUsage | undefined {
  const input = count(usage, "input_tokens");
  const output = count(usage, "output_tokens");
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    cachedInput: count(object(usage, "prompt_tokens_details"), "cached_tokens"),
    reasoning: count(object(usage, "output_tokens_details"), "reasoning_tokens"),
  };
}

function createStreamBridge(context: BridgeContext): StreamBridge {
  const writer = new ChunkWriter(context, { hasOwnRoleChunk: false });
  const increment = createIncrementCutter(CUMULATIVE.test(context.upstreamModel));
  const calls = new CallParts(writer);
  return {
    event({ event, data }) {
      if (!data || writer.isEnded) return [];
      const code = text(data, "code") ?? "";
      if (event === "error" || code !== "") {
        return writer.fail({ message: text(data, "message") ?? "", type: code, code, param: text(data, "request_id") });
      }
      writer.name({ id: text(data, "request_id") });
      const piece = readPiece(object(data, "output"));
      const before = [
        ...(piece.thought === "" ? [] : writer.delta({ reasoning_content: piece.thought })),
        ...piece.calls.flatMap((call) => calls.take(toToolCall(call))),
      ];
      return [...before, ...rest(writer, increment(piece.said), piece.reason, aliUsage(object(data, "usage")))];
    },
    end: () => [],
  };
}

/** Writes text, or text with the finish reason and what follows it. */
function rest(
  writer: ChunkWriter,
  said: string,
  reason: string | undefined,
  usage: ChatUsage | undefined,
): StreamEvent[] {
  if (isRunning(reason)) return said === "" ? [] : writer.delta({ content: said });
  const finish = writer.toolCount > 0 ? "tool_calls" : (reason ?? "stop");
  if (said === "") return writer.end(finish, usage);
  return [...writer.delta({ content: said }, finish), ...writer.end(undefined, usage)];
}

function readPiece(output: JsonObject | undefined) {
  const [choice] = objects(output, "choices");
  const message = object(choice, "message");
  return {
    said: text(output, "text") ?? readText(message),
    thought: text(message, "reasoning_content") ?? "",
    calls: objects(message, "tool_calls"),
    reason: text(choice, "finish_reason") ?? text(output, "finish_reason"),
  };
}

/**
 * Returns a function that cuts the earlier text off models' cumulative texts; true increments would be damaged by it
 * and stay as they are.
 */
function createIncrementCutter(isCumulative: boolean): (said: string) => string {
  let soFar = "";
  return (said) => {
    const isRepeated = isCumulative && soFar !== "" && said.startsWith(soFar);
    const added = isRepeated ? said.slice(soFar.length) : said;
    soFar += added;
    return added;
  };
}
