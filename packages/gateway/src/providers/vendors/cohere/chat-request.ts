import type { BridgeContext } from "../../../dialects/core/bridge.ts";
import type { JsonObject, JsonValue } from "../../../dialects/core/types.ts";
import { compact, isObject, isSet, list, object, objects, text } from "../../../dialects/core/read.ts";
import { eachObject } from "../../../dialects/core/json-edit.ts";
import { checkChatFields, checkChatParts } from "../../core/private/chat-checks.ts";
import {
  chatMessages,
  chatToolChoice,
  fitNumbers,
  maxTokens,
  stopList,
  topK,
  type ChatMessage,
} from "../../core/private/chat-reader.ts";

/** Members that the API takes under their own names. */
const TAKEN = [
  "seed",
  "frequency_penalty",
  "presence_penalty",
  "safety_mode",
  "citation_options",
  "documents",
  "strict_tools",
];
const READ = [
  ...TAKEN,
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop",
  "response_format",
  "tools",
  "functions",
  "tool_choice",
  "function_call",
  "logprobs",
  "reasoning_effort",
  "thinking",
];
const MAX_STOPS = 5;
const MAX_BUDGET = 32_768;
const SHARES: Readonly<Record<string, number>> = {
  minimal: 0.02,
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  xhigh: 0.9,
  max: 0.9,
};

export function cohereRequest(body: JsonObject, context: BridgeContext): JsonObject {
  checkChatFields(body, context, READ);
  checkChatParts(withoutTextFiles(body), context, true);
  const stop = stopList(body);
  if (stop.length > MAX_STOPS) context.dropped("stop");
  const documents = listDocuments(body);
  return compact({
    model: context.upstreamModel,
    messages: chatMessages(body).map(toMessage),
    max_tokens: maxTokens(body),
    temperature: fitNumbers(body, { temperature: [0, 1] }, context)["temperature"],
    p: body["top_p"],
    k: topK(body),
    stop_sequences: stop.length === 0 ? undefined : stop.slice(0, MAX_STOPS),
    ...Object.fromEntries(TAKEN.filter((name) => isSet(body[name])).map((name) => [name, body[name]])),
    documents: documents.length === 0 ? body["documents"] : documents,
    logprobs: body["logprobs"] === true ? true : undefined,
    response_format: toResponseFormat(body),
    thinking: body["thinking"] ?? toThinking(askedEffort(body)),
    ...buildTools(body),
    stream: body["stream"] === true ? true : undefined,
  });
}

function toMessage(message: ChatMessage): JsonObject {
  const { role } = message;
  if (role === "tool") return { role, tool_call_id: message.toolCallId ?? "", content: message.text };
  if (role === "assistant" && message.toolCalls.length > 0) {
    const calls = message.toolCalls.map(({ id, name, arguments: args }) => ({
      id,
      type: "function",
      function: { name, arguments: args.trim() === "" ? "{}" : args },
    }));
    return compact({ role, tool_plan: message.text === "" ? undefined : message.text, tool_calls: calls });
  }
  if (message.images.length === 0) return { role, content: message.text };
  const parts = objects(message.source, "content").filter(
    (part) => part["type"] === "text" || part["type"] === "image_url",
  );
  return { role, content: [...parts] };
}

const TEXT_FILE = /^data:text\/[\w.+-]+;base64,(.*)$/s;

function withoutTextFiles(body: JsonObject): JsonObject {
  const isTextFile = (part: JsonValue) =>
    isObject(part) && TEXT_FILE.test(text(object(part, "file"), "file_data") ?? "");
  return eachObject(body, "messages", (message) =>
    list(message, "content").some(isTextFile)
      ? { ...message, content: list(message, "content").filter((part) => !isTextFile(part)) }
      : message,
  );
}

/** Lists text files as documents that the model may cite. */
function listDocuments(body: JsonObject): JsonObject[] {
  return objects(body, "messages").flatMap((message) =>
    objects(message, "content").flatMap((part) => {
      const file = object(part, "file");
      const data = TEXT_FILE.exec(text(file, "file_data") ?? "")?.[1];
      if (data === undefined) return [];
      return [{ data: compact({ text: Buffer.from(data, "base64").toString("utf8"), title: text(file, "filename") }) }];
    }),
  );
}

function toResponseFormat(body: JsonObject): JsonObject | undefined {
  const format = object(body, "response_format");
  const type = text(format, "type");
  if (type === "json_object") return { type };
  return type === "json_schema"
    ? { type: "json_object", json_schema: object(object(format, "json_schema"), "schema") ?? {} }
    : undefined;
}

/** Returns the requested effort. Models without reasoning refuse the member itself. */
function askedEffort(body: JsonObject): string | undefined {
  const isOff = body["fw_reasoning"] === "none" && /reasoning|command-a-plus/.test(text(body, "model") ?? "");
  return text(body, "reasoning_effort") ?? (isOff ? "none" : undefined);
}

function toThinking(effort: string | undefined): JsonObject | undefined {
  if (effort === undefined) return undefined;
  const share = SHARES[effort];
  return share === undefined ? { type: "disabled" } : { type: "enabled", token_budget: Math.round(MAX_BUDGET * share) };
}

/**
 * Builds the tools. A named function becomes `REQUIRED` with only that tool offered; the automatic choice has no value.
 */
function buildTools(body: JsonObject): JsonObject {
  const choice = chatToolChoice(body);
  const legacy = objects(body, "functions").map((definition) => ({ type: "function", function: definition }));
  const all: JsonObject[] = [...objects(body, "tools").filter((tool) => tool["type"] === "function"), ...legacy];
  const tools =
    choice?.mode === "named" ? all.filter((tool) => text(object(tool, "function"), "name") === choice.name) : all;
  if (tools.length === 0) return {};
  const isRequired = choice?.mode === "required" || choice?.mode === "named";
  const word = isRequired ? "REQUIRED" : choice?.mode === "none" ? "NONE" : undefined;
  return compact({ tools: [...tools], tool_choice: word });
}
