import { createHash } from "node:crypto";
import type { Bridge, BridgeContext, StreamBridge } from "../../../dialects/core/bridge.ts";
import { statelessBridge } from "../../../dialects/core/stateless-bridge.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { compact, count, object, objects, text } from "../../../dialects/core/read.ts";

import { checkChatFields, checkChatParts } from "../../core/private/chat-checks.ts";
import {
  chatFunctions,
  chatToolChoice,
  fitNumbers,
  instructedMessages,
  maxTokens,
  toolName,
  type ChatMessage,
} from "../../core/private/chat-reader.ts";
import { unsupportedPart } from "../../../dialects/bridges/parts/answer/refused.ts";
import { chatAnswer, ChunkWriter, toolCall, type ChatUsage } from "../../core/private/chat-writer.ts";
import type { RequestTransform } from "../../core/types.ts";
import { sparkVersion } from "./version.ts";

const READ = [
  "temperature",
  "top_k",
  "max_tokens",
  "max_completion_tokens",
  "tools",
  "functions",
  "tool_choice",
  "user",
  "response_format",
];
/** Codes for input, output or a session that a content filter refused. */
export const FILTERED: ReadonlySet<string> = new Set(["10013", "10014", "10019"]);

/** https://www.xfyun.cn/doc/spark/Web.html: one frame is sent, frames with increments are received. */
export const chatBridge: Bridge = statelessBridge({
  client: "openai-chat",
  upstream: "private:spark-chat",
  request(body, context) {
    checkChatFields(body, context, READ);
    checkChatParts(body, context, false);
    const choice = chatToolChoice(body)?.mode;
    if (choice === "required" || choice === "named") context.dropped("tool_choice");
    const messages = instructedMessages(body);
    const bounded = fitNumbers(body, { temperature: [0.01, 1], top_k: [1, 6] }, context);
    const functions = body["tool_choice"] === "none" ? [] : chatFunctions(body);
    const user = text(body, "user");
    return {
      header: compact({
        uid: user === undefined ? undefined : createHash("sha256").update(user).digest("hex").slice(0, 32),
      }),
      parameter: {
        chat: compact({ temperature: bounded["temperature"], top_k: bounded["top_k"], max_tokens: maxTokens(body) }),
      },
      payload: compact({
        message: { text: messages.map((message) => toMessage(message, messages)) },
        functions:
          functions.length === 0
            ? undefined
            : {
                text: functions.map(({ name, description, parameters }) => compact({ name, description, parameters })),
              },
      }),
    };
  },
  response(body, context) {
    const [piece] = pieces(body);
    const call = object(piece, "function_call");
    const calls = call
      ? [toolCall(`call_${context.requestId}`, text(call, "name") ?? "", text(call, "arguments") ?? "")]
      : [];
    return chatAnswer(
      {
        id: text(object(body, "header"), "sid"),
        content: text(piece, "content") ?? "",
        reasoning: text(piece, "reasoning_content"),
        toolCalls: calls,
        finish: calls.length > 0 ? "tool_calls" : (text(body, "finish") ?? "stop"),
        usage: sparkUsage(body),
      },
      context,
    );
  },
  stream: createStreamBridge,
});

/** Sets the model's domain and the form for its version: older versions know neither system messages nor functions. */
export const sparkParams: RequestTransform = {
  name: "domain and version",
  on: ["private:spark-chat"],
  rewords: ["parameter", "payload"],
  apply(body, spec, upstreamModel, channel) {
    const version = sparkVersion(upstreamModel, undefined, channel.other);
    const payload = object(body, "payload") ?? {};
    const lines = objects(object(payload, "message"), "text");
    const { functions, ...plain } = payload;
    if (functions !== undefined && !version.takesFunctions) throw unsupportedPart("tools", { spec });
    return {
      ...body,
      parameter: { chat: { domain: version.domain, ...object(object(body, "parameter"), "chat") } },
      payload: {
        ...plain,
        message: { text: version.takesSystem ? [...lines] : lines.flatMap(withoutSystem) },
        ...(functions === undefined ? {} : { functions }),
      },
    };
  },
};

function withoutSystem(line: JsonObject): JsonObject[] {
  return line["role"] === "system"
    ? [
        { ...line, role: "user" },
        { role: "assistant", content: "Okay" },
      ]
    : [line];
}

/** Converts a message to text only; calls and their results are stated in words. */
function toMessage(message: ChatMessage, all: readonly ChatMessage[]): JsonObject {
  if (message.role === "tool")
    return {
      role: "user",
      content: `Result of ${toolName(all, message.toolCallId) ?? message.name ?? "the function"}: ${message.text}`,
    };
  const calls = message.toolCalls.map((call) => `Calling ${call.name} with ${call.arguments}`);
  return { role: message.role, content: [...(message.text === "" ? [] : [message.text]), ...calls].join("\n") };
}

function pieces(body: JsonObject): readonly JsonObject[] {
  return objects(object(object(body, "payload"), "choices"), "text");
}

export function sparkUsage(body: JsonObject): ChatUsage | undefined {
  const usage = object(object(object(body, "payload"), "usage"), "text");
  const input = count(usage, "prompt_tokens");
  const output = count(usage, "completion_tokens");
  return input === undefined || output === undefined ? undefined : { input, output };
}

function createStreamBridge(context: BridgeContext): StreamBridge {
  const writer = new ChunkWriter(context, { hasOwnRoleChunk: false });
  let hasText = false;
  return {
    event({ data }) {
      if (!data || writer.isEnded) return [];
      const header = object(data, "header");
      const code = String(count(header, "code") ?? 0);
      writer.name({ id: text(header, "sid") });
      if (code !== "0" && hasText && FILTERED.has(code)) return writer.end("content_filter", sparkUsage(data));
      if (code !== "0") return writer.fail({ message: text(header, "message") ?? "", type: "xunfei_error", code });
      const events = pieces(data).flatMap((piece) => {
        const call = object(piece, "function_call");
        const said = text(piece, "content") ?? "";
        const thought = text(piece, "reasoning_content") ?? "";
        hasText ||= said !== "";
        return [
          ...(thought === "" ? [] : writer.delta({ reasoning_content: thought })),
          ...(said === "" ? [] : writer.delta({ content: said })),
          ...(call
            ? writer.toolStart(`call_${context.requestId}`, text(call, "name") ?? "", text(call, "arguments"))
            : []),
        ];
      });
      if (count(object(object(data, "payload"), "choices"), "status") !== 2) return events;
      return [...events, ...writer.end(writer.toolCount > 0 ? "tool_calls" : "stop", sparkUsage(data))];
    },
    end: () => [],
  };
}
