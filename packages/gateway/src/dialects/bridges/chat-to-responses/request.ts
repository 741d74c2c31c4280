import { unsupportedParameter } from "../../../lib/app-error.ts";
import { readChoiceCount } from "../../core/request-spec.ts";
import { anyText, compact, isObject, isSet, list, number, object, objects, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject, JsonValue } from "../../core/types.ts";
import { readArguments } from "../parts/tools/arguments.ts";
import { calledIn, readChatTools, type ChatFunction, type ChatTools } from "../parts/tools/chat-tools.ts";
import { noteDropped, noteForeign } from "../parts/answer/dropped-fields.ts";
import { checkFormat } from "../parts/schemas/format.ts";
import { takesEffort } from "../parts/reasoning/effort.ts";
import { INCLUDED_LOGPROBS } from "../parts/answer/logprobs.ts";
import { toMcpTool } from "../parts/tools/mcp-servers.ts";
import { noteOptions } from "../parts/tools/hosted-tools.ts";
import { readUserLocation } from "../chat-to-anthropic/hosted.ts";
import { isUnknown } from "../parts/content/text-parts.ts";
import { readPartKind, ONE_BY_ONE, refuseBias, unsupportedPart } from "../parts/answer/refused.ts";
import { withLeastEffort } from "../parts/reasoning/least-effort.ts";
import { openReasoning } from "../parts/reasoning/sealed-reasoning.ts";

/** Members that mean the same in both protocols. */
const SAME = [
  "temperature",
  "top_p",
  "metadata",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "service_tier",
  "top_logprobs",
  "parallel_tool_calls",
];
const CARRIED = new Set([
  ...SAME,
  "model",
  "messages",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "reasoning_effort",
  "reasoning",
  "response_format",
  "verbosity",
  "tools",
  "functions",
  "tool_choice",
  "function_call",
  "logprobs",
  "n",
]);

const REASONERS = /^(?:openai\/)?(?:o\d|gpt-[5-9])/;
/** The protocol refuses lower limits. */
const SMALLEST_LIMIT = 16;

/** Converts a chat request to the body of an equivalent Responses request; nothing is stored upstream. */
export function toResponses(asked: JsonObject, context: BridgeContext): JsonObject {
  const body = withLeastEffort(asked, context);
  if (readChoiceCount(body) > 1) throw unsupportedParameter("n", ONE_BY_ONE);
  if (list(body, "modalities").includes("audio") || isSet(body["audio"])) throw unsupportedParameter("modalities");
  noteDropped(body, CARRIED, context);
  noteForeign(objects(body, "messages"), context);
  refuseBias(body);
  checkFormat(body, context);
  const tools = readChatTools(body, context, { takesFreeText: true });
  return compact({
    model: context.upstreamModel,
    input: buildInput(objects(body, "messages"), context),
    tools: buildTools(tools, context),
    include: listIncludedFields(body, context),
    tool_choice: chosenHosted(body) ?? toToolChoice(tools),
    reasoning: buildReasoning(body),
    text: buildTextOptions(body),
    max_output_tokens: resolveOutputLimit(body, context),
    ...Object.fromEntries(SAME.map((key) => [key, body[key] ?? undefined])),
    store: false,
    stream: body["stream"] === true ? true : undefined,
  });
}

/** Builds the input; results of free-text tools are items of their own kind. */
function buildInput(messages: readonly JsonObject[], context: BridgeContext): JsonObject[] {
  const calls = messages.flatMap((message) => objects(message, "tool_calls"));
  const free = new Set(calls.flatMap((call) => (object(call, "custom") === undefined ? [] : [text(call, "id")])));
  return messages
    .flatMap((message) => toItems(message, context))
    .map((item) =>
      item["type"] === "function_call_output" && free.has(text(item, "call_id"))
        ? { ...item, type: "custom_tool_call_output" }
        : item,
    );
}

function resolveOutputLimit(body: JsonObject, context: BridgeContext): number | undefined {
  const limit = number(body, "max_completion_tokens") ?? number(body, "max_tokens");
  if (limit !== undefined && limit < SMALLEST_LIMIT) context.dropped("max_tokens");
  return limit === undefined ? undefined : Math.max(SMALLEST_LIMIT, limit);
}

/** Values of `include` for the findings of the vendor's own tools, which an answer leaves out otherwise. */
const INCLUDED_OF_TOOLS = [
  ["web_search", "web_search_call.action.sources"],
  ["code_execution", "code_interpreter_call.outputs"],
] as const;

function listIncludedFields(body: JsonObject, context: BridgeContext): string[] | undefined {
  const hosted = objects(body, "fw_hosted");
  const included = [
    ...(keepsReasoning(body, context) ? ["reasoning.encrypted_content"] : []),
    ...(body["logprobs"] === true ? [INCLUDED_LOGPROBS] : []),
    ...INCLUDED_OF_TOOLS.flatMap(([kind, name]) => (hosted.some((tool) => tool["kind"] === kind) ? [name] : [])),
  ];
  return included.length === 0 ? undefined : included;
}

/** True if encrypted reasoning is requested: clients that echo signed thinking get it as the signature. */
function keepsReasoning(body: JsonObject, { upstreamModel }: BridgeContext): boolean {
  return body["fw_show_thinking"] === true && REASONERS.test(upstreamModel) && takesEffort(upstreamModel);
}

function toItems(message: JsonObject, context: BridgeContext): JsonObject[] {
  switch (message["role"]) {
    case "system":
    case "developer":
      return turn("developer", inputParts(message["content"], context));
    case "tool":
    case "function":
      return [
        { type: "function_call_output", call_id: callId(message), output: toOutput(message["content"], context) },
      ];
    case "assistant":
      return [
        ...toReasoningItems(message),
        ...turn("assistant", outputParts(message, context)),
        ...toCallItems(message, context),
      ];
    case "user":
      return turn("user", inputParts(message["content"], context));
    default:
      throw unsupportedPart(`messages.role.${text(message, "role") ?? "unknown"}`, context);
  }
}

/** Returns the reasoning items of a message; reasoning is only useful next to the calls that it led to. */
function toReasoningItems(message: JsonObject): JsonObject[] {
  return objects(message, "fw_thinking").flatMap(openReasoning);
}

function callId(message: JsonObject): string {
  return text(message, "tool_call_id") ?? `call_${text(message, "name") ?? "function"}`;
}

function turn(role: string, content: JsonObject[]): JsonObject[] {
  return content.length === 0 ? [] : [{ role, content }];
}

function toOutput(content: JsonValue | undefined, context: BridgeContext): JsonValue {
  return typeof content === "string" ? content : inputParts(content, context);
}

function inputParts(content: JsonValue | undefined, context: BridgeContext): JsonObject[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "input_text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.filter(isObject).flatMap((part) => inputPart(part, context));
}

function inputPart(part: JsonObject, context: BridgeContext): JsonObject[] {
  switch (part["type"]) {
    case "text":
      return [{ type: "input_text", text: anyText(part, "text") }];
    case "image_url": {
      const image = object(part, "image_url");
      return [
        compact({
          type: "input_image",
          image_url: text(image, "url") ?? text(part, "image_url"),
          detail: text(image, "detail"),
        }),
      ];
    }
    case "file":
      return [filePart(object(part, "file"))];
    case "input_audio":
    case "video_url":
      throw unsupportedParameter(part["type"]);
    case "refusal":
      return [{ type: "input_text", text: anyText(part, "refusal") }];
    default:
      throw unsupportedPart(`messages.content.${readPartKind(part)}`, context);
  }
}

function filePart(file: JsonObject | undefined): JsonObject {
  return compact({
    type: "input_file",
    file_id: text(file, "file_id"),
    file_data: text(file, "file_data"),
    file_url: text(file, "fw_url"),
    filename: text(file, "filename"),
  });
}

function outputParts(message: JsonObject, context: BridgeContext): JsonObject[] {
  const content = message["content"];
  const parts = typeof content === "string" ? [{ text: content }] : objects(message, "content");
  const other = parts.find(isUnknown);
  if (other !== undefined) throw unsupportedPart(`messages.content.${readPartKind(other)}`, context);
  return [...parts, { refusal: anyText(message, "refusal") }].flatMap(outputPart);
}

function outputPart(part: JsonObject): JsonObject[] {
  const written = anyText(part, "text");
  const refusal = anyText(part, "refusal");
  return [
    ...(written === "" ? [] : [{ type: "output_text", text: written }]),
    ...(refusal === "" ? [] : [{ type: "refusal", refusal }]),
  ];
}

function toCallItems(message: JsonObject, context: BridgeContext): JsonObject[] {
  const legacy = object(message, "function_call");
  const calls =
    legacy === undefined ? objects(message, "tool_calls") : [...objects(message, "tool_calls"), { function: legacy }];
  return calls.map((call) => {
    const custom = object(call, "custom");
    const target = calledIn(call, context);
    const name = anyText(target, "name");
    if (custom !== undefined)
      return { type: "custom_tool_call", call_id: anyText(call, "id"), name, input: anyText(custom, "input") };
    return {
      type: "function_call",
      call_id: text(call, "id") ?? `call_${name}`,
      name,
      arguments: readArguments(target),
    };
  });
}

function buildTools({ functions, hosted }: ChatTools, context: BridgeContext): JsonObject[] | undefined {
  const tools = [...functions.map(toTool), ...hosted.map((tool) => toHostedTool(tool, context))];
  return tools.length === 0 ? undefined : tools;
}

const SEARCHED = ["allowed_domains", "blocked_domains", "user_location", "search_context_size"];

/** Returns OpenAI's tool for a kind of hosted tool. */
function toHostedTool(tool: JsonObject, context: BridgeContext): JsonObject {
  const name = `tools.${text(tool, "name") ?? "unknown"}`;
  if (tool["kind"] === "mcp") return toMcpTool(tool);
  noteOptions(tool, tool["kind"] === "web_search" ? SEARCHED : [], context);
  if (tool["kind"] === "code_execution") return { type: "code_interpreter", container: { type: "auto" } };
  if (list(tool, "blocked_domains").length > 0) throw unsupportedPart(`${name}.blocked_domains`, context);
  const allowed_domains = list(tool, "allowed_domains");
  return compact({
    type: "web_search",
    filters: allowed_domains.length === 0 ? undefined : { allowed_domains: [...allowed_domains] },
    user_location: readUserLocation(tool),
    search_context_size: tool["search_context_size"],
  });
}

function chosenHosted(body: JsonObject): JsonObject | undefined {
  const chosen = text(body, "fw_hosted_choice");
  if (chosen === undefined) return undefined;
  return { type: chosen === "code_execution" ? "code_interpreter" : chosen };
}

/** Builds a tool. This protocol makes schemas strict by default; chat leaves them as they are. */
function toTool({ name, description, parameters, strict, freeText }: ChatFunction): JsonObject {
  if (freeText !== undefined) {
    const format = Object.keys(freeText).length === 0 ? undefined : freeText;
    return compact({ type: "custom", name, description, format });
  }
  return compact({
    type: "function",
    name,
    description,
    parameters: parameters ?? { type: "object", properties: {} },
    strict,
  });
}

function toToolChoice({ choice, functions }: ChatTools): JsonValue | undefined {
  if (choice === undefined || choice.mode === "allowed") return undefined;
  if (choice.mode !== "named") return choice.mode;
  const isFree = functions.some(({ name, freeText }) => name === choice.name && freeText !== undefined);
  return { type: isFree ? "custom" : "function", name: choice.name };
}

function buildReasoning(body: JsonObject): JsonObject | undefined {
  const effort = text(body, "reasoning_effort") ?? text(object(body, "reasoning"), "effort");
  const summary = text(object(body, "reasoning"), "summary");
  return effort === undefined && summary === undefined ? undefined : compact({ effort, summary });
}

function buildTextOptions(body: JsonObject): JsonObject | undefined {
  const format = toTextFormat(object(body, "response_format"));
  const verbosity = text(body, "verbosity");
  return format === undefined && verbosity === undefined ? undefined : compact({ format, verbosity });
}

function toTextFormat(format: JsonObject | undefined): JsonObject | undefined {
  if (format === undefined) return undefined;
  return format["type"] === "json_schema"
    ? { type: "json_schema", ...object(format, "json_schema") }
    : { type: format["type"] };
}
