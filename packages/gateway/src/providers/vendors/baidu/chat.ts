import type { Bridge, BridgeContext, StreamBridge } from "../../../dialects/core/bridge.ts";
import { statelessBridge } from "../../../dialects/core/stateless-bridge.ts";
import type { JsonObject, StreamEvent } from "../../../dialects/core/types.ts";
import { compact, count, object, objects, text } from "../../../dialects/core/read.ts";
import { invalidRequest } from "../../../lib/app-error.ts";
import { checkChatFields, checkChatParts } from "../../core/private/chat-checks.ts";
import {
  chatFunctions,
  chatMessages,
  chatToolChoice,
  fitNumbers,
  instructedMessages,
  maxTokens,
  stopList,
  systemText,
  toolName,
  type ChatMessage,
} from "../../core/private/chat-reader.ts";
import { chatAnswer, ChunkWriter, toolCall, type ChatUsage } from "../../core/private/chat-writer.ts";
import { needed } from "../../core/private/needed.ts";
import { embeddingAnswer, embeddingTexts } from "../../core/embedding-input.ts";
import { unaryBridge } from "../../core/unary-bridge.ts";

const READ = [
  "temperature",
  "top_p",
  "frequency_penalty",
  "max_tokens",
  "max_completion_tokens",
  "user",
  "stop",
  "response_format",
  "tools",
  "functions",
  "tool_choice",
  "disable_search",
  "enable_citation",
];

const LEAST_TOKENS = 2;

export const chatBridge: Bridge = statelessBridge({
  client: "openai-chat",
  upstream: "private:baidu-chat",
  request(body, context) {
    checkChatFields(body, context, READ);
    checkChatParts(body, context, false);
    const isSchema = text(object(body, "response_format"), "type") === "json_schema";
    const messages = isSchema ? instructedMessages(body) : chatMessages(body);
    const turns = alternating(messages);
    if (turns.length === 0) throw invalidRequest("messages", "messages must hold a user message.");
    const bounded = fitNumbers(body, { temperature: [0.01, 1], top_p: [0, 1], frequency_penalty: [0, 1] }, context);
    const limit = maxTokens(body);
    const stop = stopList(body);
    if (limit === 1) context.dropped("max_tokens");
    const penalty = bounded["frequency_penalty"];
    return compact({
      messages: turns,
      system: systemText(messages) || undefined,
      temperature: bounded["temperature"],
      top_p: bounded["top_p"],
      penalty_score: typeof penalty === "number" && penalty > 0 ? 1 + penalty : undefined,
      max_output_tokens: limit ? Math.max(LEAST_TOKENS, limit) : undefined,
      stream: body["stream"] === true ? true : undefined,
      user_id: body["user"],
      stop: stop.length === 0 ? undefined : stop,
      response_format: toResponseFormat(body),
      functions: buildFunctions(body, context),
      disable_search: body["disable_search"],
      enable_citation: body["enable_citation"],
    });
  },
  response(body, context) {
    const calls = toToolCalls(body);
    return chatAnswer(
      {
        id: text(body, "id"),
        created: count(body, "created"),
        content: calls.length > 0 ? (text(body, "result") ?? "") : needed(text(body, "result")),
        toolCalls: calls,
        finish: readFinishReason(body, calls.length > 0),
        usage: baiduUsage(object(body, "usage")),
      },
      context,
    );
  },
  stream: createStreamBridge,
});

export const embedBridge: Bridge = unaryBridge({
  client: "openai-embeddings",
  upstream: "private:baidu-embed",
  request: (body) => compact({ input: embeddingTexts(body), user_id: body["user"] }),
  response: (body, context) =>
    embeddingAnswer(
      context.spec.model,
      objects(body, "data").map((entry) => entry["embedding"]),
      count(object(body, "usage"), "prompt_tokens"),
    ),
});

function toResponseFormat(body: JsonObject): string | undefined {
  const type = text(object(body, "response_format"), "type");
  return type === "json_object" || type === "json_schema" ? "json_object" : undefined;
}

function buildFunctions(body: JsonObject, context: BridgeContext): JsonObject[] | undefined {
  const choice = chatToolChoice(body)?.mode;
  if (choice === "required" || choice === "named") context.dropped("tool_choice");
  const functions = choice === "none" ? [] : chatFunctions(body);
  if (functions.length === 0) return undefined;
  return functions.map(({ name, description, parameters }) => compact({ name, description, parameters }));
}

/** Joins neighbouring turns of one role, because users and assistants must alternate. */
function alternating(messages: readonly ChatMessage[]): JsonObject[] {
  const turns: { role: string; content: string; rest: JsonObject }[] = [];
  for (const message of oneCallEach(messages)) {
    const turn = toTurn(message, messages);
    const last = turns.at(-1);
    const isPlain = Object.keys(turn.rest).length === 0 && Object.keys(last?.rest ?? {}).length === 0;
    if (last?.role === turn.role && isPlain) last.content = `${last.content}\n\n${turn.content}`;
    else turns.push(turn);
  }
  return turns.map(({ role, content, rest }) => ({ role, content, ...rest }));
}

/** Splits parallel calls, because a turn may hold only one: they follow each other, each with its result. */
function oneCallEach(messages: readonly ChatMessage[]): ChatMessage[] {
  const turns: ChatMessage[] = [];
  const answered = new Set<ChatMessage>();
  for (const [at, message] of messages.entries()) {
    if (message.role === "system" || answered.has(message)) continue;
    const { toolCalls } = message;
    if (toolCalls.length < 2) {
      turns.push(message);
      continue;
    }
    for (const [place, call] of toolCalls.entries()) {
      turns.push({ ...message, text: place === 0 ? message.text : "", toolCalls: [call] });
      const result = messages.slice(at).find(({ role, toolCallId }) => role === "tool" && toolCallId === call.id);
      if (result === undefined || answered.has(result)) continue;
      answered.add(result);
      turns.push(result);
    }
  }
  return turns;
}

function toTurn(
  message: ChatMessage,
  all: readonly ChatMessage[],
): { role: string; content: string; rest: JsonObject } {
  if (message.role === "tool") {
    const name = toolName(all, message.toolCallId) ?? message.name ?? "";
    return { role: "function", content: message.text, rest: { name } };
  }
  const [call] = message.toolCalls;
  const rest: JsonObject = call ? { function_call: { name: call.name, arguments: call.arguments } } : {};
  return { role: message.role, content: message.text, rest };
}

function toToolCalls(body: JsonObject): JsonObject[] {
  const call = object(body, "function_call");
  return call ? [toolCall(text(body, "id") ?? "", text(call, "name") ?? "", text(call, "arguments") ?? "")] : [];
}

/** Returns the finish reason. `need_clear_history` means that the user's input was refused as sensitive. */
function readFinishReason(body: JsonObject, hasCalls: boolean): string {
  if (hasCalls) return "tool_calls";
  const reason = text(body, "finish_reason");
  if (body["need_clear_history"] === true || reason === "content_filter") return "content_filter";
  return body["is_truncated"] === true || reason === "length" ? "length" : "stop";
}

/** Reads the running totals; the completion is the total minus the prompt. */
function baiduUsage(usage: JsonObject | undefined): ChatUsage | undefined {
  const input = count(usage, "prompt_tokens");
  const total = count(usage, "total_tokens");
  if (input === undefined || total === undefined) return undefined;
  return { input, output: Math.max(0, total - input) };
}

function createStreamBridge(context: BridgeContext): StreamBridge {
  const writer = new ChunkWriter(context, { hasOwnRoleChunk: false });
  return {
    event({ data }) {
      if (!data || writer.isEnded) return [];
      const code = count(data, "error_code") ?? 0;
      if (code !== 0) {
        return writer.fail({ message: text(data, "error_msg") ?? "", type: "baidu_error", code: String(code) });
      }
      writer.name({ id: text(data, "id"), created: count(data, "created") });
      return [...toToolCalls(data).flatMap((call) => writeToolStart(call, writer)), ...writeText(data, writer)];
    },
    end: () => [],
  };
}

function writeToolStart(call: JsonObject, writer: ChunkWriter): StreamEvent[] {
  const named = object(call, "function");
  return writer.toolStart(text(call, "id") ?? "", text(named, "name") ?? "", text(named, "arguments"));
}

/** Writes an increment; the last one has the finish reason. */
function writeText(data: JsonObject, writer: ChunkWriter): StreamEvent[] {
  const said = text(data, "result") ?? "";
  if (data["is_end"] !== true) return said === "" ? [] : writer.delta({ content: said });
  const finish = readFinishReason(data, writer.toolCount > 0);
  const usage = baiduUsage(object(data, "usage"));
  if (said === "") return writer.end(finish, usage);
  return [...writer.delta({ content: said }, finish), ...writer.end(undefined, usage)];
}
