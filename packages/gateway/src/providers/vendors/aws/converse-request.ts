import type { BridgeContext } from "../../../dialects/core/bridge.ts";
import type { JsonObject, JsonValue } from "../../../dialects/core/types.ts";
import { withFewMarks } from "../../../dialects/bridges/parts/content/cache-marks.ts";
import { compact, isSet, list, object, objects, text } from "../../../dialects/core/read.ts";
import { capAt, checkSameCap } from "../../../dialects/core/requested-output.ts";
import { jsonInstructions } from "../../../dialects/bridges/parts/schemas/json-instruction.ts";
import { unsupportedPart } from "../../../dialects/bridges/parts/answer/refused.ts";
import { mistralId } from "../mistral/request.ts";
import { checkChatFields, checkChatParts } from "../../core/private/chat-checks.ts";
import {
  parseCallArguments,
  chatMessages,
  imageData,
  maxTokens,
  stopList,
  topK,
  type ChatMessage,
} from "../../core/private/chat-reader.ts";
import { toolConfig } from "./converse-tools.ts";

const READ = [
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop",
  "tools",
  "functions",
  "tool_choice",
  "function_call",
  "response_format",
  "thinking",
  "guardrail_config",
  "additional_model_request_fields",
];
/** Names of the output cap among the fields of individual models. */
const MODEL_CAPS = (
  "max_tokens maxTokens max_completion_tokens max_tokens_to_sample max_gen_len max_new_tokens " +
  "inferenceConfig.maxTokens inferenceConfig.max_new_tokens textGenerationConfig.maxTokenCount"
).split(" ");
/** Reads the cap of a Converse request. A model's own field may replace the common one. */
export const converseOutput = capAt(
  "inferenceConfig.maxTokens",
  ...MODEL_CAPS.map((path) => `additionalModelRequestFields.${path}`),
);
const MISTRAL = /(?:^|\.)mistral\./;
const NOVA = /(?:^|\.)amazon\.nova/;

export function converseRequest(asked: JsonObject, context: BridgeContext): JsonObject {
  const body = withFewMarks(asked, context);
  checkChatFields(body, context, READ);
  checkChatParts(body, context, true, ["file"]);
  const messages = chatMessages(body);
  const toToolUseId = MISTRAL.test(context.upstreamModel) ? mistralId : (id: string) => id;
  const system = buildSystem(body, messages);
  checkSameCap(body, maxTokens(body), ...MODEL_CAPS.map((path) => `additional_model_request_fields.${path}`));
  const config = compact({
    maxTokens: maxTokens(body),
    temperature: body["temperature"],
    topP: body["top_p"],
    stopSequences: nonEmpty(stopList(body)),
  });
  const ranked = topK(body);
  const isNova = NOVA.test(context.upstreamModel);
  const extra = compact({
    top_k: isNova ? undefined : ranked,
    inferenceConfig: isNova && ranked !== undefined ? { topK: ranked } : undefined,
    thinking: body["thinking"],
    ...object(body, "additional_model_request_fields"),
  });
  return compact({
    messages: alternating(
      messages
        .filter((message) => message.role !== "system")
        .flatMap((message) => toTurns(message, toToolUseId, context)),
    ),
    system: nonEmpty(system),
    inferenceConfig: filled(config),
    toolConfig: toolConfig(body, messages),
    additionalModelRequestFields: filled(extra),
    outputConfig: outputConfig(body),
    guardrailConfig: object(body, "guardrail_config"),
  });
}

function nonEmpty<T extends JsonValue>(items: T[]): T[] | undefined {
  return items.length === 0 ? undefined : items;
}

function filled(from: JsonObject): JsonObject | undefined {
  return Object.keys(from).length === 0 ? undefined : from;
}

/** Builds the system text. A JSON object without a schema can only be requested in words. */
function buildSystem(body: JsonObject, messages: readonly ChatMessage[]): JsonObject[] {
  const written = messages.flatMap((message) =>
    message.role === "system" && message.text !== "" ? [{ text: message.text }, ...cachePoint(message)] : [],
  );
  const isObject = text(object(body, "response_format"), "type") === "json_object";
  return [...written, ...(isObject ? jsonInstructions(body).map((instruction) => ({ text: instruction })) : [])];
}

type IdOf = (id: string) => string;

interface Turn {
  readonly role: string;
  readonly content: JsonObject[];
}

function toTurns(message: ChatMessage, toToolUseId: IdOf, context: BridgeContext): Turn[] {
  const content =
    message.role === "tool"
      ? [toToolResult(message, toToolUseId)]
      : [...toBlocks(message, context), ...message.toolCalls.map((call) => toToolUse(call, toToolUseId))];
  return content.length === 0
    ? []
    : [{ role: message.role === "assistant" ? "assistant" : "user", content: [...content, ...cachePoint(message)] }];
}

function toToolResult(message: ChatMessage, toToolUseId: IdOf): JsonObject {
  const status = message.source["fw_is_error"] === true ? "error" : "success";
  return {
    toolResult: { toolUseId: toToolUseId(message.toolCallId ?? ""), content: [{ text: message.text }], status },
  };
}

function toToolUse(call: ChatMessage["toolCalls"][number], toToolUseId: IdOf): JsonObject {
  return { toolUse: { toolUseId: toToolUseId(call.id), name: call.name, input: parseCallArguments(call) } };
}

/** Converts a message to blocks. Text must not be empty; a plain string is one block, parts stay in order. */
function toBlocks(message: ChatMessage, context: BridgeContext): JsonObject[] {
  const parts = objects(message.source, "content");
  if (parts.length === 0) return message.text === "" ? [] : [{ text: message.text }];
  return parts.flatMap((part) => toPartBlocks(part, context));
}

function toPartBlocks(part: JsonObject, context: BridgeContext): JsonObject[] {
  const said = text(part, "text") ?? text(part, "refusal");
  if (said !== undefined) return said === "" ? [] : [{ text: said }];
  const url = text(object(part, "image_url"), "url");
  if (url !== undefined) {
    const { mediaType, data } = imageData(url);
    return [{ image: { format: mediaType.replace("image/", "").replace("jpg", "jpeg"), source: { bytes: data } } }];
  }
  const file = object(part, "file");
  const data = text(file, "file_data");
  if (data === undefined) throw unsupportedPart("messages.content.file", context);
  return [toDocument(data, text(file, "filename") ?? "document")];
}

/** Builds a document block, whose name may hold only letters, digits, blanks, hyphens and brackets. */
function toDocument(url: string, filename: string): JsonObject {
  const { mediaType, data } = imageData(url);
  const name =
    filename
      .replace(/\.[^.]*$/, "")
      .replace(/[^\w\s\-()[\]]|_/g, " ")
      .trim() || "document";
  const format = mediaType === "text/plain" ? "txt" : (mediaType.split("/")[1] ?? "pdf");
  return { document: { format, name, source: { bytes: data } } };
}

function cachePoint(message: ChatMessage): JsonObject[] {
  const isMarked =
    isSet(message.source["cache_control"]) ||
    list(message.source, "content").some(
      (part) => typeof part === "object" && part !== null && !Array.isArray(part) && isSet(part["cache_control"]),
    );
  return isMarked ? [{ cachePoint: { type: "default" } }] : [];
}

/** Joins neighbouring turns of one role, because turns must alternate. */
function alternating(turns: readonly Turn[]): JsonObject[] {
  const merged: Turn[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (last?.role === turn.role) last.content.push(...turn.content);
    else merged.push({ role: turn.role, content: [...turn.content] });
  }
  return merged.map(({ role, content }) => ({ role, content }));
}

function outputConfig(body: JsonObject): JsonObject | undefined {
  const format = object(body, "response_format");
  if (text(format, "type") !== "json_schema") return undefined;
  const definition = object(format, "json_schema");
  const jsonSchema = compact({ name: text(definition, "name"), schema: JSON.stringify(definition?.["schema"] ?? {}) });
  return { textFormat: { type: "json_schema", structure: { jsonSchema } } };
}
