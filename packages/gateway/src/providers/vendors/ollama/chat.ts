import type { Bridge, BridgeContext, StreamBridge } from "../../../dialects/core/bridge.ts";
import { statelessBridge } from "../../../dialects/core/stateless-bridge.ts";
import type { JsonObject, JsonValue } from "../../../dialects/core/types.ts";
import { checkSameCap } from "../../../dialects/core/requested-output.ts";
import { newCallId } from "../../../dialects/bridges/parts/answer/ids.ts";
import { compact, count, isSet, object, objects, text } from "../../../dialects/core/read.ts";
import { checkChatFields, checkChatParts } from "../../core/private/chat-checks.ts";
import {
  parseCallArguments,
  chatMessages,
  imageData,
  maxTokens,
  stopList,
  toolName,
  topK,
  type ChatMessage,
} from "../../core/private/chat-reader.ts";
import { chatAnswer, ChunkWriter, toolCall, type ChatUsage } from "../../core/private/chat-writer.ts";
import { needed } from "../../core/private/needed.ts";

const SAME_OPTIONS = ["temperature", "top_p", "top_k", "min_p", "seed", "presence_penalty", "frequency_penalty"];
const READ = [
  ...SAME_OPTIONS,
  "max_tokens",
  "max_completion_tokens",
  "stop",
  "options",
  "keep_alive",
  "response_format",
  "reasoning_effort",
  "think",
  "tools",
  "functions",
  "tool_choice",
  "function_call",
  "logprobs",
  "top_logprobs",
];
const THINK: Readonly<Record<string, string | boolean>> = { none: false, minimal: "low", xhigh: "max" };

/** https://docs.ollama.com/api: options, images and `think` exist only here, not in the compatible layer. */
export const chatBridge: Bridge = statelessBridge({
  client: "openai-chat",
  upstream: "private:ollama-chat",
  request(body, context) {
    checkChatFields(body, context, READ);
    checkChatParts(body, context, true);
    const effort = text(body, "reasoning_effort") ?? (body["fw_reasoning"] === "none" ? "none" : undefined);
    const options = buildOptions(body);
    return compact({
      model: context.upstreamModel,
      messages: chatMessages(body).map((message, _index, all) => toMessage(message, all)),
      stream: body["stream"] === true,
      think: body["think"] ?? (effort === undefined ? undefined : (THINK[effort] ?? effort)),
      options: Object.keys(options).length === 0 ? undefined : options,
      format: toResponseFormat(body),
      tools: buildTools(body),
      keep_alive: body["keep_alive"],
      logprobs: body["logprobs"],
      top_logprobs: body["top_logprobs"],
    });
  },
  response(body, context) {
    const message = needed(object(body, "message"));
    const calls = toToolCalls(message);
    return chatAnswer(
      {
        model: text(body, "model"),
        content: text(message, "content") ?? "",
        reasoning: text(message, "thinking"),
        toolCalls: calls,
        logprobs: toLogprobs(body),
        finish: readFinishReason(body, calls.length > 0),
        usage: ollamaUsage(body),
      },
      context,
    );
  },
  stream: createStreamBridge,
});

/** Builds the tools. The model itself chooses among them; the choice "none" is expressed by offering none. */
function buildTools(body: JsonObject): JsonValue | undefined {
  if ((body["tool_choice"] ?? body["function_call"]) === "none") return undefined;
  const legacy = objects(body, "functions").map((definition) => ({ type: "function", function: definition }));
  return legacy.length === 0 ? body["tools"] : [...objects(body, "tools"), ...legacy];
}

function buildOptions(body: JsonObject): JsonObject {
  const same = Object.fromEntries(SAME_OPTIONS.filter((name) => isSet(body[name])).map((name) => [name, body[name]]));
  const stop = stopList(body);
  checkSameCap(body, maxTokens(body), "options.num_predict");
  return compact({
    ...same,
    top_k: topK(body),
    num_predict: maxTokens(body),
    stop: stop.length === 0 ? undefined : stop,
    ...object(body, "options"),
  });
}

function toResponseFormat(body: JsonObject): JsonObject | string | undefined {
  const format = object(body, "response_format");
  if (text(format, "type") === "json_object") return "json";
  return text(format, "type") === "json_schema" ? object(object(format, "json_schema"), "schema") : undefined;
}

function toMessage(message: ChatMessage, all: readonly ChatMessage[]): JsonObject {
  const { role, toolCallId } = message;
  if (role === "tool") {
    return compact({
      role,
      content: message.text,
      tool_name: toolName(all, toolCallId) ?? message.name,
      tool_call_id: toolCallId,
    });
  }
  const calls = message.toolCalls.map((call) => ({
    id: call.id,
    function: { name: call.name, arguments: parseCallArguments(call) },
  }));
  return compact({
    role,
    content: message.text,
    images: message.images.length === 0 ? undefined : message.images.map((url) => imageData(url).data),
    tool_calls: calls.length === 0 ? undefined : calls,
    thinking: text(message.source, "reasoning_content"),
  });
}

/** Converts calls, whose arguments are objects and which sometimes have no id. */
function toToolCalls(message: JsonObject | undefined): JsonObject[] {
  return objects(message, "tool_calls").map((call) => {
    const named = object(call, "function");
    return toolCall(
      text(call, "id") ?? newCallId(),
      text(named, "name") ?? "",
      JSON.stringify(object(named, "arguments") ?? {}),
    );
  });
}

/** Converts log probabilities: the members are those of the OpenAI protocol, without the enclosing object. */
function toLogprobs(body: JsonObject): JsonObject | undefined {
  const content = objects(body, "logprobs");
  return content.length === 0 ? undefined : { content: [...content], refusal: null };
}

function readFinishReason(body: JsonObject, hasCalls: boolean): string {
  if (hasCalls) return "tool_calls";
  return text(body, "done_reason") === "length" ? "length" : "stop";
}

/**
 * Reads the usage. The vendor reports no count for a prompt that was cached as a whole; then the gateway counts both.
 */
function ollamaUsage(body: JsonObject): ChatUsage | undefined {
  const input = count(body, "prompt_eval_count");
  const output = count(body, "eval_count");
  return input === undefined || output === undefined ? undefined : { input, output };
}

function createStreamBridge(context: BridgeContext): StreamBridge {
  const writer = new ChunkWriter(context, { hasOwnRoleChunk: true });
  return {
    event({ data }) {
      if (!data || writer.isEnded) return [];
      const error = text(data, "error") ?? text(object(data, "error"), "message");
      if (error !== undefined) return writer.fail({ message: error, type: "server_error", code: "upstream_error" });
      writer.name({ model: text(data, "model") });
      const message = object(data, "message");
      const thought = text(message, "thinking") ?? "";
      const said = text(message, "content") ?? "";
      const events = [
        ...writer.start(),
        ...(thought === "" ? [] : writer.delta({ reasoning_content: thought })),
        ...(said === "" ? [] : writer.delta({ content: said }, null, toLogprobs(data))),
        ...toToolCalls(message).flatMap((call) =>
          writer.toolStart(
            text(call, "id") ?? "",
            text(object(call, "function"), "name") ?? "",
            text(object(call, "function"), "arguments"),
          ),
        ),
      ];
      if (data["done"] !== true) return events;
      return [...events, ...writer.end(readFinishReason(data, writer.toolCount > 0), ollamaUsage(data))];
    },
    end: () => [],
  };
}
